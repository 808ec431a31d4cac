"""Hearing of changes on disk: which folders to watch, and watching them."""

from notewell.watching.places import Places, places_of
from notewell.watching.watcher import Watcher

__all__ = ["Places", "Watcher", "places_of"]
