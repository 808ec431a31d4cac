"""A backend and an embedding provider from another package than notewell."""
