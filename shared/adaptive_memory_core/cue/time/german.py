"""The `German` language for times in questions: "vor drei Wochen", "im März 2021", "ursprünglich"."""

from __future__ import annotations

from adaptive_memory_core.cue.time import phrases
from adaptive_memory_core.cue.time.calendar import WEEKDAYS
from adaptive_memory_core.cue.time.phrases import PhraseLanguage, PhraseRule, Vocabulary, any_of, pattern

_MONTHS = dict(
    zip(
        "januar februar märz april mai juni juli august september oktober november dezember".split(),
        range(1, 13),
        strict=True,
    )
) | {"jänner": 1, "maerz": 3}
_WEEKDAYS = dict(zip("montag dienstag mittwoch donnerstag freitag samstag sonntag".split(), WEEKDAYS, strict=True)) | {
    "sonnabend": "saturday"
}
_SEASONS = {"frühling": "spring", "frühjahr": "spring", "sommer": "summer", "herbst": "autumn", "winter": "winter"}
_UNITS = {
    "minute": "minute", "stunde": "hour", "tag": "day", "woche": "week", "monat": "month", "jahr": "year",
    "jahrzehnt": "decade", "wochenende": "weekend", "quartal": "quarter",
}  # fmt: skip
_PLURALS = {
    "minuten": "minute", "stunden": "hour", "tage": "day", "tagen": "day", "wochen": "week", "monate": "month",
    "monaten": "month", "jahre": "year", "jahren": "year", "jahrzehnten": "decade", "jahrzehnte": "decade",
}  # fmt: skip
_ALL_UNITS = _UNITS | _PLURALS
_NUMBERS: dict[str, float | str] = {**dict(
    zip("zwei drei vier fünf sechs sieben acht neun zehn elf zwölf".split(), range(2, 13), strict=True)
), "ein": 1, "eine": 1, "einem": 1, "einer": 1, "einen": 1, "anderthalb": 1.5, "zwanzig": 20, "dreißig": 30,
     "paar": "few", "einigen": "few", "wenigen": "few", "mehreren": "several"}  # fmt: skip
_M, _D, _S = any_of(_MONTHS), any_of(_WEEKDAYS), any_of(_SEASONS)
_COUNT, _UNIT, _YEAR = (
    rf"(?P<count>\d{{1,3}}|{any_of(_NUMBERS)})",
    rf"(?P<unit>{any_of(_ALL_UNITS)})",
    r"(?P<year>(?:1\d|20)\d\d)",
)
_LAST = r"(?:letzte[nmrs]?|vergangene[nmrs]?|vorige[nmrs]?)"
_RULES = (
    PhraseRule(pattern(r"(?P<day>\d{1,2})\.\s?(?P<month>\d{1,2})\.\s?(?P<year>(?:19|20)\d\d)"), phrases.date_in_month(_MONTHS)),
    PhraseRule(pattern(rf"(?P<day>\d{{1,2}})\.\s?(?P<month>{_M}),?\s(?:des Jahres )?{_YEAR}"), phrases.date_in_month(_MONTHS)),
    PhraseRule(pattern(rf"(?P<day>\d{{1,2}})\.\s?(?P<month>{_M})"), phrases.date_in_month(_MONTHS), past=True),
    PhraseRule(pattern(rf"(?:im )?(?P<month>{_M}) (?:des Jahres )?{_YEAR}"), phrases.month(_MONTHS)),
    PhraseRule(pattern(rf"(?:im )?(?P<month>{_M}) {_LAST} Jahres"), phrases.month(_MONTHS, year_back=1)),
    PhraseRule(pattern(rf"{_LAST} (?P<month>{_M})"), phrases.month(_MONTHS)),
    PhraseRule(pattern(rf"(?:im )?(?P<season>{_S}) {_YEAR}"), phrases.season_phrase(_SEASONS)),
    PhraseRule(pattern(rf"{_LAST} (?P<season>{_S})"), phrases.season_phrase(_SEASONS, over=True)),
    PhraseRule(pattern(rf"vor (?:etwa |rund |ungefähr |ca\. |über |einem |ein )?{_COUNT} {_UNIT}"), phrases.ago(_ALL_UNITS, _NUMBERS)),
    PhraseRule(pattern(rf"(?:in den |die |während der |der )?{_LAST} {_COUNT} {_UNIT}"), phrases.rolling(_ALL_UNITS, _NUMBERS)),
    PhraseRule(pattern(rf"vorletzte[nmrs]? (?P<unit>{any_of(_UNITS)})s?"), phrases.whole_unit(_UNITS, 2)),
    PhraseRule(pattern(rf"{_LAST} (?P<unit>{any_of(_UNITS)})s?"), phrases.whole_unit(_UNITS, 1)),
    PhraseRule(pattern(rf"diese[nmrs]? (?P<unit>{any_of(_UNITS)})s?"), phrases.whole_unit(_UNITS, 0), past=True),
    PhraseRule(pattern(rf"{_LAST} (?P<weekday>{_D})"), phrases.weekday(_WEEKDAYS)),
    PhraseRule(pattern(rf"am (?P<weekday>{_D})"), phrases.weekday(_WEEKDAYS), past=True),
    PhraseRule(pattern(r"vorgestern(?: (?:abend|morgen|nacht))?"), phrases.days_back(2)),
    PhraseRule(pattern(r"gestern(?: (?:abend|morgen|früh|mittag|nachmittag|nacht))?"), phrases.days_back(1)),
    PhraseRule(pattern(r"heute(?: (?:früh|morgen|vormittag|mittag|nachmittag|abend))?"), phrases.days_back(0), past=True),
    PhraseRule(pattern(rf"im (?P<month>{_M})"), phrases.month(_MONTHS), past=True),
    PhraseRule(pattern(rf"(?:(?<=seit )|(?<=nach )|(?<=bis )|(?<=ab ))(?P<month>{_M})"), phrases.month(_MONTHS), past=True),
    PhraseRule(pattern(rf"(?:im Jahre? |in |anno )?(?<![\d.,/:-]){_YEAR}(?! (?:Euro|Stück|Meter|Kilometer|km|Leute|Menschen|Mal))"),
         phrases.year),
)  # fmt: skip
_GERMAN = Vocabulary(
    code="de",
    some=pattern(
        rf"\d{{4}}|\d+\.\s?\d+\.|{_M}|{_D}|vor(?:gestern|letzte\w?|ige\w?|her)?|gestern|heute|letzte\w?|vergangene\w?|diese\w?"
        r"|ursprünglich|anfangs|zuerst|zunächst|am anfang|zu beginn|früher|damals|einst|derzeit|aktuell\w*|momentan|jetzt"
        r"|heutzutage|zurzeit|neueste\w?|neulich|gegenwärtig|noch immer|immer noch|nicht mehr|ehemalige\w?|im moment"
    ),
    rules=_RULES,
    leans=(
        ("earliest", pattern(r"ursprünglich\w*|anfangs|ganz am anfang|am anfang|zu beginn|zum ersten mal|als erstes")),
        (
            "past",
            pattern(r"früher(?! als)|damals|einst|vor langer zeit|ehemalige[nmrs]?|in der vergangenheit|seinerzeit"),
        ),
        (
            "present",
            pattern(
                r"derzeit\w*|aktuell\w*|momentan|im moment|jetzt|heutzutage|zurzeit|gegenwärtig|noch immer|immer noch"
                r"|nicht mehr|neueste[nmrs]?|zuletzt|neulich"
            ),
        ),
    ),
    bound=pattern(
        r"(?P<since>seit|ab)(?: dem| der| ende| anfang)? \0|(?P<before>vor)(?: dem| der)? \0|(?P<until>bis)(?: zum| zur)? \0"
        r"|(?P<after>nach)(?: dem| der)? \0",
    ),
    past=pattern(
        r"habe?n?|hast|hat|hatten?|war(?:en|st)?|wurden?|gab|ging(?:en)?|kam(?:en)?|sagten?|bin|ist|sind|lief(?:en)?|\w+te|\w+ten"
    ),
    future=pattern(
        r"werden?|wird|wirst|nächste\w?|kommende\w?|morgen früh|übermorgen|soll(?:en|st|te)?|muss|müssen|fällig|jeden?"
    ),
)


class German(PhraseLanguage):
    """German questions; days begin and end in `zone`.

    >>> [sign.phrase for sign in German()("Was haben wir vor drei Wochen beschlossen?", 1.7e9)]
    ['vor drei Wochen']
    """

    vocabulary, hint = _GERMAN, _GERMAN.hint
