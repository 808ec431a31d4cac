"""Transcripts in the index of the notes: what differs, indexing, seeing and citing.

Their passages are cut from the cleaned text, whose lines are counted on their own;
beside each passage stands the line of the JSONL behind each of its lines.
"""
