"""A step down that was taken, as people and models read it."""

from notewell.types import Fallback


def step_down(step: Fallback) -> str:
    """Say what served instead of what, and why.

    >>> step_down(Fallback(kind="embedding", from_="ollama", to="none",
    ...     reason="network", message="ollama: no connection; start it"))
    'words alone instead of ollama: no connection; start it'
    """
    instead = "words alone" if step.to == "none" else step.to
    why = step.message.removeprefix(f"{step.from_}: ")  # it begins as errors do
    return f"{instead} instead of {step.from_}: {why}"
