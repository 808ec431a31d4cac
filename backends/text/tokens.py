"""How many model tokens a text is likely to be.

No tokenizer is at hand without a model, so this is an estimate that leans to
the high side, in quarters of a token per character: ASCII 1 (four characters a
token, OpenAI's rule of thumb), other alphabets 2, Han, kana, Hangul and
full-width forms 4, pictographs 6.
"""

QUARTERS_PER_TOKEN = 4


def quarters(text: str) -> int:
    """Return the estimate for `text`, in quarters of a token.

    A character of n bytes in UTF-8 counts 2 * (n - 1), and 1 if it is ASCII: the
    scripts that cost most tokens are those with the longest encodings.

    >>> quarters("four"), quarters("ñ"), quarters("：：")
    (4, 2, 8)
    """
    length = len(text)
    if text.isascii():
        return length
    ascii_only = len(text.encode("ascii", "ignore"))
    return ascii_only + 2 * (len(text.encode("utf-8", "surrogatepass")) - length)
