"""Memory as tools for a model: what they are called, what they take, what they give.

`definitions` is the one place that describes them. The MCP server lists the same
tools, and `MemoryTools` gives them to any loop that calls a model's API itself.
"""

from notewell.adapters.surfaces.tools.calls import MemoryTools, ToolResult
from notewell.adapters.surfaces.tools.definitions import Style, ToolDefinition

__all__ = ["MemoryTools", "Style", "ToolDefinition", "ToolResult"]
