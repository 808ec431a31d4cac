"""Providers that are asked over HTTP: one module each, and what they share.

Only `provider`, `dialect` and `address` are loaded to describe one; `embedder` and `http`,
which load an HTTP client and numpy, when it is asked.
"""
