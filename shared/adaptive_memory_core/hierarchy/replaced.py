"""Which earlier semantic does a new one replace? One that says the same of the same subject, but for what changed.

In the same words ("Ana lives in Oslo", "Ana lives in Turin"); in other words where the new one says itself that
something has changed, and both speak of one relation that somebody has one of at a time ("Ana has moved to Turin").
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from adaptive_memory_core.hierarchy.nodes import SemanticKey
from adaptive_memory_core.policy.updates import Updates
from adaptive_memory_core.score.facts.asked import asked
from adaptive_memory_core.score.facts.same_fact import in_other_words, in_same_words
from adaptive_memory_core.score.facts.statement import statement

MOST_WORDS = 12  # of either, where they are in other words: longer ones tell of more than one thing; guess
_ONE_AT_A_TIME = {  # what would be asked for each relation of `score/facts/relations.py` that has one answer at a time
    "home": "Where does {} live?",
    "work": "Where does {} work?",
    "address": "What is {}'s address?",
    "email": "What is {}'s email?",
    "phone": "What is {}'s phone number?",
    "boss": "Who is {}'s boss?",
    "teeth": "Who is {}'s dentist?",
    "car": "Which car does {} drive?",
    "school": "Which school does {} attend?",
    "bank": "Which bank does {} use?",
}


class Stated(NamedTuple):
    """A semantic as it is shown, and its time in POSIX seconds."""

    key: SemanticKey
    shown: str
    at: float


def replaced(new: Stated, others: Iterable[Stated], rule: Updates) -> SemanticKey | None:
    """The latest of the others that is older and says the same; None where none does.

    >>> home, moved = Stated(1, "Ana lives in Oslo.", 10.0), Stated(2, "Ana lives in Turin.", 20.0)
    >>> replaced(moved, [home], Updates()), replaced(home, [moved], Updates())
    (1, None)
    >>> replaced(Stated(3, "Ben lives in Rome.", 30.0), [home, moved], Updates()) is None
    True
    >>> replaced(Stated(4, "Ana has moved to Lima.", 40.0), [home, moved], Updates())
    2
    """
    older = [one for one in others if one.at < new.at and len(one.shown) <= rule.longest_text]
    if len(new.shown) > rule.longest_text:
        return None
    same = [one for one in older if _same(one.shown, new.shown, rule)]
    return max(same, key=lambda one: (one.at, one.key)).key if same else None


def of_its_speaker(text: str, shown: str) -> bool:
    """Whether it says something of its speaker, and is not only shown with the name before it.

    >>> of_its_speaker("I live in Oslo.", "Ana lives in Oslo."), of_its_speaker("It rained.", "Ana: It rained.")
    (True, False)
    """
    _, told, rest = shown.partition(": ")
    return shown == text or not (told and text.endswith(rest))


def _same(old: str, new: str, rule: Updates) -> bool:
    """Judged as if somebody had asked for what both have in common, or for the relation that both speak of."""
    said, words = statement(new).said, old.split()
    common = [word for word, plain in zip(words, _plain(words), strict=True) if plain in said]
    if len(common) >= 2 and in_same_words(statement(old), statement(new), asked(" ".join(common)), rule):
        return True
    return _says_that_it_changed(old, new, rule)


def _says_that_it_changed(old: str, new: str, rule: Updates) -> bool:
    before, after = statement(old), statement(new)
    if not after.announced or before.hedged or before.event or not before.opening or before.opening != after.opening:
        return False
    if max(len(before.in_order), len(after.in_order)) > MOST_WORDS:
        return False
    who = old.split(maxsplit=1)[0]
    cues = [_ONE_AT_A_TIME[one].format(who) for one in before.relations & after.relations if one in _ONE_AT_A_TIME]
    return any(in_other_words(before, after, asked(cue), rule) for cue in cues)


def _plain(words: list[str]) -> list[str]:
    return [word.lower().strip(".,;:!?\"'()") for word in words]
