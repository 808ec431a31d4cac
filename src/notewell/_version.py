"""The version of notewell, in one place: the build and `--version` read it here."""

__version__ = "0.1.0"
