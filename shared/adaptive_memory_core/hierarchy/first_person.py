"""How is a sentence shown by itself? With its speaker's name for "I"; what is embedded stays as it was said.

Names in the place of "I" make vectors worse: every sentence of a speaker is like every other then. English; what is
said in another language is shown as it was said, with the name before it.
"""

from __future__ import annotations

import re

from adaptive_memory_core.channels.words.language_of_text import language_of

_THIRD = {  # of what stands behind "I", with an apostrophe of either form
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
# Behind "I", what stays as it is: modal verbs, what is past or may be, and what is no verb. All else is a verb in the
# present, which takes an "s".
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
_ENDS_AS_PAST = re.compile(r"(?:[^e]ed|ly|n['\u2019]t)$")  # not "need", "feed"; and adverbs
_ES = ("s", "x", "z", "sh", "ch")
_SUBJECT = re.compile(
    r"\bI(?!\w)(?P<verb>['\u2019](?:m|ve|ll|d)\b|"
    r"(?: (?:also|still|just|always|often|never|\w+ly))? [a-z]+(?:['\u2019]t)?)?"
)
_OPENING = re.compile(
    r"^\W*(?:(?:by the way|btw|anyway|oh|well|so|yeah|yes|hey|wow|also|and|but|actually)\b[,!.]?\s+)+(?=\w)",
    re.IGNORECASE,
)
_REST = re.compile(r"\b(?:my|My|mine|Mine|me|myself)\b")


def in_third_person(sentence: str, speaker: str | None) -> str:
    """The sentence with its speaker's name; as it is where nobody is known, or where it does not speak of them.

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
    told = _REST.sub(lambda found: _other(found[0], speaker), _SUBJECT.sub(lambda found: _as(found, speaker), sentence))
    if told == sentence or language_of(sentence) is not None:  # "me gusta", "I bambini": no English
        return f"{speaker}: {sentence}"
    return told


def _as(found: re.Match[str], speaker: str) -> str:
    rest = (found["verb"] or "").replace("\u2019", "'")
    if rest.strip() in _THIRD and not rest.startswith(" "):
        return f"{speaker}{_THIRD[rest]}"
    *before, verb = rest.split(" ")
    return " ".join([f"{speaker}{before[0] if before else ''}", *before[1:], _third(verb)]) if verb else speaker + rest


def _third(verb: str) -> str:
    """The verb as it is said of somebody else; past forms, modal verbs and other words as they are.

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
