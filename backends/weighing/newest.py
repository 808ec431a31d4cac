"""Answering a question without a word: what a filter lets pass, the newest first."""

from collections.abc import Sequence
from typing import Final

from notewell.backends.base import Findings, Query
from notewell.backends.text.filtering import PhraseTest
from notewell.backends.text.listing import (
    group_copies,
    listed_hit,
    newest_first,
    score_newest,
)
from notewell.backends.text.passages import ScoredPassage
from notewell.backends.text.redundancy import MOST_COPIES, fold_spaces
from notewell.backends.weighing.answer import empty_reason
from notewell.backends.weighing.index import FilteredIndex
from notewell.backends.weighing.verify import Verifier
from notewell.types import Hit

_MORE: Final = 4


def list_newest(
    index: FilteredIndex, query: Query, verifier: Verifier, outdated: str | None = None
) -> Findings:
    """Answer with the newest passages that the filter of a question lets pass.

    Args:
        index: Where they are.
        query: The question.
        verifier: Holds the answer against the files.
        outdated: Why the index has to be built anew, if it has to.
    """
    hits = _hits(index, query, verifier)
    return Findings(
        hits=hits,
        mode="keyword",
        reason=None if hits else empty_reason(index.passages),
        warnings=(
            *((outdated,) if outdated else ()),
            *(() if hits or not index.passages else index.warnings()),
        ),
    )


def _hits(index: FilteredIndex, query: Query, verifier: Verifier) -> list[Hit]:
    """Return the hits, from as many passages as it takes."""
    wanted = query.limit * _MORE
    while True:
        taken = index.newest(wanted)
        found = newest_first(one for one in taken if index.visible(one.path))
        hits: list[Hit] = []
        for group in group_copies(score_newest(found, index.phrases)):
            here = _as_they_are(group, index.phrases, verifier)
            if here:
                cited = [verifier.cited(one) for one in here]
                hits.append(listed_hit(here, cited, query.snippet_chars))
            if len(hits) == query.limit:
                break
        if len(hits) == query.limit or len(taken) < wanted:
            return hits
        wanted *= _MORE


def _as_they_are(
    group: Sequence[ScoredPassage], phrases: PhraseTest, verifier: Verifier
) -> list[ScoredPassage]:
    """Return those of some copies that still stand in their files, and still pass."""
    found: list[ScoredPassage] = []
    for one in group:
        here = verifier.verify(one)
        if here is None or not phrases(here.passage.text):
            continue
        text = fold_spaces(here.passage.text)
        if not found or text == fold_spaces(found[0].passage.text):
            found.append(here)
        if len(found) > MOST_COPIES:
            break
    return found
