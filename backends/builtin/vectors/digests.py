"""The key by which the vector of a text is found again."""


def digest(text: str) -> bytes:
    """Return the key of a text's vector: 16 bytes.

    Neither the note nor its headings count: the same text moves without being embedded
    again, and finds no less without them (`docs/ranking.md`).
    """
    from hashlib import blake2b  # with OpenSSL, which a search does not need

    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
