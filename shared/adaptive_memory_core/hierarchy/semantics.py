"""What is worth keeping of an episode? A few of its sentences, which say most and can be understood by themselves."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from adaptive_memory_core.channels.words.words_of_text import words
from adaptive_memory_core.graph.sentences import sentences
from adaptive_memory_core.hierarchy.first_person import in_third_person
from adaptive_memory_core.hierarchy.nodes import Distilled, Said
from adaptive_memory_core.hierarchy.phrases import DANGLES, ONESELF, SMALL_TALK

LONGEST = 400  # characters of a sentence; of a longer one its beginning
LONG = 400  # characters of a message, for each of which it may have one sentence more; guess
ENOUGH = 8  # words that say something, in a sentence that needs no more
FEWEST = 2  # of them, in a sentence that may be kept; one is enough where it speaks of its speaker
AGAIN = 0.3  # what a word counts that a chosen sentence has already; guess
ASKED, DANGLING, OF_ONESELF = 0.3, 0.6, 1.25  # what a question, "It ...", and "I ..." keep of their worth; guess
_SPEAKER = re.compile(r"^(User|Assistant): ", re.MULTILINE)  # as the words of both are saved in one record


class _Sentence(NamedTuple):
    text: str
    turn: Said
    words: frozenset[str]
    worth: float


SEMANTICS = 5  # sentences distilled from an episode; fewer of a short one; a sweep: docs/hierarchy.md


def distil(said: Sequence[Said], most: int) -> list[Distilled]:
    """The sentences that say most, in their order: one of a message, more of a long one. A word counts less each time
    it is repeated.

    >>> turns = [Said("1", "Ana", "Wow! I adopted a puppy in May.", 0.0), Said("2", "Ben", "Great!", 1.0)]
    >>> distil(turns, 2)
    [Distilled(text='I adopted a puppy in May.', shown='Ana adopted a puppy in May.', messages=('1',))]
    """
    turns = spoken(said)
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


def spoken(said: Sequence[Said]) -> list[Said]:
    """The messages as their speakers said them: one that holds a whole turn with an agent is parted.

    >>> turn = Said("1", "User", "User: I adopted a puppy.\\nAssistant: Congratulations!", 0.0)
    >>> [(one.speaker, one.text) for one in spoken([turn])]
    [('User', 'I adopted a puppy.'), ('Assistant', 'Congratulations!')]
    """
    return [part for one in said for part in _parts(one)]


def _parts(message: Said) -> list[Said]:
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


def _of(turn: Said, names: frozenset[str]) -> list[_Sentence]:
    """Its sentences; whom one speaks to says nothing."""
    found = []
    for text in sentences(turn.text):
        short = text[:LONGEST]
        said = frozenset(words(short)) - SMALL_TALK - names
        worth = ASKED if short.rstrip().endswith(("?", "\uff1f")) else 1.0
        worth *= DANGLING if DANGLES.match(short) else 1.0
        worth *= OF_ONESELF if ONESELF.search(short) else 1.0
        found.append(_Sentence(short, turn, said, worth))
    return found


def _gain(one: _Sentence, covered: Counter[str]) -> float:
    """What it says that the chosen ones do not; long ones are not better for being long."""
    new = sum(AGAIN ** covered[word] for word in one.words)
    return one.worth * math.log1p(min(new, ENOUGH))
