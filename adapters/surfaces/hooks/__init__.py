"""Hooks: what other agents' programs run at moments of a session, and what they are told.

`programs` says which entries a program needs, `settings_file` puts them into its settings
and takes them out again, and `answers` is what runs when such a moment comes.
"""
