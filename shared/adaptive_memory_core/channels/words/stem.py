"""Which forms are one word? Porter's suffix stripping, so that "deploys", "deployed" and "deploying" match.

Source: M. F. Porter, An algorithm for suffix stripping (1980). Words with anything but a to z stay as they are.
"""

from __future__ import annotations

import re

_VOWELS = "(?:[aeiou]|(?<=[^aeiou])y)"
_MEASURED = re.compile(rf"{_VOWELS}+[^aeiou]")  # one vowel-consonant step; their number is the paper's m
_VOWEL = re.compile(_VOWELS)
_DOUBLE = re.compile(r"([^aeiou])\1$")
_SHORT = re.compile(r"[^aeiou][aeiouy][^aeiouwxy]$")
_FINAL_Y = re.compile(r".[^aeiouy]y$")  # as in Porter's later English stemmer, so that "deploys" meets "deployment"
_PLURAL = (("sses", "ss"), ("ies", "i"), ("ss", "ss"), ("s", ""))
_SECOND = (
    ("ational", "ate"), ("ization", "ize"), ("iveness", "ive"), ("fulness", "ful"), ("ousness", "ous"),
    ("tional", "tion"), ("biliti", "ble"), ("entli", "ent"), ("ousli", "ous"), ("ation", "ate"), ("alism", "al"),
    ("aliti", "al"), ("iviti", "ive"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"), ("abli", "able"),
    ("alli", "al"), ("ator", "ate"), ("eli", "e"),
)  # fmt: skip
_THIRD = (
    ("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ness", ""), ("ful", ""),
)  # fmt: skip
_FOURTH = (
    "ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ism", "ate", "iti", "ous", "ive", "ize", "ion",
    "al", "er", "ic", "ou",
)  # fmt: skip


def stem(word: str) -> str:
    """What is left of a lower-case word without its endings.

    >>> [stem(word) for word in ("deploys", "deployed", "deploying", "deployment")]
    ['deploy', 'deploy', 'deploy', 'deploy']
    >>> [stem(word) for word in ("relational", "hopping", "happy", "pay", "cafés", "as")]
    ['relat', 'hop', 'happi', 'pay', 'cafés', 'as']
    """
    if len(word) <= 2 or not (word.isascii() and word.isalpha()):
        return word
    word = _past(_replaced(word, _PLURAL, 0, any_stem=True))
    if _FINAL_Y.search(word):
        word = word[:-1] + "i"
    word = _replaced(_replaced(word, _SECOND, 0), _THIRD, 0)
    return _tidied(_without_fourth(word))


def _measure(stem_: str) -> int:
    return len(_MEASURED.findall(stem_))


def _replaced(word: str, endings: tuple[tuple[str, str], ...], least: int, *, any_stem: bool = False) -> str:
    """The word with the first ending that fits replaced, if what stands before it is long enough."""
    for ending, other in endings:
        if word.endswith(ending):
            rest = word[: -len(ending)]
            return rest + other if any_stem or _measure(rest) > least else word
    return word


def _past(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    ending = next((one for one in ("ed", "ing") if word.endswith(one)), None)
    if ending is None or not _VOWEL.search(word[: -len(ending)]):
        return word
    rest = word[: -len(ending)]
    if rest.endswith(("at", "bl", "iz")):
        return rest + "e"
    if _DOUBLE.search(rest) and rest[-1] not in "lsz":
        return rest[:-1]
    return rest + "e" if _measure(rest) == 1 and _SHORT.search(rest) else rest


def _without_fourth(word: str) -> str:
    for ending in _FOURTH:
        if word.endswith(ending):
            rest = word[: -len(ending)]
            fits = _measure(rest) > 1 and (ending != "ion" or rest.endswith(("s", "t")))
            return rest if fits else word
    return word


def _tidied(word: str) -> str:
    if word.endswith("e"):
        rest = word[:-1]
        steps = _measure(rest)
        if steps > 1 or (steps == 1 and not _SHORT.search(rest)):
            word = rest
    return word[:-1] if word.endswith("ll") and _measure(word) > 1 else word
