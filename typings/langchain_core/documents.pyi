from typing import Any

class Document:
    id: str | None
    page_content: str
    metadata: dict[str, Any]

    def __init__(
        self, *, id: str | None = ..., page_content: str, metadata: dict[str, Any] = ...
    ) -> None: ...
