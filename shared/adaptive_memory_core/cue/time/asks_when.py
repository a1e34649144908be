"""Does a cue ask for a time ("when ...?", "wann ...?"), or say one? Then turns that say a time count more."""

from __future__ import annotations

import re

from adaptive_memory_core.cue.time.ascii_letters import some_in, words_of

_ASKS = re.compile(
    r"^\W*(?:(?:and|but|so)\s+)?when(?:'s|\s+(?:is|was|were|are|am|do|does|did|has|have|had|will|would|can|could|should))\b"
    r"|\b(?:what|which)\s+(?:date|day|week|month|year|time)\b|\bhow\s+long\b|\bsince\s+when\b",
    re.IGNORECASE,
)
_MAY_ASK = words_of("when what which how")
_ASKS_ELSEWHERE = re.compile(  # German, French, Spanish, Chinese
    r"^\W*(?:und\s+|seit\s+|bis\s+)?wann\b|\bwelche[mnrs]?\s+(?:datum|tag|woche|monat|jahr)\b|\bwie\s+lange\b"
    r"|^\W*(?:et\s+|depuis\s+)?quand\b|\bquel(?:le)?\s+(?:date|jour|semaine|mois|année)\b|\bcombien\s+de\s+temps\b"
    r"|^\W*(?:y\s+|desde\s+)?cu[aá]ndo\b|\bqu[eé]\s+(?:fecha|d[ií]a|semana|mes|año)\b|\bcu[aá]nto\s+tiempo\b"
    r"|什么时候|什麼時候|何时|何時|哪一?年|哪一?天|哪个?月|几月|几号|多久",
    re.IGNORECASE,
)
_NEEDS = words_of("wann welche lange quand quel combien cuando que cuanto")  # an ASCII cue without them asks it not
SAYS = (
    *"yesterday today tonight tomorrow ago last next recently".split(),  # noqa: SIM905 - as below
    *"day days week weeks weekend month months year years morning evening night".split(),  # noqa: SIM905
    *"monday tuesday wednesday thursday friday saturday sunday".split(),  # noqa: SIM905 - one a line would be a page
    *"january february march april may june july august september october november december".split(),  # noqa: SIM905
    *"spring summer fall autumn winter early mid late".split(),  # noqa: SIM905
    *map(str, range(1900, 2101)),
)
_AS_NAMES = frozenset("may march fall early mid late".split())  # noqa: SIM905 - of a cue these say no time, or hardly
SAYS_ELSEWHERE = {  # by language; none that is a word of English as well
    "de": "gestern heute morgen übermorgen vorgestern woche wochenende monat jahr jahre abend nacht montag dienstag "
    "mittwoch donnerstag freitag samstag sonntag januar februar märz juni juli oktober dezember frühling sommer",
    "fr": "aujourd'hui demain semaine lundi mardi mercredi jeudi vendredi samedi dimanche janvier février "
    "avril juin juillet août septembre octobre novembre décembre printemps automne soir matin",
    "es": "ayer mañana semana año miércoles jueves viernes domingo enero febrero abril junio julio "
    "agosto septiembre octubre noviembre diciembre primavera verano otoño invierno anoche",
}
SAYS_IN_PAIRS = tuple(  # of Chinese, where nothing separates words
    "昨天 今天 明天 前天 后天 去年 今年 明年 前年 星期 周末 上周 下周 上月 下月 早上 晚上 下午".split()  # noqa: SIM905
)
SAID_ONLY = 0.5  # share, where a cue says a time and asks for none; benchmarks/recall_quality.py
ALONE = 0.5  # share for a text of no conversation, which may say a time of anything; .5 to 1, same benchmark
_WORD = re.compile(r"[^\W_]+")
_SAYS = frozenset((*SAYS, *" ".join(SAYS_ELSEWHERE.values()).replace("'", " ").split())) - _AS_NAMES
_CAPITAL = frozenset(("May", "March"))
_DATES = (
    frozenset((*SAYS[SAYS.index("january") : SAYS.index("december") + 1], *map(str, range(1900, 2101)))) - _AS_NAMES
)


def asks_when(cue: str) -> bool:
    """Whether a time would answer it.

    >>> [asks_when(cue) for cue in ("When did Ana move?", "what year was that", "what did I say when we met?")]
    [True, True, False]
    >>> [asks_when(cue) for cue in ("Wann zog Ana um?", "Quel jour était-ce ?", "¿Cuándo llega?", "你什么时候搬家的")]
    [True, True, True, True]
    """
    plain, lower = cue.isascii(), cue.lower()
    if (not plain or some_in(lower, _MAY_ASK)) and _ASKS.search(cue) is not None:
        return True
    return (not plain or some_in(lower, _NEEDS)) and _ASKS_ELSEWHERE.search(cue) is not None


def says_a_time(cue: str) -> bool:
    """Whether it says a time itself.

    >>> [says_a_time(cue) for cue in ("What did Ana do in June?", "Whom did I meet last week?", "who may come?")]
    [True, True, False]
    >>> [says_a_time(cue) for cue in ("Was war gestern?", "\u6211\u6628\u5929\u53bb\u4e86", "In 2023?", "room 4")]
    [True, True, True, False]
    """
    said = _WORD.findall(cue)
    if not _SAYS.isdisjoint(map(str.lower, said)) or not _CAPITAL.isdisjoint(said):
        return True
    return not cue.isascii() and any(pair in cue for pair in SAYS_IN_PAIRS)


def how_much_a_time_counts(cue: str) -> float:
    """How much it counts for a turn that it says a time, as a share of what `Fusion.dated` gives.

    >>> [how_much_a_time_counts(cue) for cue in ("When did Ana move?", "What did Ana do in June?", "Who is Ana?")]
    [1.0, 0.5, 0.0]
    """
    return 1.0 if asks_when(cue) else SAID_ONLY if says_a_time(cue) else 0.0


def how_much_a_time_counts_alone(cue: str) -> float:
    """That for a text of no conversation, which is no answer to "tonight": the cue asks for a time, or says a date.

    >>> cues = ("When was it built?", "Who led it in 1950?", "What do I cook tonight?")
    >>> [how_much_a_time_counts_alone(cue) for cue in cues]
    [0.5, 0.25, 0.0]
    """
    return ALONE * (1.0 if asks_when(cue) else SAID_ONLY if says_a_date(cue) else 0.0)


def says_a_date(cue: str) -> bool:
    """Whether it says a year or a month.

    >>> [says_a_date(cue) for cue in ("What did Ana do in June?", "in 2023?", "Whom did I meet last week?")]
    [True, True, False]
    """
    said = _WORD.findall(cue)
    return not _DATES.isdisjoint(map(str.lower, said)) or not _CAPITAL.isdisjoint(said)
