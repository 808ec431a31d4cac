"""What a person or an agent touches: the command line, and later others."""
