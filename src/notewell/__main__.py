"""`python -m notewell`: the command line."""

from notewell.adapters.surfaces.cli import main

raise SystemExit(main())
