"""The page as text: complete by itself, and never markup from somebody's notes."""

import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest
from tests.adapters.surfaces.report.making import NASTY, made_up

from notewell.adapters.surfaces.report import page
from notewell.bench.results import BenchReport

VOID = {"input", "meta"}


class Structure(HTMLParser):
    """Which elements there are, whether each is closed, and the text outside scripts."""

    def __init__(self, source: str) -> None:
        """Read a page to its end."""
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self._open: list[str] = []
        self.feed(source)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element."""
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Only the innermost element can end."""
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        """Note text that a reader sees."""
        if self._open and self._open[-1] not in ("script", "style"):
            self.text += data


def data_in(source: str) -> dict[str, Any]:
    """What the page hands to its script."""
    found = re.search(
        r'<script type="application/json"[^>]*>(.*?)</script>', source, re.DOTALL
    )
    assert found
    return json.loads(found[1])


SIZES = [(1, 1), (2, 12), (5, 30)]


@pytest.mark.parametrize(("number", "queries"), SIZES)
def test_every_element_is_closed_where_it_was_opened(number: int, queries: int) -> None:
    Structure(page(made_up(number, queries)))


@pytest.mark.parametrize(("number", "queries"), SIZES)
def test_no_name_is_given_twice(number: int, queries: int) -> None:
    elements = Structure(page(made_up(number, queries))).elements

    names = [attributes["id"] for _, attributes in elements if "id" in attributes]

    assert len(names) == len(set(names))


def test_nothing_in_the_page_leads_elsewhere() -> None:
    elements = Structure(page(made_up(3))).elements

    leading = {"src", "href", "srcset", "action", "style"}
    assert not [one for one in elements if leading & set(one[1])]
    assert not [
        name for name, attributes in elements for a in attributes if a[:2] == "on"
    ]
    assert {name for name, _ in elements}.isdisjoint(
        {"link", "iframe", "img", "object"}
    )


def test_the_policy_lets_in_exactly_the_style_and_the_script_of_the_page() -> None:
    source = page(made_up())
    [policy] = [
        attributes["content"]
        for _, attributes in Structure(source).elements
        if attributes.get("http-equiv") == "Content-Security-Policy"
    ]

    for name in ("style", "script"):
        [inline] = re.findall(f"<{name}>(.*?)</{name}>", source, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(inline.encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}';" in str(policy)
    assert str(policy).startswith("default-src 'none';")


def everywhere(text: str) -> BenchReport:
    """A report with a text wherever one can come from outside."""
    report = made_up(2, queries=2)
    first, second = report.contenders
    return replace(
        report,
        workspace=text,
        queries_from=text,
        remarks=(text,),
        versions={text: text},
        machine=replace(report.machine, system=text, processor=text),
        contenders=(
            replace(
                first,
                version=text,
                mode=text,
                model=text,
                settings={text: text},
                failures={text: 1},
                by_category={text: {"success@6": 0.5}, "other": {"success@6": 0.1}},
            ),
            replace(second, unavailable=text),
        ),
        asked=tuple(
            replace(
                one,
                id=text,
                query=text,
                category=text,
                relevant=(replace(one.relevant[0], path=text, text=text),),
                answers=tuple(
                    replace(
                        answer,
                        error=text,
                        reason=text,
                        results=tuple(
                            replace(hit, path=text, snippet=text, heading=text)
                            for hit in answer.results
                        ),
                    )
                    for answer in one.answers
                ),
            )
            for one in report.asked
        ),
    )


@pytest.mark.parametrize("text", NASTY)
def test_text_from_outside_is_never_markup(text: str) -> None:
    source = page(everywhere(text))

    structure = Structure(source)
    assert {name for name, _ in structure.elements}.isdisjoint({"img", "h5"})
    assert source.count("</script>") == 2
    assert "\u202e" not in source
    source.encode("utf-8")


def test_no_text_is_in_the_data_twice() -> None:
    data = data_in(page(everywhere("the same snippet")))

    assert len(data["texts"]) == len(set(data["texts"]))
    answers = [one for asked in data["queries"] for one in asked["answers"]]
    result = next(hit for answer in answers for hit in answer["results"])
    assert data["texts"][result["snippet"]] == "the same snippet"
    assert result["path"] == result["snippet"]


def test_a_run_that_was_stopped_says_so() -> None:
    assert "This run was stopped." in Structure(page(made_up(finished=False))).text
    assert "This run was stopped." not in Structure(page(made_up())).text


def test_known_items_are_not_called_judgements() -> None:
    text = Structure(page(made_up(origin="known-item"))).text

    assert "Not judged by anybody." in text
    assert "Judged by" not in text


def test_who_could_not_take_part_stands_there_with_the_reason() -> None:
    first, second = made_up().contenders
    absent = replace(
        second, unavailable="The program qmd is not installed.", quality={}
    )

    text = Structure(page(made_up(contenders=(first, absent), comparisons=()))).text

    assert "qmd:search did not take part." in text
    assert "The program qmd is not installed." in text


def test_a_run_stopped_before_its_first_query_has_a_page() -> None:
    contenders = tuple(
        replace(one, warm=None, cold=None) for one in made_up(2, queries=0).contenders
    )

    text = Structure(
        page(made_up(2, queries=0, contenders=contenders, finished=False))
    ).text

    assert "0 queries" in text


def test_remarks_machine_and_versions_are_told() -> None:
    text = Structure(page(made_up())).text

    assert "Searches ran one after the other." in text
    assert "Some CPU, 2 cores" in text
    assert "3.50.0" in text
