"""Semantics: sentences that can be understood by themselves.

The phrases are English, German, French, Spanish and Chinese. For other languages only vectors and words are used.

First person: a name instead of "I" is shown but not embedded, because it makes all sentences of a speaker similar. This
works in English only; a sentence in another language is shown unchanged after the speaker's name.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from adaptive_memory_core.channels.language_of_text import language_of
from adaptive_memory_core.channels.words_of_text import words
from adaptive_memory_core.graph.build import sentences
from adaptive_memory_core.hierarchy.nodes import Distilled, HierarchyMessage, SemanticKey
from adaptive_memory_core.late import late_pattern
from adaptive_memory_core.score.newest_first import same_sentence

_TURNS_TO = (
    r"by the way|btw|anyway|any way|changing (?:the )?(?:topic|subject)s?|on another note|on a different note|"
    r"speaking of|quick question|another thing|oh,? (?:right|before i forget)|before i forget|unrelated",
    r"übrigens|apropos|ach,? übrigens|nebenbei|anderes thema|themenwechsel|bevor ich(?: e)?s vergesse|was anderes",
    r"au fait|à propos|d['\u2019]ailleurs|sinon|changeons de sujet|autre chose|avant que j['\u2019]oublie|rien à voir",
    r"por cierto|a propósito|cambiando de tema|otra cosa|antes de que (?:se me olvide|me olvide)|hablando de",
)
_ENDS = (
    r"good ?bye|bye|see (?:you|ya)|talk (?:to you )?(?:soon|later)|good night|take care",
    r"tschüss|tschüs|tschau|ciao|auf wiedersehen|bis (?:bald|später|morgen|dann|dahin)|gute nacht|mach['\u2019]?s gut",
    r"au revoir|à (?:bientôt|demain|plus tard|plus|tout à l['\u2019]heure)|bonne (?:nuit|soirée|journée)|salut",
    r"adiós|hasta (?:luego|mañana|pronto|la vista)|nos vemos|buenas noches|cuídate|chao|chau",
)
_DANGLES = (
    r"it|that|this|these|those|they|he|she|which|and|but|so|because",
    r"es|das|dies(?:e[rs]?)?|sie|er|und|aber|weil|denn|deshalb",
    r"il|elle|ils|elles|ça|cela|c['\u2019]est|ce|et|mais|donc|parce que",
    r"eso|esto|él|ella|ellos|ellas|y|pero|porque|así que",
)
_ONESELF = (
    r"I|my|we|our",
    r"ich|mein\w{0,2}|wir|unser\w{0,2}",
    r"je|mon|notre|nous|(?-i:ma|mes)",
    r"yo|nosotr[oa]s|nuestr[oa]s?|(?-i:mi|mis)",
)
TURNS_TO = late_pattern(
    rf"\W*(?:(?:{'|'.join(_TURNS_TO)})\b|顺便(?:说|问|提)|对了|话说回来|换个话题|另外)", re.IGNORECASE
)
ENDS = late_pattern(rf"(?:\b(?:{'|'.join(_ENDS)})\b|再见|拜拜|晚安|回头见|明天见|保重)\W*$", re.IGNORECASE)
DANGLES = late_pattern(rf"\W*(?:(?:{'|'.join(_DANGLES)})\b|它|他|她|这|那|而且|但是|所以|因为)", re.IGNORECASE)
ONESELF = late_pattern(rf"\b(?:{'|'.join(_ONESELF)})\b|\bj['\u2019]|我", re.IGNORECASE)
SMALL_TALK = frozenset(
    words(
        "yeah yes no ok yep nope hmm wow great good nice cool awesome amazing thanks thank sure okay oh hey hi hello "
        "glad sorry sounds really absolutely definitely totally think know got get lot see look like love let one "
        "thing things way much going go pretty always would could well haha luck congrats congratulations fun "
        "ja nein doch danke bitte super toll klasse schön prima klar genau hallo gern gerne echt wirklich stimmt "
        "oui non merci salut bonjour bien génial vraiment chouette "
        "sí gracias hola claro vale genial bueno bien verdad"
    )
)


_THIRD = {  # by the word after "I"; the apostrophe may have either form
    "am": "is",
    "have": "has",
    "do": "does",
    "go": "goes",
    "was": "was",
    "were": "was",
    "'m": " is",
    "'ve": " has",
    "'ll": " will",
    "'d": " would",
    "don't": "doesn't",
    "haven't": "hasn't",
}
# Words after "I" that do not change: modal verbs, past and conditional forms, and words that are not verbs. Any other
# word is a verb in the present tense, which takes an "s".
_STAYS = """
    ain leant leapt learnt burnt smelt spelt spilt spoilt wanna gonna gotta used can could may might must shall
    should will would ought had did been being became began bent bet bit blew bore bought bound broke brought
    built came caught chose clung cost crept cut dealt drank drew drove dug dreamt ate fed fell felt fled flew
    flung forbade forgot forgave fought found froze gave got grew ground heard held hid hit hung hurt kept knelt
    knew laid lay led left lent let lit lost made meant met overcame paid put quit ran rang rid rode rose said
    sang sank sat saw sent set shone shook shot shut slept slid sold sought spent split spoke spread sprang
    stank stood stole struck stuck stung swam swept swore swung taught thought threw told took tore underwent
    understood upset went wept wet withdrew woke won wore wound wrote and or but too either neither who whom if
    as at in on with for from to of by the a an not never no so than that this there here then now just also
    beat burst cast read always often really still ever even only once both all alone personally myself
    however maybe perhaps
"""
_STAYING = frozenset(_STAYS.split())
_ENDS_AS_PAST = late_pattern(r"(?:[^e]ed|ly|n['\u2019]t)$")  # not "need", "feed"; and adverbs
_ES = ("s", "x", "z", "sh", "ch")
_SUBJECT = late_pattern(
    r"\bI(?!\w)(?P<verb>['\u2019](?:m|ve|ll|d)\b|"
    r"(?: (?:also|still|just|always|often|never|\w+ly))? [a-z]+(?:['\u2019]t)?)?"
)
_OPENING = late_pattern(
    r"^\W*(?:(?:by the way|btw|anyway|oh|well|so|yeah|yes|hey|wow|also|and|but|actually)\b[,!.]?\s+)+(?=\w)",
    re.IGNORECASE,
)
_REST = late_pattern(r"\b(?:my|My|mine|Mine|me|myself)\b")


def in_third_person(sentence: str, speaker: str | None) -> str:
    """The sentence in the third person with its speaker's name. Without a first person, the name is put before it;
    without a known speaker, it is unchanged.

    >>> in_third_person("I've been painting, and I love my garden.", "Ana")
    "Ana has been painting, and Ana loves Ana's garden."
    >>> in_third_person("Oh, by the way, I live in Oslo.", "Ana")
    'Ana lives in Oslo.'
    >>> in_third_person("I read Emma last month.", "Ana")
    'Ana read Emma last month.'
    >>> in_third_person("It rained.", "Ana"), in_third_person("I'm off.", None), in_third_person("I went.", "Ben")
    ('Ana: It rained.', "I'm off.", 'Ben went.')
    """
    if not speaker:
        return sentence
    opening = _OPENING.match(sentence)
    if opening is not None:
        sentence = sentence[opening.end() :]
    changed = _REST.sub(
        lambda found: _other(found[0], speaker), _SUBJECT.sub(lambda found: _as(found, speaker), sentence)
    )
    if changed == sentence or language_of(sentence) is not None:  # "me gusta", "I bambini": not English
        return f"{speaker}: {sentence}"
    return changed


def _as(found: re.Match[str], speaker: str) -> str:
    rest = (found["verb"] or "").replace("\u2019", "'")
    if rest.strip() in _THIRD and not rest.startswith(" "):
        return f"{speaker}{_THIRD[rest]}"
    *before, verb = rest.split(" ")
    return " ".join([f"{speaker}{before[0] if before else ''}", *before[1:], _third(verb)]) if verb else speaker + rest


def _third(verb: str) -> str:
    """The verb in the third person; past forms, modal verbs and other words are unchanged.

    >>> [_third(verb) for verb in ("start", "carry", "watch", "do", "need", "started", "went", "can", "study", "play")]
    ['starts', 'carries', 'watches', 'does', 'needs', 'started', 'went', 'can', 'studies', 'plays']
    """
    if verb in _THIRD:
        return _THIRD[verb].strip()
    if verb in _STAYING or _ENDS_AS_PAST.search(verb):
        return verb
    if verb.endswith("y") and verb[-2:-1] not in ("a", "e", "o", "u"):
        return f"{verb[:-1]}ies"
    return f"{verb}es" if verb.endswith(_ES) else f"{verb}s"


def _other(word: str, speaker: str) -> str:
    return speaker if word in ("me", "myself") else f"{speaker}'s"


class Stated(NamedTuple):
    """A semantic's displayed text, and its time in POSIX seconds."""

    key: SemanticKey
    shown: str
    at: float


def replaced(new: Stated, others: Iterable[Stated]) -> SemanticKey | None:
    """The latest older statement about the same fact; None if there is none.

    >>> home, moved = Stated(1, "Ana lives in Oslo.", 10.0), Stated(2, "Ana lives in Turin.", 20.0)
    >>> replaced(moved, [home]), replaced(home, [moved]), replaced(Stated(3, "Ben lives in Rome.", 30.0), [home, moved])
    (1, None, None)
    """
    same = [one for one in others if one.at < new.at and same_sentence(one.shown, new.shown)]
    return max(same, key=lambda one: (one.at, one.key)).key if same else None


def of_its_speaker(text: str, shown: str) -> bool:
    """Whether the sentence is about its speaker: false if the speaker's name was only put before it.

    >>> of_its_speaker("I live in Oslo.", "Ana lives in Oslo."), of_its_speaker("It rained.", "Ana: It rained.")
    (True, False)
    """
    _, speaker, rest = shown.partition(": ")
    return shown == text or not (speaker and text.endswith(rest))


LONGEST = 400  # characters of a sentence; a longer one is cut
LONG = 400  # characters of a message that allow one more sentence; guess
ENOUGH = 8  # informative words in a sentence; more do not make it better
FEWEST = 2  # informative words in a sentence that may be chosen; one is enough in the first person
AGAIN = 0.3  # weight of a word that a chosen sentence has already; guess
ASKED, DANGLING, OF_ONESELF = 0.3, 0.6, 1.25  # factors for a question, "It ..." and "I ..."; guess
_SPEAKER = late_pattern(r"^(User|Assistant): ", re.MULTILINE)  # in a record with the words of both


class _Sentence(NamedTuple):
    text: str
    turn: HierarchyMessage
    words: frozenset[str]
    worth: float


SEMANTICS = 5  # sentences from an episode, at most; a sweep: docs/research/conversations.md


def distil(messages: Sequence[HierarchyMessage], most: int) -> list[Distilled]:
    """The most informative sentences, in their order: one from each message, more from a long one. A word counts less
    each time it is repeated.

    >>> first = HierarchyMessage("1", "Ana", "Wow! I adopted a puppy in May.", 0.0)
    >>> turns = [first, HierarchyMessage("2", "Ben", "Great!", 1.0)]
    >>> distil(turns, 2)
    [Distilled(text='I adopted a puppy in May.', shown='Ana adopted a puppy in May.', messages=('1',))]
    """
    turns = spoken(messages)
    names = frozenset(word for turn in turns for word in words(turn.speaker or ""))
    left = [one for turn in turns for one in _of(turn, names) if len(one.words) >= _fewest(one)]
    places = {id(one): place for place, one in enumerate(left)}
    chosen: list[_Sentence] = []
    of_turn: Counter[str] = Counter()
    covered: Counter[str] = Counter()
    while left and len(chosen) < most:
        best = max(left, key=lambda one: (_gain(one, covered), -places[id(one)]))
        chosen.append(best)
        covered.update(best.words)
        of_turn[best.turn.id] += 1
        room = of_turn[best.turn.id] <= len(best.turn.text) // LONG
        left = [one for one in left if (room or one.turn is not best.turn) and one.text != best.text]
    chosen.sort(key=lambda one: places[id(one)])
    return [Distilled(one.text, in_third_person(one.text, one.turn.speaker), (one.turn.id,)) for one in chosen]


def spoken(messages: Sequence[HierarchyMessage]) -> list[HierarchyMessage]:
    """The messages by speaker: a message with a whole turn of user and assistant is divided.

    >>> turn = HierarchyMessage("1", "User", "User: I adopted a puppy.\\nAssistant: Congratulations!", 0.0)
    >>> [(one.speaker, one.text) for one in spoken([turn])]
    [('User', 'I adopted a puppy.'), ('Assistant', 'Congratulations!')]
    """
    return [part for one in messages for part in _parts(one)]


def _parts(message: HierarchyMessage) -> list[HierarchyMessage]:
    marks = list(_SPEAKER.finditer(message.text))
    if not marks or marks[0].start() > 0:
        return [message]
    ends = [*(mark.start() for mark in marks[1:]), len(message.text)]
    return [
        message._replace(speaker=mark[1], text=message.text[mark.end() : end].strip())
        for mark, end in zip(marks, ends, strict=True)
    ]


def _fewest(one: _Sentence) -> int:
    return 1 if ONESELF.search(one.text) else FEWEST


def _of(turn: HierarchyMessage, names: frozenset[str]) -> list[_Sentence]:
    """The sentences of a turn with their worth. The names of speakers do not count as words."""
    found = []
    for text in sentences(turn.text):
        short = text[:LONGEST]
        own_words = frozenset(words(short)) - SMALL_TALK - names
        worth = ASKED if short.rstrip().endswith(("?", "\uff1f")) else 1.0
        worth *= DANGLING if DANGLES.match(short) else 1.0
        worth *= OF_ONESELF if ONESELF.search(short) else 1.0
        found.append(_Sentence(short, turn, own_words, worth))
    return found


def _gain(one: _Sentence, covered: Counter[str]) -> float:
    """The value of what a sentence adds to the chosen ones, limited so that long sentences have no advantage."""
    new = sum(AGAIN ** covered[word] for word in one.words)
    return one.worth * math.log1p(min(new, ENOUGH))
