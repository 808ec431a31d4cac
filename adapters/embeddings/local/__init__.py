"""Providers that run on this machine, and the models that they keep on this disk."""
