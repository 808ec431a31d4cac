"""Transcripts of conversations: finding them, reading them, writing them as Markdown.

Everything here only reads what is OpenClaw's.
"""

from notewell.sessions.export import (
    ExportReport,
    export_name,
    export_transcripts,
    exported,
    retained,
)
from notewell.sessions.files import Transcript, Transcripts, list_transcripts
from notewell.sessions.flattening import Flat, flattened, parts_of
from notewell.sessions.growth import Growth, has_news, is_worth_indexing
from notewell.sessions.reading import (
    START,
    Message,
    Position,
    Transcription,
    read_transcript,
    still_holds,
)
from notewell.sessions.store import SessionEntry, read_store, sessions_folder

__all__ = [
    "START",
    "ExportReport",
    "Flat",
    "Growth",
    "Message",
    "Position",
    "SessionEntry",
    "Transcript",
    "Transcription",
    "Transcripts",
    "export_name",
    "export_transcripts",
    "exported",
    "flattened",
    "has_news",
    "is_worth_indexing",
    "list_transcripts",
    "parts_of",
    "read_store",
    "read_transcript",
    "retained",
    "sessions_folder",
    "still_holds",
]
