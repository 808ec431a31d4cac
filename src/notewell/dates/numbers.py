"""Number words: as many days as people count, in the languages of the reader."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Final

LONGEST_NUMBER: Final = 7
"""Words, at most, of a number: `quatre - vingt - dix - sept`."""

_ENGLISH: Final = str.split(
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
    " fifteen sixteen seventeen eighteen nineteen"
)
_ENGLISH_TENS: Final = str.split(
    "twenty thirty forty fifty sixty seventy eighty ninety"
)
_ENGLISH_ORDINALS: Final = str.split(
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
    " thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth"
)
_GERMAN: Final = str.split(
    "ein zwei drei vier funf sechs sieben acht neun zehn elf zwolf dreizehn vierzehn"
    " funfzehn sechzehn siebzehn achtzehn neunzehn"
)
_GERMAN_TENS: Final = str.split(
    "zwanzig dreissig vierzig funfzig sechzig siebzig achtzig neunzig"
)
_GERMAN_ORDINALS: Final = str.split(
    "ers zwei drit vier funf sechs sieb ach neun zehn elf zwolf dreizehn vierzehn funfzehn"
    " sechzehn siebzehn achtzehn neunzehn"
)
_FRENCH: Final = str.split(
    "un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze"
    " seize dix_-_sept dix_-_huit dix_-_neuf"
)
_FRENCH_TENS: Final = str.split(
    "vingt trente quarante cinquante soixante soixante quatre_-_vingt quatre_-_vingt"
)
_SPANISH: Final = str.split(
    "uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince"
    " dieciseis diecisiete dieciocho diecinueve veinte veintiuno veintidos veintitres"
    " veinticuatro veinticinco veintiseis veintisiete veintiocho veintinueve"
)
_SPANISH_TENS: Final = str.split(
    "treinta cuarenta cincuenta sesenta setenta ochenta noventa"
)
_OTHERS: Final = {
    "a": 1, "an": 1, "eine": 1, "einem": 1, "einer": 1, "einen": 1, "eins": 1,
    "une": 1, "una": 1, "um": 1, "uma": 1, "couple": 2, "duas": 2, "due": 2, "tre": 3,
    "quatro": 4, "quattro": 4, "cinque": 5, "sei": 6, "sete": 7, "sette": 7, "oito": 8,
    "otto": 8, "nove": 9, "dez": 10, "dieci": 10, "half": 0, "dozen": 12, "hundred": 100,
    "a hundred": 100, "one hundred": 100, "hundert": 100, "einhundert": 100, "cent": 100,
    "cien": 100, "septante": 70, "huitante": 80, "nonante": 90, "zwo": 2,
}  # fmt: skip


@cache
def number_words() -> Mapping[str, int]:
    """Return the numbers from one to a hundred, by their folded words.

    >>> words = number_words()
    >>> [words[w] for w in ("thirty - one", "dreissig", "vingt et un", "treinta y dos")]
    [31, 30, 21, 32]
    """
    found = {name: value for name, value in _OTHERS.items() if value}
    for names in (_ENGLISH, _GERMAN, _FRENCH, _SPANISH):
        found |= {name.replace("_", " "): n for n, name in enumerate(names, 1)}
    for tens, (english, german) in enumerate(
        zip(_ENGLISH_TENS, _GERMAN_TENS, strict=True), 2
    ):
        found |= {english: tens * 10, german: tens * 10}
        for unit in range(1, 10):
            word = _ENGLISH[unit - 1]
            found[f"{english} - {word}"] = found[f"{english} {word}"] = tens * 10 + unit
            found[f"{_GERMAN[unit - 1]}und{german}"] = tens * 10 + unit
    for tens, spanish in enumerate(_SPANISH_TENS, 3):
        found[spanish] = tens * 10
        for unit in range(1, 10):
            found[f"{spanish} y {_SPANISH[unit - 1]}"] = tens * 10 + unit
        found[f"{spanish} y un"] = found[f"{spanish} y una"] = tens * 10 + 1
    for umlaut, letters in (("funf", "fuenf"), ("zwolf", "zwoelf")):
        found |= {word.replace(umlaut, letters): n for word, n in found.items()}
    found |= {"veintiun": 21, "veintiuna": 21}
    found |= dict(_french_tens())
    return found


def _french_tens() -> Iterator[tuple[str, int]]:
    """Yield 20 to 99: seventy is `sixty-ten`, ninety `four-twenty-ten`."""
    for tens, name in enumerate(_FRENCH_TENS, 2):
        word = name.replace("_", " ")
        own = tens not in (7, 9)  # which go on where sixty and eighty end
        if own:
            yield word, tens * 10
        for unit in range(1 if own else 10, 10 if own else 20):
            value = (tens if own else tens - 1) * 10 + unit
            end = _FRENCH[unit - 1].replace("_", " ")
            yield f"{word} - {end}", value
            yield f"{word} {end}", value
            if unit in (1, 11) and tens < 8:
                yield f"{word} et {end}", value
                yield f"{word} - et - {end}", value
    yield "quatre - vingts", 80
    yield "quatre vingts", 80


@cache
def ordinal_words() -> Mapping[str, int]:
    """Return the days of a month as they are counted: `third`, `dritten`, `premier`."""
    found = {name: day for day, name in enumerate(_ENGLISH_ORDINALS, 1)}
    for tens, word in ((20, "twenty"), (30, "thirty")):
        found[word[:-1] + "ieth"] = tens
        for unit, name in enumerate(_ENGLISH_ORDINALS[:9], 1):
            found[f"{word} - {name}"] = found[f"{word} {name}"] = tens + unit
    stems = {day: stem + "t" for day, stem in enumerate(_GERMAN_ORDINALS, 1)}
    for tens, word in ((20, "zwanzig"), (30, "dreissig")):
        stems[tens] = word + "st"
        for unit in range(1, 10):
            stems[tens + unit] = f"{_GERMAN[unit - 1]}und{word}st"
    for day, stem in stems.items():
        found |= {stem + end: day for end in ("e", "en", "er", "em")}
    found |= {"siebenten": 7, "premier": 1, "primero": 1, "primeiro": 1, "primo": 1}
    return {name: day for name, day in found.items() if day <= 31}


_HAN_NUMERALS: Final = {sign: n for n, sign in enumerate("〇一二三四五六七八九")} | {
    "零": 0, "○": 0, "两": 2, "兩": 2, "十": 10, "百": 100, "廿": 20, "卅": 30,
}  # fmt: skip

HAN_NUMERALS: Final = "".join(_HAN_NUMERALS)
"""Every sign of a Chinese or Japanese number."""

_KOREAN_NUMERALS: Final = {sign: n for n, sign in enumerate("영일이삼사오육칠팔구")} | {
    "공": 0, "십": 10, "백": 100,
}  # fmt: skip
KOREAN_NUMERALS: Final = "".join(_KOREAN_NUMERALS)
"""Every sign of a Korean number of Chinese origin."""

_NATIVE: Final = {
    "한": 1, "두": 2, "세": 3, "석": 3, "네": 4, "넉": 4, "다섯": 5, "여섯": 6, "일곱": 7,
    "여덟": 8, "아홉": 9,
}  # fmt: skip
_NATIVE_TENS: Final = {
    "열": 10,
    "스무": 20,
    "스물": 20,
    "서른": 30,
    "마흔": 40,
    "쉰": 50,
}


@cache
def native_numbers() -> Mapping[str, int]:
    """Return the Korean numbers that count months and years: `한`, `열두`."""
    found = {**_NATIVE, **_NATIVE_TENS}
    for tens, more in _NATIVE_TENS.items():
        found |= {tens + unit: more + n for unit, n in _NATIVE.items()}
    return found


def cjk_number(text: str) -> int | None:
    """Return a number in digits, in signs or in Korean; None if it is none.

    >>> [cjk_number(t) for t in ("三十", "二十五", "二〇二六", "百二十", "십오", "열두", "12")]
    [30, 25, 2026, 120, 15, 12, 12]
    """
    if text.isdecimal():
        return int(text) if len(text) <= 4 else None
    if (native := native_numbers().get(text)) is not None:
        return native
    values = [_HAN_NUMERALS.get(sign, _KOREAN_NUMERALS.get(sign)) for sign in text]
    known = [value for value in values if value is not None]
    if not known or len(known) != len(values) or len(known) > 7:
        return None
    if max(known) < 10:  # one digit after the other, as years are written
        return int("".join(map(str, known))) if len(known) in (1, 4) else None
    total = digit = 0
    for value in known:
        if value < 10:
            digit = value
        else:
            total, digit = total + (digit or 1) * value, 0
    return total + digit
