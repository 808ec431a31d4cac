"""`python -m notewell`: the command line."""

from importlib import import_module

_signals = import_module("_signal")  # `signal` itself takes 10 ms to load
if _signals.getsignal(_signals.SIGINT) is _signals.default_int_handler:
    # Until `main` has an answer to Ctrl-C it ends us, without a word about our modules.
    _signals.signal(_signals.SIGINT, _signals.SIG_DFL)


def run_command() -> int:
    """Run the command of this process: where a server runs it, nothing else is loaded."""
    import os
    import sys

    from notewell.adapters.surfaces.warm import served_elsewhere

    try:
        code = served_elsewhere(sys.argv[1:])
    except OSError as problem:
        from notewell.adapters.surfaces.cli import lost_answer

        return lost_answer(problem, sys.argv[1:])
    if code is not None:
        os._exit(code)
    from notewell.adapters.surfaces.cli import run

    return run()


if __name__ == "__main__":
    raise SystemExit(run_command())
