"""The end of the page: how the figures came about."""

import json
from collections.abc import Iterator

from notewell.adapters.surfaces.report.markup import Html, element, joined
from notewell.adapters.surfaces.report.parts import name_of, section
from notewell.adapters.surfaces.sentences import number_of, size_text
from notewell.bench.results import BenchReport, Contender


def about(report: BenchReport) -> Html:
    """Return the section on the run itself."""
    remarks = [element("li", remark) for remark in report.remarks]
    who = (_contender(index, one) for index, one in enumerate(report.contenders))
    return section(
        "about",
        "How it was measured",
        "What a reader needs to judge these figures, or to measure them again.",
        element("ul", *remarks, class_="remarks") if remarks else Html(),
        element("h3", "Contenders"),
        element("div", *who, class_="panels"),
        element("h3", "Machine and versions"),
        _pairs((*_machine(report), *report.versions.items())),
    )


def _contender(index: int, one: Contender) -> Html:
    heading = element("h4", name_of(index, one.label))
    return element("div", heading, _pairs(_described(one)), class_="part")


def _described(one: Contender) -> Iterator[tuple[str, str]]:
    known = {
        "did not take part": one.unavailable,
        "backend": f"{one.backend} {one.version or ''}".rstrip(),
        "mode": one.mode,
        "provider": one.provider,
        "model": one.model,
    }
    yield from ((name, value) for name, value in known.items() if value)
    for name, value in one.settings.items():
        yield name, json.dumps(value, ensure_ascii=False, default=str)
    if one.unavailable is None:
        yield "answered", number_of(one.answered, "query", "queries")
    for word, tally in (("failed", one.failures), ("stepped down", one.fallbacks)):
        for reason, times in tally.items():
            yield word, f"{reason}: {number_of(times, 'query', 'queries')}"


def _machine(report: BenchReport) -> Iterator[tuple[str, str]]:
    machine = report.machine
    yield "system", machine.system
    yield "processor", f"{machine.processor}, {number_of(machine.cores, 'core')}"
    if machine.memory_bytes is not None:
        yield "memory", size_text(machine.memory_bytes)
    yield "Python", machine.python


def _pairs(members: Iterator[tuple[str, str]] | tuple[tuple[str, str], ...]) -> Html:
    items = (
        joined((element("dt", name), element("dd", element("bdi", value))))
        for name, value in members
    )
    return element("dl", *items)
