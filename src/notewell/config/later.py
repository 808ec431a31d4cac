"""What of OpenClaw's settings notewell does not use."""

from notewell.config.settings import AgentSettings, Settings


def unused_settings(settings: Settings, agent: AgentSettings) -> tuple[str, ...]:
    """Return a sentence for each of OpenClaw's keys that notewell has no use for.

    They concern whoever looks after the file, so answers go without them.
    """
    shared = ("memory.", "agents.defaults.", f"{agent.at}.")
    return tuple(
        f"{key} is a setting of OpenClaw that notewell does not use."
        for key in settings.unused
        if key.startswith(shared)
    )
