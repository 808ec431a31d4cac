"""The two legs of a search: what they find, weighed and joined."""

import json
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

from msgspec import structs

from notewell.backends.base import Query, Site
from notewell.backends.builtin.fusion import by_vectors, fused
from notewell.backends.builtin.lexical import candidates, read_passages, spread_of
from notewell.backends.builtin.schema import Generation
from notewell.backends.builtin.store import Store
from notewell.backends.builtin.transcripts.visible import Visible
from notewell.backends.builtin.vectors.outcome import QueryVector
from notewell.backends.text.passages import COLUMNS, Passage, ScoredPassage
from notewell.backends.text.query import ParsedQuery, QueryTerm
from notewell.backends.text.scoring import ExactMatch, Scorer
from notewell.types import Fallback, Mode

if TYPE_CHECKING:
    from notewell.backends.builtin.vectors.nearest import Neighbour, VectorSearch


_UNREACHABLE: Final = 2.0
"""More than any cosine."""


class Legs:
    """One question to one generation of the index.

    Attributes:
        spread: In how many passages each term of the question stands.
        scorer: Weighs passages by words.
        vectors: Compares passages by meaning; None when words alone are searched.
        passages: How many there are.
        lacking: How many of their texts wait for a vector.
        exhausted: The last candidates were all that there are.
    """

    def __init__(
        self,
        site: Site,
        store: Store,
        tables: Generation,
        asked: ParsedQuery,
        query: Query,
        meaning: QueryVector,
    ) -> None:
        wants = asked.terms
        hybrid = site.agent.search.query.hybrid
        # A model reads but the beginning of a question of thousands of words.
        if asked.cut:
            hybrid = structs.replace(hybrid, vector_weight=0.0)
        self._hybrid = hybrid
        self._store = store
        self._tables = tables
        self._wants = wants
        self._text = query.text
        self._visible = Visible(store, tables, query)
        self.spread = spread_of(store, tables, wants)
        self.passages: int = store.get("passages") or 0
        self.scorer = Scorer(
            wants,
            self.spread,
            passages=self.passages,
            mean_length=store.get("mean_length") or 1,
        )
        self.lacking = 0
        self.vectors = self._vectors(meaning)
        self.exhausted = False
        self._scored: dict[int, ScoredPassage] = {}
        self._nearness: dict[int, Neighbour] = {}

    @property
    def mode(self) -> Mode:
        """How the answer is found."""
        if self.vectors is None:
            return "keyword"
        return "hybrid" if self._hybrid.enabled else "vector"

    @property
    def fallbacks(self) -> tuple[Fallback, ...]:
        """Why vectors were not compared as they were to be, if they were not."""
        return self.vectors.fallbacks if self.vectors else ()

    def candidates(self, literal: ExactMatch, pool: int) -> list[ScoredPassage]:
        """Return about `pool` passages of each leg, weighed and joined."""
        found = candidates(
            self._store,
            self._tables,
            self._wants,
            self.spread,
            literal,
            visible=self._visible,
            limit=pool,
        )
        near = self._near(pool)
        self.exhausted = max(len(found), len(near)) < pool
        for one in (*found, *near):
            if one.id not in self._scored and self._visible(one.path):
                self._scored[one.id] = self.scorer.score(one)
        if self.vectors is None:
            return list(self._scored.values())
        new = [key for key in self._scored if key not in self._nearness]
        self._nearness.update(self.vectors.cosines(new))
        joined = [self._compared(one) for one in self._scored.values()]
        if self._hybrid.enabled:
            background = self.vectors.background
            return fused(joined, background, self._hybrid, gate=self._gate)
        return by_vectors(joined)

    @cached_property
    def floor(self) -> float | None:
        """The cosine from which a passage resembles the question; None: not known.

        Nothing resembles a name made of digits: it stands in a note, or it does not.
        """
        if self.vectors is None:
            return None
        if not any(map(_has_meaning, self._wants)):
            return _UNREACHABLE
        calibration = self.vectors.calibration
        floor = calibration.floor(
            self._script, self.vectors.background, words=self._is_in_words()
        )
        nearest = max((one.cosine for one in self._nearness.values()), default=0.0)
        halfway = (calibration.unrelated + nearest) / 2
        return None if floor is None else max(floor, halfway)

    def _is_in_words(self) -> bool:
        if self._script != "latin":
            return True
        from notewell.adapters.embeddings.static import spelled_like_words

        return spelled_like_words(
            want.exact[0] for want in self._wants if _has_meaning(want)
        )

    @property
    def _gate(self) -> float:
        return self.vectors.calibration.gate(self._script) if self.vectors else 0.0

    @cached_property
    def _script(self) -> str:
        from notewell.backends.builtin.vectors.calibration import script_of

        return script_of(self._text)

    def _vectors(self, meaning: QueryVector) -> "VectorSearch | None":
        if meaning.vector is None or meaning.identity is None or meaning.ways is None:
            return None
        from notewell.backends.builtin.vectors.sets import answering_set, missing_now

        kept = answering_set(self._store, self._tables, meaning.identity, meaning.cut)
        if kept is None:
            return None  # it was there a moment ago; somebody has begun anew
        self.lacking = missing_now(self._store, self._tables, kept)
        return meaning.ways.search(self._store, self._tables, kept, meaning.vector)

    def _compared(self, scored: ScoredPassage) -> ScoredPassage:
        """Add what its vectors say: how near it is, and where if no word says it."""
        near = self._nearness.get(scored.passage.id)
        if near is None or self.vectors is None:
            return scored
        if scored.text > 0:
            return replace(scored, vector=near.cosine)
        window = self.vectors.window(scored.passage.text, near.window)
        return replace(
            scored,
            vector=near.cosine,
            window=window.text,
            match_line=scored.passage.start_line + window.middle_line,
        )

    def _near(self, pool: int) -> list[Passage]:
        if self.vectors is None:
            return []
        near = self.vectors.nearest(pool, self._visible)
        self._nearness.update({one.chunk: one for one in near})
        return read_passages(
            self._store,
            f"select {COLUMNS} from {self._tables.chunks} as c"
            f" join {self._tables.files} as f on f.id = c.file_id"
            " where c.id in (select value from json_each(?))",
            json.dumps([one.chunk for one in near]),
        )


def _has_meaning(want: QueryTerm) -> bool:
    """Say whether a model can know what a thing is; it cannot know ids and hashes."""
    words = not want.stop_word and not want.part
    return words and not any(map(str.isdigit, want.exact[0]))
