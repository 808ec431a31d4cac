"""The whole page: its sections, and a policy that lets nothing in from elsewhere."""

import base64
import hashlib
from typing import Final, NamedTuple

from notewell.adapters.surfaces.report.charts import listed
from notewell.adapters.surfaces.report.findings import findings
from notewell.adapters.surfaces.report.html import asset, templates
from notewell.adapters.surfaces.report.queries import queries_section
from notewell.adapters.surfaces.report.sections import (
    about_section,
    agreement_section,
    cost_section,
    figures_table,
    latency_section,
    quality_section,
)
from notewell.adapters.surfaces.sentences import number_of, size_text
from notewell.bench.results import BenchReport, Origin


class _Origin(NamedTuple):
    short: str
    long: str


_ORIGINS: Final[dict[Origin, _Origin]] = {
    "judged": _Origin(
        "Judged by a file.", "What is right was written down in a file of queries."
    ),
    "bundled": _Origin(
        "Judged by a set of our own making.",
        "The notes and the judgements ship with notewell. They show how a run looks, not "
        "how an engine does on your notes.",
    ),
    "known-item": _Origin(
        "Not judged by anybody.",
        "Each query was made from a passage of the notes, and only that passage counts as "
        "right. Such queries share words with what they look for, so they favour engines "
        "that match words; other passages may answer as well. Known-item queries are no "
        "judgements of relevance.",
    ),
}
"""What a reader has to know of the judgements."""


def page(report: BenchReport) -> str:
    """Return one HTML page about a run: complete, without network, to be kept as UTF-8.

    Texts of notes and queries are shown as text and never become markup. Without
    JavaScript everything but the single queries can be read.
    """
    style, script = asset("report.css"), asset("report.js")
    asked = number_of(len(report.asked), "query", "queries")
    return (
        templates()
        .get_template("page.html")
        .render(
            report=report,
            style=style,
            script=script,
            policy=_policy(style, script),
            title=_title(report),
            asked=asked,
            facts=(
                asked,
                f"{number_of(report.files, 'file')}, {size_text(report.bytes)}",
                f"{report.limit} results a query",
                f"{report.started_at:%-d %B %Y, %H:%M} UTC",
            ),
            origin=_ORIGINS[report.origin],
            findings=findings(report),
            figures=figures_table(report),
            quality=quality_section(report),
            latency=latency_section(report),
            cost=cost_section(report),
            agreement=agreement_section(report),
            queries=queries_section(report),
            about=about_section(report),
        )
    )


def _title(report: BenchReport) -> str:
    labels = [contender.label for contender in report.contenders]
    who = listed(labels) if 0 < len(labels) <= 3 else f"{len(labels)} contenders"
    return f"{who} on {report.workspace}"


def _policy(style: str, script: str) -> str:
    """Allow exactly this style and this script, and nothing from anywhere."""
    return (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; "
        "base-uri 'none'; form-action 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    )


def _hash(source: str) -> str:
    digest = hashlib.sha256(source.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"
