"""What a run says of itself, and of what vectors are worth."""

from dataclasses import replace

import pytest

from notewell.bench.known_items import LEFT_OUT
from notewell.bench.metrics import METRICS
from notewell.bench.remarks import worth_of_vectors
from notewell.bench.results import Contender, Cost, Metric, ScoredAnswer, ScoredQuery

WORDS = Contender(label="builtin:keyword", backend="builtin", mode="keyword")
MEANING = Contender(
    label="builtin", backend="builtin", mode="hybrid", provider="static"
)


def answer(label: str, *, found: bool) -> ScoredAnswer:
    """An answer that is right by every measure, or by none."""
    measured: dict[Metric, float] = dict.fromkeys(METRICS, float(found))
    return ScoredAnswer(label=label, scores=measured)


def asked(
    *outcomes: tuple[bool, bool], category: str = "question"
) -> list[ScoredQuery]:
    """Queries, each with whether words and whether meaning found the place."""
    return [
        ScoredQuery(
            id=f"{category}{at}",
            query="heron",
            category=category,
            relevant=(),
            answers=(
                answer(WORDS.label, found=words),
                answer(MEANING.label, found=meaning),
            ),
        )
        for at, (words, meaning) in enumerate(outcomes)
    ]


@pytest.mark.parametrize(
    ("outcomes", "verdict"),
    [
        pytest.param([(False, True)] * 12 + [(True, True)] * 12, "it pays.", id="more"),
        pytest.param(
            [(True, False)] * 12 + [(True, True)] * 12,
            "it costs answers; provider `none` finds more here.",
            id="less",
        ),
        pytest.param(
            [(True, True)] * 24,
            "it does not pay here; provider `none` does as well and is faster.",
            id="the same",
        ),
        pytest.param(
            [(False, True)] + [(True, True)] * 23,
            "that may be chance; more questions would tell.",
            id="one more",
        ),
    ],
)
def test_a_run_says_in_words_whether_vectors_pay(
    outcomes: list[tuple[bool, bool]], verdict: str
) -> None:
    [said] = worth_of_vectors([WORDS, MEANING], asked(*outcomes))

    assert said.startswith("builtin against builtin:keyword: success@6 ")
    assert said.endswith(f": {verdict}")


def test_vectors_that_pay_where_words_were_left_out_are_not_called_useless() -> None:
    queries = asked(*[(True, True)] * 24)
    queries += asked(*[(False, True)] * 9, category=LEFT_OUT)

    first, second = worth_of_vectors([WORDS, MEANING], queries)

    assert first.endswith(
        "finds 9 of 9 places whose words were left out, builtin:keyword 0: it pays."
    )
    assert "no difference; what it is for is other words" in second


def test_few_questions_are_no_ground_for_advice() -> None:
    assert not list(worth_of_vectors([WORDS, MEANING], asked(*[(True, True)] * 5)))


def test_a_model_is_said_to_tell_the_notes_apart_as_it_was_measured() -> None:
    scripts = {"cjk": "hardly (1.2)", "latin": "well (4.3)"}
    measured = Contender(
        label="builtin",
        backend="builtin",
        mode="hybrid",
        provider="static",
        apart=scripts,
    )

    said = list(worth_of_vectors([WORDS, measured], []))

    assert said == [
        "The model of builtin tells these notes apart: cjk hardly (1.2), latin well (4.3)."
    ]


def test_a_model_that_adds_nothing_to_a_faster_one_is_said_not_to_pay() -> None:
    fast = replace(MEANING, cost=Cost(index_ms=10.0))
    slow = replace(
        MEANING, label="builtin@big", provider="big", cost=Cost(index_ms=900.0)
    )

    [said] = worth_of_vectors([slow, fast], asked(*[(True, True)] * 24))

    assert said.startswith("builtin@big against builtin: success@6 +0.000 ")
    assert said.endswith(
        ": it does not pay here; provider `static` does as well and is faster."
    )
