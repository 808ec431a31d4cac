"""One module per command of `notewell`, named like the command."""
