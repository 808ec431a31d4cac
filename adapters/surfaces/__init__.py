"""What a person or an agent touches: the command line, MCP, tools, the page of a benchmark.

What they share lies here: JSON in `wire`, sentences, and text that may leave us.
"""
