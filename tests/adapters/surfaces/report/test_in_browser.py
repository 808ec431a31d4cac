"""The page in a real browser: what is seen, clicked and typed, and what does no harm."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.adapters.surfaces.report.browser import Browser
from tests.adapters.surfaces.report.making import LABELS, NASTY, made_up

from notewell.adapters.surfaces.report import page
from notewell.bench.results import BenchReport

Show = Callable[[BenchReport], None]

SHOWN = (
    "[...document.querySelectorAll('#list .query .asked bdi')].map(e => e.textContent)"
)
OUTCOMES = "[...document.querySelectorAll('.query')].map(q => \
    [...q.querySelectorAll('.outcome')].map(o => o.classList.contains('found')))"


@pytest.fixture
def show(browser: Browser, tmp_path: Path) -> Show:
    """Opens the page of a report in the browser."""

    def shown(report: BenchReport) -> None:
        target = tmp_path / "report.html"
        target.write_text(page(report), encoding="utf-8")
        browser.open(target)

    return shown


def choose(browser: Browser, control: str, value: str) -> None:
    """Set a control of the list of queries, as a reader would."""
    assert browser.value(
        f"(() => {{ const c = document.getElementById({control!r}); c.value = {value!r};"
        f"c.dispatchEvent(new Event('input', {{bubbles: true}}));"
        f"return c.value === {value!r} }})()"
    )


def open_all(browser: Browser) -> None:
    """Open every query, and wait for what that sets off."""
    browser.value("document.querySelectorAll('.query').forEach(q => q.open = true)")
    browser.value("new Promise(done => setTimeout(done))")


def test_a_page_asks_for_nothing_and_its_policy_has_no_complaint(
    browser: Browser, show: Show
) -> None:
    show(made_up(3))

    assert len(browser.requested) == 1
    assert browser.complaints == []


def test_text_of_notes_is_shown_verify_and_harms_nothing(
    browser: Browser, show: Show
) -> None:
    show(made_up(queries=14))

    open_all(browser)

    shown = browser.value("document.getElementById('list').textContent")
    assert NASTY[0] in shown
    assert NASTY[1] in shown
    assert "before \\u202eturned around" in shown
    assert "\u202e" not in shown
    assert browser.value("window.harmed") is None
    assert browser.value("document.querySelectorAll('img, #list script').length") == 0
    assert browser.complaints == []


def test_script_put_into_the_page_is_refused_by_its_policy(
    browser: Browser, show: Show
) -> None:
    show(made_up())

    browser.value(
        "document.body.append(Object.assign(document.createElement('style'),"
        "{textContent: 'body { color: rgb(1, 2, 3) }'}))"
    )

    assert browser.value("getComputedStyle(document.body).color") != "rgb(1, 2, 3)"
    with pytest.raises(AssertionError, match="TrustedHTML"):
        browser.value("document.body.innerHTML = '<b>x</b>'")


@pytest.mark.parametrize("width", [360, 1024, 1440])
@pytest.mark.parametrize("contenders", [1, 5])
def test_nothing_is_wider_than_the_window(
    browser: Browser, show: Show, width: int, contenders: int
) -> None:
    browser.narrow(width)
    show(made_up(contenders, queries=14))

    open_all(browser)

    assert browser.value("document.documentElement.scrollWidth") == width


def test_without_scripts_everything_but_single_queries_can_be_read(
    browser: Browser, show: Show
) -> None:
    browser.scripts(allowed=False)
    show(made_up(3))
    browser.scripts(allowed=True)

    seen = browser.value("document.body.innerText")
    assert "finds more than" in seen
    assert "Looking into single queries needs JavaScript." in seen
    assert "All categories" not in seen
    assert browser.value("document.querySelector('.plot .mark').getBBox().width") > 0


def test_the_list_shows_what_is_searched_for(browser: Browser, show: Show) -> None:
    show(made_up(queries=30))

    choose(browser, "words", "QUESTION 17 ")

    [query] = browser.value(SHOWN)
    assert query.startswith("question 17 ")
    assert browser.value("document.getElementById('count').value") == "1 of 30 queries"


def test_the_list_shows_one_category(browser: Browser, show: Show) -> None:
    show(made_up(queries=30))

    choose(browser, "category", "中文")

    assert len(browser.value(SHOWN)) == 10


def test_the_list_shows_what_only_one_contender_finds(
    browser: Browser, show: Show
) -> None:
    show(made_up(3, queries=60))

    choose(browser, "which", "only:qmd:search")

    outcomes = browser.value(OUTCOMES)
    assert outcomes
    assert all(found == [False, True, False] for found in outcomes)


def test_the_list_shows_what_some_find_and_others_miss(
    browser: Browser, show: Show
) -> None:
    show(made_up(3, queries=60))

    choose(browser, "which", "some")

    outcomes = browser.value(OUTCOMES)
    assert outcomes
    assert all(any(found) and not all(found) for found in outcomes)


def test_the_slowest_query_comes_first_when_asked_for(
    browser: Browser, show: Show
) -> None:
    report = made_up(queries=30)
    show(report)

    choose(browser, "order", "slow")

    slowest = max(report.asked, key=lambda one: max(a.ms or 0 for a in one.answers))
    assert browser.value(SHOWN)[0].startswith(slowest.query.partition(" <")[0][:12])


def test_a_label_that_looks_like_markup_is_a_label_everywhere(
    browser: Browser, show: Show
) -> None:
    show(made_up(5))

    choose(browser, "which", f"only:{LABELS[4]}")

    names = "[...document.querySelectorAll('#columns bdi')].map(e => e.textContent)"
    assert browser.value(names) == list(LABELS)


def test_an_open_query_has_the_answers_side_by_side_with_right_places_marked(
    browser: Browser, show: Show
) -> None:
    report = made_up(3, queries=3)
    show(report)

    browser.value("document.querySelector('.query').open = true")
    browser.value("new Promise(done => setTimeout(done))")

    names = "[...document.querySelectorAll('article h4')].map(e => e.textContent)"
    marked = "document.querySelectorAll('article .is-right').length"
    right = sum(
        bool(hit.relevant) for a in report.asked[0].answers for hit in a.results
    )
    assert browser.value(names) == list(LABELS[:3])
    assert browser.value(marked) == right
    assert browser.value("document.querySelector('.places .path').textContent") == (
        "memory/0.md#L3-L5"
    )


def test_a_query_is_opened_with_the_keyboard(browser: Browser, show: Show) -> None:
    show(made_up())
    browser.value("document.getElementById('whole').focus()")

    browser.press("Tab", "Enter")

    assert browser.value("document.querySelector('.query').open")


def test_answers_are_made_only_when_their_query_is_opened(
    browser: Browser, show: Show
) -> None:
    show(made_up(3, queries=400))
    rows = "document.querySelectorAll('#list .query').length"
    answers = "document.querySelectorAll('#list article').length"
    assert (browser.value(rows), browser.value(answers)) == (400, 0)

    browser.value("document.querySelectorAll('.query')[399].open = true")
    browser.value("new Promise(done => setTimeout(done))")

    assert browser.value(answers) == 3


@pytest.mark.parametrize("dark", [False, True])
def test_the_buttons_overrule_what_the_reader_prefers(
    browser: Browser, show: Show, dark: bool
) -> None:
    browser.narrow(1280, dark=dark)
    show(made_up())
    paper = "getComputedStyle(document.body).backgroundColor"
    preferred = browser.value(paper)

    browser.value(
        f"document.getElementById('theme-{'light' if dark else 'dark'}').click()"
    )

    assert browser.value(paper) != preferred


@pytest.mark.parametrize("dark", [False, True])
def test_all_text_has_the_contrast_that_readers_need(
    browser: Browser, show: Show, dark: bool
) -> None:
    browser.narrow(1280, dark=dark)
    show(made_up(5, finished=False, origin="known-item"))
    open_all(browser)

    assert browser.value(CONTRASTS) == []


CONTRASTS = """(() => {
  const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const linear = (c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  const light = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  const behind = (element) => {
    const found = numbers(getComputedStyle(element).backgroundColor);
    return found.length === 4 && found[3] === 0 ? behind(element.parentElement) : found;
  };
  const low = new Set();
  for (const element of document.querySelectorAll('main *, .tabs *')) {
    const own = [...element.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
    if (!own || !element.checkVisibility() || element.closest('script, option')) continue;
    const style = getComputedStyle(element);
    const front = numbers(element.closest('svg') ? style.fill : style.color);
    const [a, b] = [light(front), light(behind(element))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) low.add(`${element.className} ${element.tagName} ${ratio.toFixed(2)}`);
  }
  for (const mark of document.querySelectorAll('.plot .mark')) {
    const front = numbers(getComputedStyle(mark).stroke === 'none' ? '' :
      getComputedStyle(mark)[mark.matches('.hollow') ? 'stroke' : 'fill']);
    const [a, b] = [light(front), light(behind(mark))].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 3) low.add(mark.className.baseVal);
  }
  return [...low];
})()"""
"""Text with less than 4.5 to 1 and marks with less than 3 to 1, as WCAG 2.2 counts."""
