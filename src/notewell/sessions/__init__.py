"""Transcripts of conversations: finding them, reading them, writing them as Markdown.

Everything here only reads what is OpenClaw's.
"""

from notewell.sessions.export import (
    ExportReport,
    export_name,
    export_text,
    export_transcripts,
    retained_transcripts,
)
from notewell.sessions.files import (
    SessionEntry,
    Transcript,
    Transcripts,
    list_transcripts,
    read_store,
    sessions_folder,
)
from notewell.sessions.passages import (
    Growth,
    TranscriptText,
    has_news,
    is_worth_indexing,
    text_parts,
    transcript_text,
)
from notewell.sessions.reading import (
    START,
    Position,
    Transcription,
    TranscriptMessage,
    read_transcript,
    still_holds,
)

__all__ = [
    "START",
    "ExportReport",
    "Growth",
    "Position",
    "SessionEntry",
    "Transcript",
    "TranscriptMessage",
    "TranscriptText",
    "Transcription",
    "Transcripts",
    "export_name",
    "export_text",
    "export_transcripts",
    "has_news",
    "is_worth_indexing",
    "list_transcripts",
    "read_store",
    "read_transcript",
    "retained_transcripts",
    "sessions_folder",
    "still_holds",
    "text_parts",
    "transcript_text",
]
