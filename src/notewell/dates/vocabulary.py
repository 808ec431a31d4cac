"""The words for days and months, in the languages whose letters are Latin.

English, German, French and Spanish whole; Portuguese and Italian in their usual words.
All are folded: small letters, without accents.
"""

from collections.abc import Mapping
from functools import cache
from typing import Final, Literal, TypeAlias

Unit: TypeAlias = Literal[
    "day", "week", "weekend", "month", "quarter", "season", "year", "weekday", "rolling"
]
"""What a date names; `rolling`: the last so many days."""


def _numbered(*groups: str, start: int = 1) -> dict[str, int]:
    return {
        name: number
        for number, names in enumerate(groups, start)
        for name in names.split()
    }


MONTHS: Final = _numbered(
    "january jan januar janner janvier janv enero ene janeiro gennaio",
    "february feb februar fevrier fevr febrero fevereiro febbraio",
    "march mar marz mrz maerz mars marzo marco",
    "april apr avril avr abril abr aprile",
    "may mai mayo maio maggio",
    "june jun juni juin junio junho giugno",
    "july jul juli juillet juil julio julho luglio",
    "august aug aout agosto",
    "september sep sept septembre septiembre setiembre setembro settembre",
    "october oct oktober okt octobre octubre outubro ottobre",
    "november nov novembre noviembre novembro",
    "december dec dezember dez decembre diciembre dic dezembro dicembre",
)

WEEKDAYS: Final = _numbered(
    "monday mon montag lundi lunes",
    "tuesday tue tues dienstag mardi martes",
    "wednesday wed mittwoch mercredi miercoles",
    "thursday thu thur thurs donnerstag jeudi jueves",
    "friday fri freitag vendredi viernes",
    "saturday sat samstag sonnabend samedi sabado",
    "sunday sun sonntag dimanche domingo",
    start=0,
)

SEASONS: Final = {
    name: month
    for month, names in {
        3: "spring fruhling fruhjahr fruehling fruehjahr printemps primavera",
        6: "summer sommer ete verano verao estate",
        9: "autumn fall herbst automne otono outono autunno",
        12: "winter hiver invierno inverno",
    }.items()
    for name in names.split()
}
"""The month that a season begins with, north of the equator."""

SEVERAL_MEANINGS: Final = frozenset(
    str.split("may march mar mars mai mayo sept jan dec dez ene dic")
)
"""Months that are other words as well."""

_IN: Final = {
    "en": "in of during since until till by around before after from last this next early"
    " mid late past",
    "de": "im in seit bis vor nach ab anfang mitte ende letzten diesen nachsten vergangenen",
    "fr": "en depuis avant apres pendant debut fin mi courant",
    "es": "en de desde hasta durante antes em desde ate a in",
}
_TONGUES: Final = {
    "mars": "fr",
    "mai": "de fr es",
    "may": "en",
    "march": "en",
    "mayo": "es",
    "mar": "es",
}


@cache
def before_month(name: str) -> frozenset[str]:
    """Return the words that make a month of the word after them: `in May`."""
    tongues = _TONGUES.get(name, "en de fr es").split()
    return frozenset(word for tongue in tongues for word in _IN[tongue].split())


BEFORE_A_YEAR: Final = frozenset(
    str.split(
        "in during of since until early mid late before after around jahr jahre anfang mitte"
        " ende seit en em annee ano desde depuis"
    )
)
"""Words that make a year of four digits."""

BEFORE_A_DAY: Final = frozenset(
    str.split(
        "on of the since until till by before after from to between around am vom zum bis seit"
        " ab den dem der le du au el del al desde hasta em no dal"
    )
)
"""Words after which two numbers are a day and a month: `am 3.5.`"""

COUNTED: Final = frozenset(
    str.split(
        "people users files lines characters chars tokens words bytes kb mb gb tb ms seconds"
        " minutes hours days weeks months years times steps miles km meters metres percent euros"
        " euro dollars usd eur items notes pages points messages requests rows records models"
        " ways reasons things questions options errors tests cores threads bit bits px"
        " stunden minuten tage tagen wochen zeilen zeichen dateien mal prozent"
        " heures minutes jours lignes fichiers fois horas minutos dias lineas veces"
    )
)
"""What is counted: a number before it is no day and no year."""

UNITS: Final = {
    name: unit
    for unit, names in {
        "day": "day days tag tage tagen jour jours dia dias giorno giorni",
        "week": "week weeks woche wochen semaine semaines semana semanas settimana"
        " settimane",
        "fortnight": "fortnight fortnights quinzaine",
        "month": "month months monat monate monaten mois mes meses mese mesi",
        "year": "year years jahr jahre jahren an ans annee annees ano anos anno anni",
    }.items()
    for name in names.split()
}

FEW: Final = frozenset(
    str.split(
        "few several some paar einige einigen mehreren quelques plusieurs unos unas algunos"
        " algunas varios varias"
    )
)

_DAY_PARTS: Final = {
    "today": "morning afternoon evening",
    "yesterday": "morning afternoon evening",
    "heute": "morgen fruh mittag nachmittag abend nacht",
    "gestern": "morgen fruh mittag nachmittag abend nacht",
    "vorgestern": "morgen abend nacht",
    "hier": "matin soir apres-midi",
    "avant - hier": "soir matin",
}

_TOLD: Final[Mapping[tuple[Unit, int], str]] = {
    ("day", 0): "today|tonight|this morning|this afternoon|this evening|heute"
    "|aujourd ' hui|aujourd hui|ce matin|ce soir|cet apres - midi|hoy|esta manana"
    "|esta tarde|esta noche|hoje|oggi",
    ("day", 1): "yesterday|last night|gestern|letzte nacht|hier|la nuit derniere|ayer"
    "|anoche|ontem|ieri",
    ("day", 2): "the day before yesterday|day before yesterday|vorgestern|avant - hier"
    "|avant hier|anteayer|antier|antes de ayer|anteontem|antes de ontem|l ' altro ieri"
    "|altro ieri",
    ("day", 3): "vorvorgestern|avant - avant - hier|trasanteayer",
    ("day", -1): "tomorrow|morgen|demain|manana|amanha|domani",
    ("day", -2): "the day after tomorrow|day after tomorrow|ubermorgen|apres - demain"
    "|pasado manana|depois de amanha|dopodomani",
    ("week", 0): "this week|diese woche|dieser woche|cette semaine|esta semana",
    ("week", 1): "last week|previous week|letzte woche|letzter woche|letzten woche"
    "|vorige woche|voriger woche|vergangene woche|vergangener woche|semaine derniere"
    "|semaine passee|semana pasada|semana passada|settimana scorsa",
    (
        "week",
        2,
    ): "week before last|the week before last|vorletzte woche|vorletzter woche"
    "|semana antepasada|semana retrasada",
    ("week", -1): "next week|nachste woche|nachster woche|kommende woche"
    "|semaine prochaine|semana que viene|proxima semana",
    ("weekend", 0): "this weekend|dieses wochenende|diesem wochenende|ce week - end"
    "|ce weekend|este fin de semana",
    ("weekend", 1): "last weekend|past weekend|previous weekend|letztes wochenende"
    "|letzten wochenende|vergangenes wochenende|vergangenen wochenende"
    "|week - end dernier|weekend dernier|fin de semana pasado|fin de semana passado",
    ("weekend", -1): "next weekend|nachstes wochenende|nachsten wochenende"
    "|week - end prochain|proximo fin de semana",
    ("month", 0): "this month|diesen monat|diesem monat|dieses monats|ce mois"
    "|ce mois - ci|este mes",
    ("month", 1): "last month|previous month|letzten monat|letztem monat|letzten monats"
    "|vorigen monat|vergangenen monat|mois dernier|mois passe|mes pasado|mes passado"
    "|mese scorso",
    ("month", 2): "month before last|the month before last|vorletzten monat",
    ("month", -1): "next month|nachsten monat|kommenden monat|mois prochain"
    "|mes que viene|proximo mes",
    ("quarter", 0): "this quarter|dieses quartal|diesem quartal|ce trimestre"
    "|este trimestre",
    ("quarter", 1): "last quarter|previous quarter|letztes quartal|letzten quartal"
    "|trimestre dernier|trimestre pasado",
    ("year", 0): "this year|dieses jahr|diesem jahr|dieses jahres|cette annee|este ano",
    ("year", 1): "last year|previous year|letztes jahr|letzten jahr|letzten jahres"
    "|voriges jahr|vorigen jahr|vorigen jahres|vergangenes jahr|vergangenen jahr"
    "|annee derniere|annee passee|an dernier|an passe|ano pasado|ano passado"
    "|anno scorso",
    (
        "year",
        2,
    ): "year before last|the year before last|vorletztes jahr|vorletzten jahr",
    ("year", -1): "next year|nachstes jahr|nachsten jahr|annee prochaine|an prochain"
    "|ano que viene|proximo ano",
    ("rolling", 7): "past week|the past week|past seven days",
    ("rolling", 30): "past month|the past month",
    ("rolling", 365): "past year|the past year",
}

LONGEST_PHRASE: Final = 6
"""Words, at most, of what `relative_phrases` holds."""


@cache
def relative_phrases() -> Mapping[str, tuple[Unit, int]]:
    """Return the phrases that are relative to today: the unit, and how far back."""
    found = {
        phrase: then for then, phrases in _TOLD.items() for phrase in phrases.split("|")
    }
    for day, parts in _DAY_PARTS.items():
        for part in parts.split():
            found[f"{day} {part.replace('-', ' - ')}"] = found[day]
    for umlaut, letters in (("nachst", "naechst"), ("ubermorgen", "uebermorgen")):
        spelled = {p.replace(umlaut, letters): then for p, then in found.items()}
        found = spelled | found
    return found


@cache
def first_words() -> frozenset[str]:
    """Return the words with which those phrases begin."""
    return frozenset(phrase.partition(" ")[0] for phrase in relative_phrases())


LAST: Final = frozenset(
    str.split(
        "last past previous letzten letzter letzte letztes letztem vorigen vergangenen"
        " vergangene vergangener derniers dernieres dernier derniere ultimos ultimas ultimo"
        " ultima scorso scorsa pasado pasada passado passada passe"
    )
)
THIS: Final = frozenset(
    str.split("this diesen dieser diesem dieses diese ce cet cette este esta")
)
NEXT: Final = frozenset(
    str.split(
        "next nachsten nachster nachste nachstes naechsten naechste kommenden prochain prochaine proximo proxima"
    )
)
ON: Final = frozenset(str.split("on am"))
AFTERWARDS: Final = frozenset(
    str.split(
        "dernier derniere pasado pasada passado passada passe prochain prochaine scorso scorsa"
    )
)
"""Of LAST and NEXT, what stands after its noun: `mardi dernier`."""

AGO_AFTER: Final = frozenset(str.split("ago back earlier atras fa"))
AGO_BEFORE: Final = ("vor", "hace", "ha", "il y a", "y a", "cela fait", "voici")
FROM_NOW_BEFORE: Final = ("dans", "dentro de", "en los proximos", "within the next")
FROM_NOW_AFTER: Final = ("from now", "from today", "from tomorrow", "hence")

FILLERS: Final = frozenset(
    str.split(
        ", of on in the ' s at am im der des de la le el del l d du - ( um il dem den les los"
        " の 的 에 의 ， 、"
    )
)
"""What may stand between two parts of one date: `Tuesday of last week`."""

UNTIL: Final = frozenset(
    str.split(
        "to until till through thru bis au a al - – — ~ 〜 ～ 到 至 から まで 부터 and und et y e"
    )
)
BETWEEN: Final = frozenset(str.split("between zwischen entre"))
AND: Final = frozenset(str.split("and und et y e"))
