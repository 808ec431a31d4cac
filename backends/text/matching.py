"""Finding what a query wants in the lines of a passage, quickly.

Most words of a passage are of no interest to a query. Which ones are is worked out
once per word and query, so that a passage costs little more than splitting it.
"""

from collections.abc import Iterator, Sequence
from itertools import chain

from notewell.backends.text.folding import fold
from notewell.backends.text.query import Want
from notewell.backends.text.terms import forms_of, forms_of_word


class Line:
    """A line that holds something of what was asked for.

    Attributes:
        number: Its place in the passage, from 0.
        hits: Terms of the query in it, each as often as it stands there.
    """

    __slots__ = ("_body", "_text", "hits", "number")

    def __init__(self, number: int, text: str, hits: list[str]) -> None:
        self.number = number
        self.hits = hits
        self._text = text
        self._body: str | None = None

    def body(self) -> str:
        """Return its body terms in order, each between spaces."""
        if self._body is None:
            self._body = (
                " " + " ".join(form.body_text for form in forms_of(self._text)) + " "
            )
        return self._body


class Matcher:
    """Knows the terms of one query, and which words of the notes hold them."""

    def __init__(self, wants: Sequence[Want]) -> None:
        self._hits_of = _HitsOf(wants)

    def lines(self, text: str) -> Iterator[Line]:
        """Yield the lines of `text` that hold something."""
        hits_of = self._hits_of.__getitem__
        for number, line in enumerate(text.split("\n")):
            hits = list(chain.from_iterable(map(hits_of, line.split())))
            if hits:
                yield Line(number, line, hits)


class _HitsOf(dict[str, tuple[str, ...]]):
    """What of each word of the notes the query asks for; mostly nothing."""

    def __init__(self, wants: Sequence[Want]) -> None:
        super().__init__()
        self._terms = {term for want in wants for term in want.terms()}
        self._prefixes = [want.exact[0] for want in wants if want.prefix]
        self._only_runs = all(want.in_run for want in wants)

    def __missing__(self, word: str) -> tuple[str, ...]:
        found = self[word] = self._in_run(word) if self._only_runs else self._in(word)
        return found

    def _in(self, word: str) -> tuple[str, ...]:
        forms = forms_of_word(word)
        terms, body, extra = self._terms, forms.body, forms.extra
        plain = terms.isdisjoint(body) and terms.isdisjoint(extra)
        if plain and not self._prefixes:
            return ()
        heads = [
            head
            for head in self._prefixes
            for term in chain(body, extra)
            if term.startswith(head) and term not in terms
        ]
        return (*(term for term in chain(body, extra) if term in terms), *heads)

    def _in_run(self, word: str) -> tuple[str, ...]:
        """Count pieces of runs where they stand, which is quicker than cutting it up."""
        if word.isascii():
            return ()
        text = fold(word)
        return tuple(term for term in self._terms for _ in range(text.count(term)))
