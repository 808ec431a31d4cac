"""Keyword search: QMD finds the notes, and their passages are scored here.

QMD joins the words of a search by AND, deletes most signs inside them, takes a run of a
script without spaces for a phrase, and ranks whole notes by a score that depends on what
else is in the index. So a query is put to it as several searches, the query itself first
and then its rarest words; how rare they are its own full-text index tells, which is only
read. Which lines answer is worked out from the notes as they are now, by the scores that
every answer of notewell has, and QMD's order of the notes has its share in ours.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import combinations, islice, pairwise, zip_longest
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Final, NamedTuple, Self

import apsw
from msgspec import structs

from notewell.backends.base import Query, Site, in_order
from notewell.backends.loops import off_the_loop
from notewell.backends.qmd.answer import QmdHit
from notewell.backends.qmd.client import COMPLETE, MOST_SEARCHES, Deadline, Searcher
from notewell.backends.qmd.paths import NotePassages, NotePaths
from notewell.backends.qmd.transcripts import TranscriptPassages, cited_lines
from notewell.backends.text.analysis import is_unspaced, split_words
from notewell.backends.text.folding import fold
from notewell.backends.text.passages import Passage, ScoredPassage, passage_frequencies
from notewell.backends.text.query import QueryTerm
from notewell.backends.text.ranking import lifted_score, rank
from notewell.backends.text.redundancy import join_equal_hits
from notewell.backends.text.scoring import ExactMatch, Scorer
from notewell.backends.text.snippets import hit_of
from notewell.types import Hit, citation_of

if TYPE_CHECKING:  # most questions have none
    from notewell.backends.qmd.filtering import ChosenNotes

_READ: Final = 100
"""Documents that are read, unless more hits are wanted."""

_OWN_RANK: Final = 0.1
"""The share of QMD's order in ours. `docs/qmd.md` has the measurements."""

_RANK_DAMPING: Final = 10

_LONG_LIST: Final = 1_000
"""Documents that are asked for when the usual ones do not hold the very word."""

_RAREST: Final = 5

_PAIRS: Final = 4

_NEIGHBOURS: Final = 2
"""How many of each are asked for; what is left over goes to the next rarest words."""

_FEW: Final = 500
"""Documents beyond which a pair is not worth counting."""

_MOST_WORDS: Final = 32

_SIGNS: Final = re.compile(r"[^\w'-]+|(?<!\w)[-']+|[-']+(?!\w)")

_PATIENCE_MS: Final = 200

_PARTS: Final = re.compile(r'"([^"]*)"|(\S+)')


class SearchPlan(NamedTuple):
    """The searches that a query is put to QMD in.

    Attributes:
        searches: What QMD is asked, the strictest first, at most MOST_SEARCHES.
        frequencies: In how many documents each term stands, as far as that is known.
    """

    searches: list[str]
    frequencies: dict[str, int]


class DocumentFrequencies:
    """Document frequencies from QMD's own full-text index, each looked up once.

    Open while a query is being planned."""

    def __init__(self, database: Path, *, by_character: bool) -> None:
        """Take QMD's file.

        Args:
            by_character: Runs without spaces are kept character by character.
        """
        self._database = database
        self._by_character = by_character
        self._connection: apsw.Connection | None = None
        self._known: dict[tuple[str, int], int] = {}

    def __enter__(self) -> Self:
        try:
            self._connection = apsw.Connection(
                str(self._database), flags=apsw.SQLITE_OPEN_READONLY
            )
            self._connection.set_busy_timeout(_PATIENCE_MS)
            self.of("a")
        except apsw.Error:
            self.__exit__(None, None, None)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    @property
    def is_open(self) -> bool:
        """Whether the index could be opened."""
        return self._connection is not None

    def of(self, search: str, most: int = -1) -> int:
        """Return how many documents a search finds, counting no further than `most`."""
        if self._connection is None:
            return 0
        known = self._known.get((search, most))
        if known is None:
            found = self._connection.execute(
                "select count(*) from (select 1 from documents_fts"
                " where documents_fts match ? limit ?)",
                (self._expression(search), most),
            ).get
            known = self._known[search, most] = int(found or 0)
        return known

    def _expression(self, search: str) -> str:
        """Return a search in FTS5's syntax, as QMD writes it: prefixes and phrases."""
        return " AND ".join(
            self._term(phrase or word, is_word=bool(word))
            for phrase, word in _PARTS.findall(search)
        )

    def _term(self, text: str, *, is_word: bool) -> str:
        if self._by_character and not text.isascii():
            text, found = _by_character().subn(r" \g<0> ", text)
            is_word = is_word and not found
        is_word = is_word and "-" not in text
        return f'"{" ".join(text.split())}"{"*" if is_word else ""}'


def plan_searches(
    text: str, query_terms: Sequence[QueryTerm], counts: DocumentFrequencies
) -> SearchPlan:
    """Choose the searches that find what a question asks for.

    The whole of it; then what is rare in it, alone, by pairs, and beside each other as
    it stands there: a search gives a handful of documents, so the word that a third of
    the notes have would give any of them.
    """
    written = plain_search(text)
    if not written:
        return SearchPlan([], {})
    own = {fold(word): word for word in written.split()}
    frequencies: dict[str, int] = {}
    whole: list[str] = []
    pieces: list[str] = []
    content = [term for term in query_terms if not term.stop_word]
    for query_term in content or query_terms:
        for term in query_term.exact:
            search = _search_for(term, own)
            if search:
                frequencies[term] = counts.of(search)
                into = pieces if query_term.part and not query_term.in_run else whole
                into += [search] if frequencies[term] or not counts.is_open else []
    rare = sorted(dict.fromkeys(whole), key=_rarity(counts))
    searches = [written, " ".join(rare), *_in_turn(rare, whole, counts)]
    if counts.is_open:
        searches = [one for one in searches if one and counts.of(one, _FEW)]
    unique = dict.fromkeys([*searches, *sorted(pieces, key=_rarity(counts))])
    return SearchPlan(
        [one for one in unique if one][:MOST_SEARCHES] or [written], frequencies
    )


def _search_for(term: str, own: Mapping[str, str]) -> str:
    """Return the search for a term: a word as it was written, or a phrase."""
    words = [own.get(word, word) for word in plain_search(term).split()]
    return " ".join(words) if len(words) < 2 else f'"{" ".join(words)}"'


def plain_search(text: str) -> str:
    """Return a query as one search: every word of it, none of its syntax.

    Letters stay as they are: QMD folds é to e, as we do, but ø only to itself.

    >>> plain_search('-v "multi-agent" https://api.example.com/v2')
    'v multi-agent https api example com v2'
    """
    words = _SIGNS.sub(" ", " ".join(split_words(text, accents=True)))
    return " ".join(islice((word for word in words.split()), _MOST_WORDS))


def _rarity(counts: DocumentFrequencies) -> Callable[[str], int]:
    """Return a sort key, the rarest first; without counts, the longest."""
    return counts.of if counts.is_open else lambda search: -len(search)


def _in_turn(
    rare: Sequence[str], whole: Sequence[str], counts: DocumentFrequencies
) -> Iterator[str]:
    """Yield single searches, pairs of rare ones and neighbours in turn."""
    pairs = [f"{a} {b}" for a, b in combinations(rare[:_RAREST], 2)]
    words = [one for one in whole if '"' not in one and not is_unspaced(one)]
    beside = [f'"{a} {b}"' for a, b in pairwise(words)]
    if counts.is_open:
        pairs, beside = (
            sorted((one for one in some if counts.of(one, _FEW)), key=_few(counts))
            for some in (pairs, beside)
        )
    ways = (rare[:_RAREST], pairs[:_PAIRS], beside[:_NEIGHBOURS])
    for some in zip_longest(*ways):
        yield from (one for one in some if one)
    yield from rare[_RAREST:]


def _few(counts: DocumentFrequencies) -> Callable[[str], int]:
    return lambda search: counts.of(search, _FEW)


@cache
def _by_character() -> re.Pattern[str]:
    """Return Han, kana and Hangul, each character of which is a word to QMD since 2.5.

    It takes long to compile, and a query in ASCII has none of them.
    """
    return re.compile(
        "[\u2e80-\u2fd5\u3005-\u3007\u3021-\u3029\u3038-\u303b\u3041-\u3096\u309d-\u309f"
        "\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
        "\u1100-\u11ff\u3131-\u318e\ua960-\ua97c\uac00-\ud7fb\uff66-\uff9d"
        "\U00020000-\U0003ffff]"
    )


def matches_substrings(text: str) -> bool:
    """Whether QMD finds any substring of such a run, and not its prefixes alone.

    >>> matches_substrings("数据库"), matches_substrings("ไทย")
    (True, False)
    """
    return all(map(_by_character().match, text))


def unspaced_runs(text: str) -> list[str]:
    """Return the runs of a text whose script has no spaces between words."""
    return [token for token in split_words(text) if is_unspaced(token)]


def has_signs(text: str) -> bool:
    """Say whether a word of it is more than letters: `foo/bar`, `C++`, `v2.1`."""
    return any(not token.isalnum() for token in split_words(text))


class KeywordHits(NamedTuple):
    """The hits of a keyword search.

    Attributes:
        hits: Best first.
        literal: One of them holds a word of the query as it is written.
        stale: A note is not as QMD indexed it.
    """

    hits: tuple[Hit, ...]
    literal: bool
    stale: bool


class KeywordSearch:
    """Answers one query by words.

    Attributes:
        searcher: Searches the index.
        collections: The names of those that are searched.
        chosen: What the filter of the query lets pass; None: it has none.
    """

    def __init__(
        self,
        site: Site,
        query: Query,
        query_terms: Sequence[QueryTerm],
        *,
        searcher: Searcher,
        collections: Sequence[str],
        names: NotePaths,
        notes: NotePassages,
        transcripts: TranscriptPassages,
        counts: DocumentFrequencies,
        documents: int,
        chosen: "ChosenNotes | None" = None,
    ) -> None:
        """Prepare for an index of so many documents."""
        self.chosen = chosen
        self._site = site
        self._query = query
        self._query_terms = query_terms
        self.searcher = searcher
        self.collections = collections
        self._names = names
        self._notes = notes
        self._transcripts = transcripts
        self._counts = counts
        self._documents = documents
        self._frequencies: Mapping[str, int] = {}
        self._snippet = query.snippet_chars
        self._passages: dict[tuple[str, int, int, str], Passage] = {}
        self._places: dict[tuple[str, str], int] = {}
        self._rank: dict[str, int] = {}
        self._stale = False

    @property
    def text(self) -> str:
        """The text of the query."""
        return self._query.text

    @property
    def limit(self) -> int:
        """The most hits that are wanted."""
        return self._query.limit

    def passages_of(self, documents: Sequence[QmdHit]) -> list[Hit]:
        """Return the best passage of each document, in their order and by their score.

        Days that were asked for are lifted, which may change the order.

        QMD says by rank how good a document is: 1 for the first, 1/2, 1/3 and so on.
        """
        found: list[tuple[str, Hit]] = []
        for document in documents:
            able = self._chosen(self._passages_of(document))
            if able:
                scorer = self._scorer(
                    able, passage_frequencies(able, self._query_terms)
                )
                best = max(map(scorer.score, able), key=lambda one: one.score)
                score = document.score
                if score >= (self._query.min_score or 0.0) or best.exact:
                    text_score = best.text if best.exact else None
                    hit = _hit(best, scorer, self._snippet)
                    score = lifted_score(
                        score, hit.path, hit.heading, self._query.dates
                    )
                    hit = replace(hit, score=score, text_score=text_score)
                    found.append((best.passage.text, hit))
        hits = join_equal_hits(found)
        return in_order(hits) if self._query.dates else hits

    async def answer(self, deadline: Deadline) -> KeywordHits:
        """Search, and search on while the best hits lack an exact match.

        Raises:
            BackendError: QMD failed.
        """
        searches = await off_the_loop(self._plan_searches)
        if not searches:
            return KeywordHits(hits=(), literal=False, stale=False)
        found = await self.searcher.typed(
            [("lex", one) for one in searches], self.collections, deadline
        )
        hits = await off_the_loop(self._score_all, found[: self._most_read])
        cut = len(found) >= COMPLETE
        if cut and not hits.literal:
            hits = await off_the_loop(self._score_all, found)
        few = not hits.literal or self._query.limit > COMPLETE
        if cut and (few or self.chosen):
            more = await self.searcher.listed(
                searches[0], self.collections, self._long_list(), deadline
            )
            hits = await off_the_loop(self._score_all, more)
        if cut and self.chosen and len(hits.hits) < self.limit:
            # A list of QMD's ends somewhere, and its first ones may all have been left out.
            read = self.chosen.passages
            self._keep(await off_the_loop(read, self._query_terms, deadline))
            hits = await off_the_loop(self._score_all, ())
        return hits

    def _plan_searches(self) -> Sequence[str]:
        """Plan the searches, and keep the document frequencies for scoring."""
        with self._counts as counts:
            plan = plan_searches(self._query.text, self._query_terms, counts)
        self._frequencies = plan.frequencies
        return plan.searches

    @property
    def _most_read(self) -> int:
        return max(_READ, self._query.limit)

    def _long_list(self) -> int:
        return max(_LONG_LIST, self._query.limit)

    def _add(self, documents: Sequence[QmdHit]) -> None:
        for document in documents:
            name = (document.collection, document.path)
            if name in self._places:
                continue
            place = self._places[name] = len(self._places)
            passages = self._passages_of(document)
            for passage in passages:
                self._rank.setdefault(passage.path, place)
            self._keep(passages)

    def _passages_of(self, document: QmdHit) -> Sequence[Passage]:
        """Return the passages of a document that may be seen."""
        if self._transcripts.are_in(document):
            passages, same = self._transcripts.passages(document)
        else:
            passages, same = self._notes.passages(document, self._names)
        self._stale = self._stale or not same
        return [one for one in passages if not self._query.hides(one.path)]

    def _chosen(self, passages: Sequence[Passage]) -> Sequence[Passage]:
        """Return those passages that the filter lets pass."""
        chosen = self.chosen
        return passages if chosen is None else list(filter(chosen.passes, passages))

    def _keep(self, passages: Sequence[Passage]) -> None:
        for passage in passages:
            key = (
                passage.path,
                passage.start_line,
                passage.end_line,
                passage.text if passage.piece else "",
            )
            self._passages[key] = passage

    def _score_all(self, documents: Sequence[QmdHit]) -> KeywordHits:
        """Read the documents, and rank their passages with those read before."""
        self._keep(self._transcripts.own())
        self._add(documents)
        passages = list(self._passages.values())
        if not passages:
            return KeywordHits(hits=(), literal=False, stale=self._stale)
        frequencies = passage_frequencies(
            passages, self._query_terms, self._frequencies
        )
        literal = ExactMatch(self._query_terms, frequencies)
        scorer = self._scorer(passages, frequencies)
        able = self._chosen(passages)
        scored = [one for one in map(scorer.score, able) if one.score > 0]
        best = rank(
            [self._with_rank_of_qmd(one) for one in scored],
            literal,
            limit=self._query.limit,
            min_score=self._query.min_score,
            settings=self._site.agent.search.query,
            dates=self._query.dates,
            today=self._query.today,
        )
        return KeywordHits(
            hits=tuple(_hit(one, scorer, self._snippet) for one in best),
            literal=any(literal.stands_in(one.passage) for one in best),
            stale=self._stale,
        )

    def _with_rank_of_qmd(self, scored: ScoredPassage) -> ScoredPassage:
        """Add the share of QMD's order; passages without a rank get a middle one."""
        place = self._rank.get(scored.passage.path, _RANK_DAMPING)
        own = _RANK_DAMPING / (_RANK_DAMPING + place)
        return structs.replace(
            scored, score=(1 - _OWN_RANK) * scored.text + _OWN_RANK * own
        )

    def _scorer(
        self, passages: Sequence[Passage], frequencies: Mapping[str, int]
    ) -> Scorer:
        """Return a scorer for the whole index, its passages estimated from those read."""
        notes = len({passage.path for passage in passages})
        total = max(len(passages), len(passages) * self._documents // notes)
        words = sum(passage.length for passage in passages)
        return Scorer(
            self._query_terms,
            frequencies,
            passages=total,
            mean_length=max(1.0, words / len(passages)),
        )


def _hit(scored: ScoredPassage, scorer: Scorer, most: int | None) -> Hit:
    cited = cited_lines(scored.passage, scored.match_line)
    also_in = [
        citation_of(copy.path, *cited_lines(copy, copy.end_line)[:2])
        for copy in scored.copies
    ]
    return hit_of(scored, cited, scorer, most, also_in)
