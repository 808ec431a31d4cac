"""Whether what was asked for stands in a note as it was written.

Stems, pieces and beginnings of words help to find a note; they never take the
place of a note that holds the very word.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from notewell.backends.text.folding import fold
from notewell.backends.text.passages import Passage
from notewell.backends.text.query import Want
from notewell.backends.text.terms import forms_of


class Literal:
    """The words of a query, to be looked for as they are."""

    def __init__(self, wants: Sequence[Want], spread: Mapping[str, int]) -> None:
        """Take the words with content, and the others only where there are none.

        Args:
            wants: What was asked for.
            spread: In how many passages each term stands.
        """
        whole = [want for want in wants if not want.part]
        chosen = [want for want in whole if not want.filler] or whole
        joined = [want for want in chosen if _is_compound(want)]
        self._words = _terms(want for want in chosen if not _is_compound(want))
        # The extra terms that stand in a text: its compounds, and single characters.
        self._compounds = _terms(joined)
        # A compound that stands nowhere as such may stand in a longer one, and a run
        # without spaces is indexed in pairs.
        self._phrases = [
            " ".join(want.phrase)
            for want in joined
            if want.phrase and not any(map(spread.get, want.exact))
        ]
        self._spread = spread
        self._beginnings = [phrase.partition(" ")[0] for phrase in self._phrases]

    def stands_in(self, passage: Passage) -> bool:
        """Say whether one of the words stands in a passage, its headings or its path."""
        return self.is_in(passage.text) or self.is_in(passage.beside)

    def expression(self) -> str:
        """Return an FTS5 query for texts that hold one of the words; maybe empty."""
        spread = self._spread
        words = sorted(term for term in self._words if spread.get(term))
        compounds = sorted(term for term in self._compounds if spread.get(term))
        ways = [f"body : {quoted(term)}" for term in words]
        ways += [f"{{body extra}} : {quoted(term)}" for term in compounds]
        ways += [
            f"body : {quoted(phrase)}"
            for phrase in self._phrases
            if all(spread.get(part) for part in phrase.split(" "))
        ]
        return " OR ".join(ways)

    def is_in(self, text: str) -> bool:
        """Say whether one of the words stands in a text."""
        if not self._may_be_in(text):
            return False
        forms = list(forms_of(text))
        words, compounds = self._words, self._compounds
        for form in forms:
            if not words.isdisjoint(form.body) or not compounds.isdisjoint(
                (*form.body, *form.extra)
            ):
                return True
        if not self._phrases:
            return False
        body = f" {' '.join(form.body_text for form in forms if form.body)} "
        return any(f" {phrase} " in body for phrase in self._phrases)

    def _may_be_in(self, text: str) -> bool:
        """Look for the letters alone, which is quick and rules most texts out."""
        letters = fold(text).replace("'", "")
        wanted = chain(self._words, self._compounds, self._beginnings)
        return any(term in letters for term in wanted)


def _is_compound(want: Want) -> bool:
    term = want.exact[0]
    return bool(want.phrase) or not term.isalnum() or (want.in_run and len(term) == 1)


def _terms(wants: Iterable[Want]) -> frozenset[str]:
    return frozenset(term for want in wants for term in want.exact)


def quoted(term: str) -> str:
    """Return a term as FTS5 takes it: no character of it is syntax."""
    return '"' + term.replace('"', '""') + '"'
