"""The chapters of the reference page, made from the definitions."""

from collections.abc import Iterator

from notewell.adapters.surfaces.tools.definitions import ALL, Parameter, ToolDefinition


def reference_chapters() -> str:
    """Return a chapter in Markdown for each tool, as a model is told of it."""
    return "\n".join(line for tool in ALL for line in _chapter(tool)) + "\n"


def _chapter(tool: ToolDefinition) -> Iterator[str]:
    yield from (f"## {tool.name}", "", f"> {tool.description}", "")
    yield from ("| argument | type | |", "|---|---|---|")
    for parameter in tool.parameters:
        yield f"| `{parameter.name}` | {_kind(parameter)} | {parameter.meaning} |"
    yield ""


def _kind(parameter: Parameter) -> str:
    """Return what a parameter accepts, in words."""
    words: list[str] = [parameter.kind]
    if parameter.choices:
        words = [" or ".join(f"`{choice}`" for choice in parameter.choices)]
    elif parameter.kind == "string" and parameter.least:
        words.append("not empty")
    elif parameter.most is not None:
        words.append(f"from {parameter.least:,} to {parameter.most:,}")
    elif parameter.least is not None:
        words.append(f"at least {parameter.least:,}")
    return ", ".join([*words, "required"] if parameter.required else words)
