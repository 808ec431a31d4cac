"""What engines know of text: cutting notes, reading questions, weighing passages.

Nothing here knows an index. An engine finds candidates in its own way; which of them
answer, in what order, and what is shown of them, is worked out here for all.
"""
