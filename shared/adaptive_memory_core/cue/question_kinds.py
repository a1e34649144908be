"""Building a query from an agent's state, and recognising the kind of a question.

Several things: "What should I buy?" and "which tickets are closed?" have many answers at once, and the newest is only
one of them. The rules are English, with a few words of other languages. Other questions count as asking for one thing.

A name: English only. Capitals mark names in English, but every noun in German, and Chinese has none.

A set: stricter than `asks_for_many`. Other questions count as asking for one fact, which loses nothing. English, and
the simplest forms of German, French, Spanish and Chinese.
"""

from __future__ import annotations

import re
from functools import lru_cache

from adaptive_memory_core.channels.words_of_text import words
from adaptive_memory_core.cue.time.english_relative import PAST_TENSE
from adaptive_memory_core.cue.time.intent import in_ascii_letters, some_in, split_words
from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.late import late_pattern
from adaptive_memory_core.records import AgentState, Cue

_MODAL = (
    r"(?:should|shall|can|could|may|might|must|would|will|need|have to|has to|do (?:i|we) (?:\w+ )?(?:need|have to))"
)
_DONE_OFTEN = r"\w*(?:ed|en|wn|ne|nt|ught|ung|ade|aid|been|seen|met|read|got|had|won|put|cut)\b"
_SEVERAL = r"(?:are|were|people|children|men|women|other|others|else|of)"
_NO_PLURAL_OF_MANY = r"(?:is|was|does|\w*(?:ss|us|is|as|'s))"
_ENGLISH = (  # each begins at a word boundary
    rf"(?:what|which|whom?|where|when|how) (?:\w+ ){{0,2}}?{_MODAL}\b",
    rf"(?:what|which|whom?|where|how)(?: \w+)? (?:has|have)(?= \w+.* {_DONE_OFTEN})",
    rf"(?:what|which) (?:\w+ )??(?!{_NO_PLURAL_OF_MANY}\b)(?-i:[a-z])\w+s\b(?! (?:name|number|version|as|in|the)\b)",
    rf"(?:what|which|who|whom) {_SEVERAL}\b",
    r"what (?:\w+ed|happen\w*|made|went|came|brought|gave|took)\b",
    r"what (?:do|does|did) (?!.*\b(?:cost|weigh|drive|study|earn|measure|prefer)\W*$)(?!.* for a living\b)",
    r"(?:why|how (?:do|to|can|come|about|is it|was|were|did)|how are (?!old|tall))\b",
    r"(?:any|anything|anyone|anybody|all|every|everything|everyone|everybody|each|list|several|various|both)\b",
    r"(?:many of|some|something|ideas?|tips?|advice|recommend\w*|suggest\w*|summar\w+|overview|examples?|options)\b",
    r"(?:reasons|remind|tell me (?:about|more)|how (?:many|often) times?)\b",
)
_OTHERS = (  # each begins at a word boundary
    r"(?:was|wen|wo|wie) (?:soll|muss|kann|darf|könnte|brauch)\w*|welche\b.*\b(?:sind|haben|spricht|mag)\b",
    r"(?:wer sind|warum|wieso|alle|alles|jede\w*|wohin (?:sind|bin))\b",
    r"qu'est-ce que .*\b(?:dois|peux|faut|aime|veux)\b|(?:quel(?:le)?s|pourquoi|tous|toutes|comment faire)\b",
    r"qué .*\b(?:debo|puedo|tengo que|hay que|gusta)\b|qué \w+s\b|(?:cuáles|quiénes|por qué|todos|todas)\b",
)
_UNSPACED = r"哪些|有什么|要买|会说|(?<!最)喜欢|为什么|怎么(?!称)|怎样|所有|何を(?:買|し)|なぜ|すべて|全部"
_MANY = late_pattern(rf"\b(?:{'|'.join((*_ENGLISH, *_OTHERS))})|{_UNSPACED}", re.IGNORECASE)


@lru_cache(maxsize=512)
def asks_for_many(cue: str) -> bool:
    """Whether the question is likely to have several answers at a time.

    >>> [asks_for_many(cue) for cue in ("what should I buy?", "which tickets are closed?", "what does Ilse like?")]
    [True, True, True]
    >>> [asks_for_many(cue) for cue in ("where does Ilse live?", "what is my address?", "Which database does it use?")]
    [False, False, False]
    >>> asks_for_many("which Kubernetes version do we run?"), asks_for_many("which Beatles songs does Ana know?")
    (False, True)
    """
    return _MANY.search(cue) is not None


_PLACES = "place|country|countries|state|region|city|cities|town|village|island|park|beach|street|restaurant|cafe|bar"
_PLACES += "|hotel|shop|store|museum|school|college|university|universities"
_WORKS = "book|novel|magazine|play|movie|film|show|series|song|album|podcast|game"
_PEOPLE = "person|people|friend|author|writer|actor|actress|director|singer|musician|composer|artist|painter|character"
_GROUPS = "band|team|club|company|companies|brand|organi[sz]ation|language"
_NAMED = f"(?:{_PLACES}|{_WORKS}|{_PEOPLE}|{_GROUPS})s?"
_ASKS_NAME = late_pattern(
    r"^\W*(?:\w+ )?(?:who|whom|whose|where|which)\b|\b(?:names?|titles?|called)\b"
    rf"|\b(?:what|which) (?:\S+ ){{0,2}}{_NAMED}\b",
    re.IGNORECASE,
)
_MAY_ASK_NAME = split_words("who where which what name title called")


def asks_for_name(cue: str) -> bool:
    """Whether a name would answer the question.

    >>> [asks_for_name(cue) for cue in ("Who is Rex?", "And where does Ana live?", "What old books did Ana read?")]
    [True, True, True]
    >>> [asks_for_name(cue) for cue in ("When did Ana move?", "What does Ana like?", "how many friends", "")]
    [False, False, False, False]
    """
    return some_in(cue.lower(), _MAY_ASK_NAME) and _ASKS_NAME.search(cue) is not None


_NO_PLURAL = r"(?:is|was|does|has|\w*(?:ss|us|is|as|'s|ous))"
_BEFORE = r"(?:(?:are|were|other|different|various|new|all|some|of|the) )*(?:[a-z'-]+ ){0,2}?"
_PEOPLE_IN_SETS = r"(?:people|children|kids|men|women)"
_DONE_IN_SETS = r"\w*(?:ed|en|wn|ne|nt|ught|made|met|read|had|won)"
_SETS = (
    rf"\b(?:what|which) {_BEFORE}(?:(?!{_NO_PLURAL}\b)[a-z-]{{2,}}s|{_PEOPLE_IN_SETS})\b(?! (?:name|number)\b)",
    r"\b(?:what|which) (?:kinds?|types?|sorts?) of\b",
    r"\b(?:how many|in (?:what|which) ways|who (?:are|were|all|else))\b",
    rf"\b(?:what|where|who|which)(?: \w+)? (?:has|have)\b(?=.* {_DONE_IN_SETS}\b)",
    r"\b(?:all|every|everything|list|various|both|several|examples?|overview|summar\w+)\b",
    r"\b(?:welche[nrs]? \w+(?:en|er|s)\b(?! (?:ist|war)\b)|wie ?viele|was für|alles?|sämtliche|mehrere|beiden?)\b",
    r"\b(?:quel(?:le)?s|lesquel(?:le)?s|combien d(?:e |['\u2019])|tou(?:s|tes) les|plusieurs)",
    r"\b(?:cuáles|cuánt[oa]s|qué \w+[aeiou]s|tod[oa]s l[oa]s|vari[oa]s)\b",
    r"哪些|几[个种只本次位部]|所有|有什么",
)
_SET = late_pattern("|".join(_SETS), re.IGNORECASE)


@lru_cache(maxsize=512)
def asks_for_set(cue: str) -> bool:
    """Whether the answer is a set of things.

    >>> [asks_for_set(cue) for cue in ("Which books did they read?", "What are Ana's hobbies?", "How many pets?")]
    [True, True, True]
    >>> [asks_for_set(cue) for cue in ("Where does Ana live?", "What is her job?", "When was the last bus?")]
    [False, False, False]
    >>> [asks_for_set(cue) for cue in ("Welche Hobbys hat Ana?", "Quels livres ?", "¿Qué libros?", "她看过哪些书?")]
    [True, True, True, True]
    >>> [asks_for_set(cue) for cue in ("Wo wohnt Ana?", "Welche Farbe mag sie?", "Où habite Ana ?", "¿Dónde vive?")]
    [False, False, False, False]
    """
    return _SET.search(cue) is not None


_ASKS_WHEN = late_pattern(
    r"^\W*(?:(?:and|but|so)\s+)?when(?:'s|\s+(?:is|was|were|are|am|do|does|did|has|have|had|will|would|can|could|should))\b"
    r"|\b(?:what|which)\s+(?:date|day|week|month|year|time)\b|\bhow\s+long\b|\bsince\s+when\b",
    re.IGNORECASE,
)
_MAY_ASK_WHEN = split_words("when what which how")
_ASKS_ELSEWHERE = late_pattern(  # German, French, Spanish, Chinese
    r"^\W*(?:und\s+|seit\s+|bis\s+)?wann\b|\bwelche[mnrs]?\s+(?:datum|tag|woche|monat|jahr)\b|\bwie\s+lange\b"
    r"|^\W*(?:et\s+|depuis\s+)?quand\b|\bquel(?:le)?\s+(?:date|jour|semaine|mois|année)\b|\bcombien\s+de\s+temps\b"
    r"|^\W*(?:y\s+|desde\s+)?cu[aá]ndo\b|\bqu[eé]\s+(?:fecha|d[ií]a|semana|mes|año)\b|\bcu[aá]nto\s+tiempo\b"
    r"|什么时候|什麼時候|何时|何時|哪一?年|哪一?天|哪个?月|几月|几号|多久",
    re.IGNORECASE,
)
_WHEN_NEEDS = split_words(
    "wann welche lange quand quel combien cuando que cuanto"
)  # an ASCII query without any of these does not ask for a time
SAYS = (
    *"yesterday today tonight tomorrow ago last next recently".split(),  # noqa: SIM905 - as below
    *"day days week weeks weekend month months year years morning evening night".split(),  # noqa: SIM905
    *"monday tuesday wednesday thursday friday saturday sunday".split(),  # noqa: SIM905 - one a line would be a page
    *"january february march april may june july august september october november december".split(),  # noqa: SIM905
    *"spring summer fall autumn winter early mid late".split(),  # noqa: SIM905
    *map(str, range(1900, 2101)),
)
SAYS_ELSEWHERE = {  # by language; without words that are also English
    "de": "gestern heute morgen übermorgen vorgestern woche wochenende monat jahr jahre abend nacht montag dienstag "
    "mittwoch donnerstag freitag samstag sonntag januar februar märz juni juli oktober dezember frühling sommer",
    "fr": "aujourd'hui demain semaine lundi mardi mercredi jeudi vendredi samedi dimanche janvier février "
    "avril juin juillet août septembre octobre novembre décembre printemps automne soir matin",
    "es": "ayer mañana semana año miércoles jueves viernes domingo enero febrero abril junio julio "
    "agosto septiembre octubre noviembre diciembre primavera verano otoño invierno anoche",
}
SAYS_IN_PAIRS = tuple(  # in Chinese, which has no spaces between words
    "昨天 今天 明天 前天 后天 去年 今年 明年 前年 星期 周末 上周 下周 上月 下月 早上 晚上 下午".split()  # noqa: SIM905
)


def asks_when(cue: str) -> bool:
    """Whether a time would answer the question.

    >>> [asks_when(cue) for cue in ("When did Ana move?", "what year was that", "what did I say when we met?")]
    [True, True, False]
    >>> [asks_when(cue) for cue in ("Wann zog Ana um?", "Quel jour était-ce ?", "¿Cuándo llega?", "你什么时候搬家的")]
    [True, True, True, True]
    """
    plain, lower = cue.isascii(), cue.lower()
    if (not plain or some_in(lower, _MAY_ASK_WHEN)) and _ASKS_WHEN.search(cue) is not None:
        return True
    return (not plain or some_in(lower, _WHEN_NEEDS)) and _ASKS_ELSEWHERE.search(cue) is not None


_HISTORY = late_pattern(
    r"\b(?:histor\w+|timeline|chronolog\w+|over (?:time|the (?:years|months|weeks|course))|so far|ever|previous\w*"
    r"|earlier|former\w*|used to|until|till|back then|(?:not|no) longer|any ?more|evolv\w+"
    r"|change[ds]?|changing|differ\w*|compare\w*|(?<!how )old|first|before)\b",
    re.IGNORECASE,
)
_IN_OTHER_LANGUAGES = late_pattern(
    r"\b(?:früher|vorher|davor|ursprünglich|zuerst|damals|ehemals|wohnte|arbeitete|hieß|hatte"
    r"|avant|auparavant|autrefois|d'abord|jadis|était|habitait|travaillait|antes|anteriormente|primero|vivía|trabajaba)\b"
    r"|以前|之前|原来|曾经|过去|最初|从前|かつて|最初|でした|ていました|예전|이전|처음|살았|했어",
    re.IGNORECASE,
)
_NEEDS_ELSEWHERE = split_words(  # an ASCII query without any of these does not ask for history in another language
    "vorher davor zuerst damals ehemals wohnte arbeitete hatte avant auparavant autrefois d'abord jadis habitait "
    "travaillait antes primero trabajaba"
)
_NEEDS = split_words(  # a query without any of these, in lower case, does not ask for history
    "histor timeline chronolog over far ever prev earlier former used until till back longer more "
    "evolv chang differ compar old first before"
)


@lru_cache(maxsize=512)
def asks_history(cue: str) -> bool:
    """Whether the question asks for older statements, alone or in addition to current ones.

    >>> [asks_history(cue) for cue in ("where did Ilse live before?", "how did the plan change?")]
    [True, True]
    >>> [asks_history(cue) for cue in ("where does Ilse live?", "how old is Ilse?")]
    [False, False]
    >>> asks_history("wo hat Ilse früher gewohnt?"), asks_history("wo wohnt Ilse?")
    (True, False)
    """
    plain = cue.isascii()
    lower = cue.lower() if plain else in_ascii_letters(cue).lower()
    if any(map(lower.__contains__, _NEEDS)) and any(map(_is_no_name, _HISTORY.finditer(cue))):
        return True
    may_be_elsewhere = not plain or any(map(lower.__contains__, _NEEDS_ELSEWHERE))
    return may_be_elsewhere and _IN_OTHER_LANGUAGES.search(cue) is not None


def _is_no_name(found: re.Match[str]) -> bool:
    """Whether a word is in lower case or begins the query: false for "Before" in "who sang Before He Cheats?"."""
    return found[0].islower() or found.start() == 0


@lru_cache(maxsize=512)
def in_past_tense(text: str) -> bool:
    """Whether the text has a verb in the past tense; such a question is about the past.

    >>> in_past_tense("where did Ilse live?"), in_past_tense("where does Ilse live?")
    (True, False)
    """
    return PAST_TENSE.search(text) is not None


EDGES = " .,;:!?\"'`()[]{}\u2019\u201c\u201d\u2026\u3002\uff0c\uff1f\uff01\u3001"


def names_in(text: str) -> frozenset[str]:
    """The words with a capital that do not begin a sentence."""
    found: list[str] = []
    start = True
    for one in text.split():
        word = one.strip(EDGES)
        if word[:1].isupper() and not start:
            found += words(word)
        start = one[-1] in ".!?:"
    return frozenset(found)


SCRATCHPAD = 400  # characters at its end that describe the agent's present work; guess


def build_cue(state: AgentState) -> Cue:
    """The query for a state: its text describes what the agent is doing, its words are the user's own.

    >>> cue = build_cue(AgentState(goal="Ship v2", open_loops=["which region?"], utterance="error E1234 again"))
    >>> print(cue.text)
    Goal: Ship v2
    Open questions: which region?
    >>> cue.own_words
    'error E1234 again'
    """
    lines = {
        "Goal": state.goal,
        "Current step": state.active_subtask,
        "Open questions": "; ".join(loop.strip() for loop in state.open_loops if loop.strip()),
        "Notes": _end(state.scratchpad),
    }
    text = "\n".join(f"{name}: {' '.join(said.split())}" for name, said in lines.items() if said.strip())
    if not text and not state.utterance.strip():
        raise InvalidInputError("The AgentState is blank. Give at least its goal or the user's utterance.")
    return Cue(text or state.utterance, words=state.utterance if state.utterance.strip() else None, state=state)


def drift(cue: Cue, state: AgentState) -> str | None:
    """A warning if the state has changed since the cue was built; None if it has not.

    A cue that is not rebuilt keeps finding what was useful at the start of the task, and seems to work.

    >>> early = build_cue(AgentState(goal="Ship v2", active_subtask="write the tests"))
    >>> drift(early, AgentState(goal="Ship v2", active_subtask="deploy"))
    'the cue is stale: active_subtask has changed since it was built; build it again, or recall by the state itself'
    >>> drift(early, AgentState(goal="Ship v2", active_subtask="write the tests")) is None
    True
    """
    before = cue.state
    if before is None:
        fresh = build_cue(state)
        return (
            None
            if _share(cue, fresh) >= SHARED
            else "the cue has little in common with the agent's state: build it from that"
        )
    names = ("goal", "active_subtask", "open_loops", "utterance", "scratchpad")
    moved = [name for name in names if getattr(before, name) != getattr(state, name)]
    if not moved:
        return None
    have = "has" if len(moved) == 1 else "have"
    return (
        f"the cue is stale: {', '.join(moved)} {have} changed since it was built; build it again, or recall by the "
        "state itself"
    )


SHARED = 0.2  # of the cue's words that occur in the state; guess


def _share(cue: Cue, fresh: Cue) -> float:
    own = set(f"{cue.text} {cue.own_words}".lower().split())
    return len(own & set(f"{fresh.text} {fresh.own_words}".lower().split())) / max(1, len(own))


def _end(scratchpad: str) -> str:
    """The end of the notes, from the start of a word."""
    end = scratchpad.strip()
    return end if len(end) <= SCRATCHPAD else end[-SCRATCHPAD:].partition(" ")[2]
