"""Engines that answer searches, behind one Protocol (see `base`)."""
