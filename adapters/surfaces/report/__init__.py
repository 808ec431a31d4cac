"""The page that shows what a benchmark found: one HTML file that needs nothing else."""

from notewell.adapters.surfaces.report.page import page

__all__ = ["page"]
