"""From passages that may answer to an answer: weighing, choosing, holding against the files.

The second stage of a search. An engine with an index of passages gives what `index` asks for.
"""
