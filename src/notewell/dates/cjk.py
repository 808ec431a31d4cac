"""Dates in Chinese, Japanese and Korean: 2023年5月3日, 三十天前, 지난주 화요일."""

import re
from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from functools import cache
from typing import Final

from notewell.dates import DateRange
from notewell.dates.numbers import (
    HAN_NUMERALS,
    KOREAN_NUMERALS,
    cjk_number,
    native_numbers,
)
from notewell.dates.spans import (
    DateSpan,
    ago,
    days_back,
    days_of,
    months_range,
    season_range,
    whole_range,
)
from notewell.dates.vocabulary import Unit

_DIGITS: Final = rf"(?:\d{{1,3}}|[{HAN_NUMERALS}]{{1,5}})"
_KOREAN_DIGITS: Final = rf"(?:\d{{1,3}}|[{KOREAN_NUMERALS}]{{1,4}})"

_YEAR: Final = (
    rf"(?:(?P<era>令和|平成|昭和|民国|民國)\s?(?P<era_year>元|\d{{1,3}}|[{HAN_NUMERALS}]{{1,4}})"
    rf"|(?<![\d{HAN_NUMERALS}])(?P<year>\d{{4}}|[{HAN_NUMERALS}]{{4}}))\s?[年년]"
)
_MONTH: Final = (
    rf"(?<![\d{HAN_NUMERALS}.])(?P<month>\d{{1,2}}|[{HAN_NUMERALS}]{{1,3}}|정|시|유)\s?(?:月|월)"
    r"(?!\d*[間间]|球|餅|饼|光|亮)"
)
_DAY: Final = (
    rf"(?P<day>\d{{1,2}}|[{HAN_NUMERALS}]{{1,3}})\s?[日号號일](?![間间前後后])"
)
_ABSOLUTE: Final = (
    rf"{_YEAR}(?:의|\s)*(?:度|间|間)?(?:{_MONTH}(?:\s?{_DAY})?)?(?P<before>\s?[前전])?"
    rf"|{_MONTH.replace('?P<month>', '?P<month2>')}"
    rf"(?:\s?{_DAY.replace('?P<day>', '?P<day2>')})?"
)
_ERAS: Final = {"令和": 2018, "平成": 1988, "昭和": 1925, "民国": 1911, "民國": 1911}

_RELATIVE: Final[Mapping[tuple[Unit, int], str]] = {
    ("day", 0): "今天 今日 今晚 今早 今朝 今夜 今夕 本日 きょう 今晩 오늘(?!날)",
    ("day", 1): "昨天 昨日 昨晚 昨夜 昨晩 きのう 昨日 어제 어젯밤 어저께",
    ("day", 2): "(?<![目以之午面眼空生史先])前天 前日 一昨日 一昨晩 おととい おとつい"
    " 그저께 그제(?!서|야) 엊그제 엊그저께",
    ("day", 3): "大前天 一昨々日 一昨昨日 さきおととい 그끄저께 그끄제",
    ("day", -1): "(?<![说說声聲证證发發文表透光])明[天日] 明晚 明早 あした 내일",
    (
        "day",
        -2,
    ): "(?<![然以之今最随隨])(?<!大)后天 (?<!大)後天 明後日 明后日 あさって 모레",
    ("day", -3): "大后天 大後天 明々後日 しあさって 글피",
    ("week", 0): "(?<![成基日版样])本[周週] 这个?[周週] 這個?[周週] 本星期 这个?星期"
    " 這個?星期 这个?礼拜 這個?禮拜 今[周週] 今周 이번\\s?주(?!말|일)",
    (
        "week",
        1,
    ): "(?<![以上先])上[周週] (?<!上)上个?星期 (?<!上)上個?星期 (?<!上)上个?礼拜"
    " (?<!上)上個?禮拜 (?<![优優])先[週周] (?<!지)지난\\s?주(?!말|일) 저번\\s?주 전주에",
    (
        "week",
        2,
    ): "上上[周週] 上上个?星期 上上個?星期 上上个?礼拜 上上個?禮拜 先々週 先先週"
    " 지지난\\s?주 저저번\\s?주",
    (
        "week",
        -1,
    ): "(?<![以下])下[周週] 下个?星期 下個?星期 下个?礼拜 下個?禮拜 来週 來週"
    " 다음\\s?주(?!말|일)",
    ("weekend", 0): "本周末 这个?周末 這個?週末 今週末 이번\\s?주말",
    ("weekend", 1): "上个?周末 上個?週末 先週末 지난\\s?주말",
    ("weekend", -1): "下个?周末 下個?週末 来週末 다음\\s?주말",
    ("month", 0): "本月 这个?月 這個?月 今月 이번\\s?달 이달",
    (
        "month",
        1,
    ): "(?<![以上])上个?月 (?<![以上])上個?月 先月 (?<!지)지난\\s?달 저번\\s?달",
    ("month", 2): "上上个?月 上上個?月 先々月 先先月 지지난\\s?달",
    ("month", -1): "(?<![以下])下个?月 下個?月 来月 來月 다음\\s?달",
    ("quarter", 0): "本季度 这个?季度 今四半期 이번\\s?분기",
    ("quarter", 1): "上个?季度 上個?季度 前四半期 지난\\s?분기",
    ("year", 0): "今年 本年 올해 금년 올(?=\\s?[봄여가겨])",
    ("year", 1): "去年 昨年 (?<!시)작년 지난\\s?해",
    ("year", 2): "(?<![目以之])(?<!大)前年 一昨年 재작년 おととし",
    ("year", 3): "大前年",
    ("year", -1): "明年 来年 來年 내년 다음\\s?해",
}

_UNITS: Final[Mapping[str, str]] = {
    "day": "天|日|일",
    "week": "个星期|個星期|星期|周間|週間|周|週|个礼拜|個禮拜|礼拜|禮拜|주일|주간|주",
    "month": "个月|個月|か月|ヶ月|カ月|ケ月|箇月|ヵ月|개월|달",
    "year": "年間|年|년|해",
}
_NATIVE_DAYS: Final = {
    name: count
    for count, name in enumerate(
        str.split("하루 이틀 사흘 나흘 닷새 엿새 이레 여드레 아흐레 열흘"), 1
    )
} | {"보름": 15}
_FEW: Final = "几|幾|数|數|若干|好几|몇"
_LAST: Final = (
    r"(?:最近|过去|過去|近|この|ここ|지난|최근|직전)(?:的|の)?\s?"
    rf"(?P<last>\d{{1,3}}|[{HAN_NUMERALS}]{{1,5}}|[{KOREAN_NUMERALS}]{{1,4}}|[가-힣]{{1,3}}?|{_FEW})\s?"
)
_WEEKDAY: Final = (
    r"(?:星期|礼拜|禮拜|周|週)(?P<chinese>[一二三四五六日天])"
    r"|(?P<japanese>[月火水木金土日])曜日?|(?P<korean>[월화수목금토일])요일"
)
_WEEKDAYS: Final = {
    **{sign: number for number, sign in enumerate("一二三四五六日")},
    **{sign: number for number, sign in enumerate("月火水木金土日")},
    **{sign: number for number, sign in enumerate("월화수목금토일")},
    "天": 6,
}
_SEASONS: Final = {
    "春": 3,
    "夏": 6,
    "秋": 9,
    "冬": 12,
    "봄": 3,
    "여름": 6,
    "가을": 9,
    "겨울": 12,
}
_SEASON: Final = r"[春夏秋冬](?:天|季|期)?|봄|여름|가을|겨울"


def cjk_dates(text: str, today: date) -> Iterator[DateSpan]:
    """Yield the dates in a text that has such signs."""
    yield from _absolute(text)
    yield from _relative(text, today)
    yield from _counted(text, today)
    for found in re.finditer(_WEEKDAY, text):
        weekday = _WEEKDAYS[found[found.lastgroup or "chinese"]]
        yield DateSpan(*found.span(), (), "weekday", True, weekday, alone=False)
    for found in re.finditer(_SEASON, text):
        name = found[0] if found[0] in _SEASONS else found[0][0]
        named = season_range(2000, _SEASONS[name])._replace(yearly=True)
        yield DateSpan(*found.span(), (named,), "season", alone=False)


def _absolute(text: str) -> Iterator[DateSpan]:
    for found in re.finditer(_ABSOLUTE, text):
        month = _month(found["month"] or found["month2"])
        day = cjk_number(found["day"] or found["day2"] or "")
        if found["before"] and day is None:
            continue  # 2023年前: all that was before
        year = cjk_number(found["year"] or "")
        if found["era"]:
            in_era = 1 if found["era_year"] == "元" else cjk_number(found["era_year"])
            year = _ERAS[found["era"]] + (in_era or 0)
        if month is None and (year is None or found["month"] or found["month2"]):
            continue
        ranges = whole_range(year, month, day) if day != 0 else ()
        unit: Unit = "day" if day else "month" if month else "year"
        if ranges:
            yield DateSpan(*found.span(), ranges, unit)


def _month(text: str | None) -> int | None:
    irregular = {"정": 1, "유": 6, "시": 10}
    number = cjk_number(text or "")
    number = irregular.get(text or "", number or 0)
    return number if 1 <= number <= 12 else None


def _relative(text: str, today: date) -> Iterator[DateSpan]:
    """Yield what one word says relative to today: 昨天, 上周二, 지난달 3일."""
    for pattern, unit, back in _relative_patterns():
        for found in pattern.finditer(text):
            ranges = days_back(unit, back, today)
            if ranges:
                yield _with_part(text, found, ranges[0], unit)


@cache
def _relative_patterns() -> tuple[tuple[re.Pattern[str], Unit, int], ...]:
    return tuple(
        (re.compile("|".join(words.split(" "))), unit, back)
        for (unit, back), words in _RELATIVE.items()
    )


def _with_part(
    text: str, found: re.Match[str], named: DateRange, unit: Unit
) -> DateSpan:
    """Return what one word tells, with the day of that week or month behind it."""
    start, end = found.span()
    if unit == "week":
        day = re.compile(r"([一二三四五六日天])(?![个個月年天])").match(text, end)
        if day:
            weekday = _WEEKDAYS[day[1]]
            one = named.first + timedelta(days=weekday)
            return DateSpan(
                start, day.end(), (DateRange(one, one),), "day", relative=True
            )
    if unit == "month":
        day = re.compile(rf"[のの的]?\s?{_DAY}").match(text, end)
        number = cjk_number(day["day"]) if day else None
        if day and number and number <= named.last.day:
            one = named.first.replace(day=number)
            return DateSpan(
                start, day.end(), (DateRange(one, one),), "day", relative=True
            )
    return DateSpan(start, end, (named,), unit, relative=True)


def _counted(text: str, today: date) -> Iterator[DateSpan]:
    """Yield what is counted from today: 三十天前, 3日後, 두 달 전, 最近两周."""
    if not re.search(
        r"[前전後后후뒤]|最近|过去|過去|近|この|ここ|지난|최근|직전", text
    ):
        return
    for unit, away, rolling in _counted_patterns():
        for found in away.finditer(text):
            yield from _ago(found, found["n"], unit, today)
        for found in rolling.finditer(text):
            count = cjk_number(found["last"]) or (6 if found["last"] in _FEW else 0)
            ranges = days_back("rolling", days_of(unit, count), today)
            if count and ranges:
                yield DateSpan(*found.span(), ranges, "rolling", relative=True)
    days = "|".join(_NATIVE_DAYS)
    for found in re.finditer(rf"({days}|며칠)\s?(?:(?P<back>전)|(?P<on>후|뒤))", text):
        yield from _ago(found, str(_NATIVE_DAYS.get(found[1], "몇")), "day", today)


@cache
def _counted_patterns() -> tuple[tuple[str, re.Pattern[str], re.Pattern[str]], ...]:
    native = "|".join(sorted(native_numbers(), key=len, reverse=True))
    number = rf"(?P<n>{_DIGITS}|{_KOREAN_DIGITS}|{native}|{_FEW}|半)"
    return tuple(
        (
            unit,
            re.compile(
                rf"(?<!\d)(?<![第每各{HAN_NUMERALS}]){number}\s?(?:{names})\s?"
                r"(?:以|之)?(?:(?P<back>[前전])|(?P<on>[後后후]))(?![半端面台期])"
            ),
            re.compile(rf"{_LAST}(?:{names})(?![前전后後후月末말])"),
        )
        for unit, names in _UNITS.items()
    )


def _ago(
    found: re.Match[str], number: str, unit: str, today: date
) -> Iterator[DateSpan]:
    sign = 1 if found["back"] else -1
    if number == "半":
        ranges = _half(unit, sign, today)
    elif number in _FEW:
        first, last = (days_back("day", sign * days_of(unit, n), today) for n in (6, 2))
        both = sorted([*first, *last])
        ranges = (DateRange(both[0].first, both[-1].last),) if both else ()
    else:
        ranges = ago(unit, sign * (cjk_number(number) or 0), today)
    if ranges and number != "0":
        unit_named: Unit = "day" if ranges[0].first == ranges[0].last else "rolling"
        yield DateSpan(*found.span(), ranges, unit_named, relative=True)


def _half(unit: str, sign: int, today: date) -> tuple[DateRange, ...]:
    if unit == "month":
        return days_back("day", 15 * sign, today)
    if unit != "year":
        return ()
    try:
        return (months_range(today.year, today.month - 6 * sign, 1),)
    except ValueError:
        return ()
