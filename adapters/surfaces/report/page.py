"""The whole page: its sections, and a policy that lets nothing in from elsewhere."""

import base64
import hashlib
from importlib.resources import files

from notewell.adapters.surfaces.report.about import about
from notewell.adapters.surfaces.report.agreement import agreement
from notewell.adapters.surfaces.report.cost import cost
from notewell.adapters.surfaces.report.latency import latency
from notewell.adapters.surfaces.report.markup import Html, element
from notewell.adapters.surfaces.report.overview import overview, title
from notewell.adapters.surfaces.report.quality import quality
from notewell.adapters.surfaces.report.queries import queries
from notewell.bench.results import BenchReport


def page(report: BenchReport) -> str:
    """Return one HTML page about a run: complete, without network, to be kept as UTF-8.

    Texts of notes and queries are shown as text and never become markup. Without
    JavaScript everything but the single queries can be read.
    """
    style, script = _asset("report.css"), _asset("report.js")
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element(
            "meta", http_equiv="Content-Security-Policy", content=_policy(style, script)
        ),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="referrer", content="no-referrer"),
        element("meta", name="robots", content="noindex"),
        element("title", f"{title(report)} · notewell bench"),
        element("style", style),
    )
    sections = [
        part
        for part in (
            quality(report),
            latency(report),
            cost(report),
            agreement(report),
            queries(report),
            about(report),
        )
        if part
    ]
    body = element(
        "body",
        _themes(),
        element("main", element("div", overview(report), class_="overview"), *sections),
        element("script", script),
    )
    return f"<!doctype html>\n{element('html', head, body, lang='en')}\n"


def _asset(name: str) -> Html:
    return Html((files(__package__) / name).read_text(encoding="utf-8"))


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


def _themes() -> Html:
    """Buttons for light and dark; report.css sees which one is pressed."""
    buttons = (
        element(
            "label",
            element(
                "input", type="radio", name="theme", id=f"theme-{name}", checked=first
            ),
            element("span", word),
        )
        for name, word, first in (
            ("auto", "Auto", True),
            ("light", "Light", False),
            ("dark", "Dark", False),
        )
    )
    return element(
        "div", *buttons, class_="themes tabs", role="group", aria_label="Colours"
    )
