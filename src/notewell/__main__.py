"""`python -m notewell`: the command line."""

from importlib import import_module

_signals = import_module("_signal")  # `signal` itself takes 10 ms to load
if _signals.getsignal(_signals.SIGINT) is _signals.default_int_handler:
    # Until `main` has an answer to Ctrl-C it ends us, without a word about our modules.
    _signals.signal(_signals.SIGINT, _signals.SIG_DFL)

from notewell.adapters.surfaces.cli import run as main

if __name__ == "__main__":
    raise SystemExit(main())
