"""How is a sentence shown by itself? With its speaker's name for "I"; what is embedded stays as it was said.

Names in the place of "I" make vectors worse: every sentence of a speaker is like every other then.
"""

from __future__ import annotations

import re

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
_PRESENT = frozenset(
    [
        "like",
        "love",
        "hate",
        "want",
        "need",
        "think",
        "feel",
        "know",
        "live",
        "work",
        "play",
        "read",
        "write",
        "run",
        "walk",
        "teach",
        "study",
        "learn",
        "enjoy",
        "prefer",
        "use",
        "own",
        "keep",
        "make",
        "take",
        "get",
        "give",
        "see",
        "hear",
        "hope",
        "plan",
        "wish",
        "believe",
        "remember",
        "wear",
        "drink",
        "eat",
        "cook",
        "drive",
        "ride",
        "sing",
        "dance",
        "paint",
        "draw",
        "swim",
        "visit",
        "travel",
        "volunteer",
        "collect",
        "mean",
        "guess",
        "miss",
    ]
)
_SUBJECT = re.compile(
    r"\bI(?!\w)(?P<verb>['\u2019](?:m|ve|ll|d)\b|(?: (?:really|also|still|just|always|often))? [a-z]+(?:['\u2019]t)?)?"
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
    >>> in_third_person("It rained.", "Ana"), in_third_person("I'm off.", None), in_third_person("I went.", "Ben")
    ('Ana: It rained.', "I'm off.", 'Ben went.')
    """
    if not speaker:
        return sentence
    opening = _OPENING.match(sentence)
    if opening is not None:
        sentence = sentence[opening.end() :]
    told = _REST.sub(lambda found: _other(found[0], speaker), _SUBJECT.sub(lambda found: _as(found, speaker), sentence))
    return told if told != sentence else f"{speaker}: {sentence}"


def _as(found: re.Match[str], speaker: str) -> str:
    rest = (found["verb"] or "").replace("\u2019", "'")
    if rest.strip() in _THIRD and not rest.startswith(" "):
        return f"{speaker}{_THIRD[rest]}"
    *before, verb = rest.split(" ")
    return " ".join([f"{speaker}{before[0] if before else ''}", *before[1:], _third(verb)]) if verb else speaker + rest


def _third(verb: str) -> str:
    if verb in _THIRD:
        return _THIRD[verb].strip()
    if verb not in _PRESENT:
        return verb
    if verb.endswith("y") and verb[-2] not in "aeo":
        return f"{verb[:-1]}ies"
    return f"{verb}es" if verb.endswith(("s", "sh", "ch")) else f"{verb}s"


def _other(word: str, speaker: str) -> str:
    return speaker if word in ("me", "myself") else f"{speaker}'s"
