"""Which part of a long text answers? Its sentences with the cue's rarest words, in their order, with marks.

A block of code and a list are parts of their own: each is shown whole or not at all, unless it alone is too long. What
goes on for long without the end of a sentence, as what was spoken may, is cut between words.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from adaptive_memory_core.channels.words.unspaced import UNSPACED
from adaptive_memory_core.channels.words.words_of_text import words
from adaptive_memory_core.context.brief import clipped
from adaptive_memory_core.context.clean import clean
from adaptive_memory_core.context.token_estimate import Count
from adaptive_memory_core.let_others_run import in_pieces

MARK = "..."
MOST_READ = 600  # characters of a part in which the cue's words are looked for; guess
FIRST = 0.5  # of the rarest word's worth, for the first part: it says what the text is about; guess
_FENCE = re.compile(r"(```.*?(?:```|\Z))", re.DOTALL)
_LIST = re.compile(r"(?:^[ \t]*(?:[-*+\u2022]|\d{1,3}[.)])[ \t].*(?:\n(?![ \t]*\n).*)*)", re.MULTILINE)
_CLAUSES = (
    "\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer: spaces stand between clauses, not words
)
_SENTENCE = re.compile(
    r"(?<=[.!?\u0964\u0965\u06d4\u061f])\s+|(?<=[\u3002\uff01\uff1f])\s*|(?<!\s)\s*\n\s*"
    rf"|(?<=[{_CLAUSES}])[ \u00a0]+(?=[{_CLAUSES}])"
)
_DENSE = UNSPACED.pattern.removesuffix("+")  # a character of scripts that need about a third as many of them
_PIECE = re.compile(rf"{_DENSE}{{1,60}}|\S(?:.{{0,198}}\S(?!\S)|.{{0,199}})", re.DOTALL)  # up to a space if it can


class Part(NamedTuple):
    """A piece of a text that is shown whole: cleaned, with what it costs and what of the cue is in it."""

    text: str
    cost: int
    asked: frozenset[str]


def excerpt(text: str, cue: Sequence[str], room: int, count: Count) -> str | None:
    """The parts that answer, within `room` tokens, with "..." where something is left out; None where nothing fits.

    >>> said = "We met on Monday. It rained all day. The code of the door is 4711. Then we had tea."
    >>> excerpt(said, words("what is the door code?"), 17, lambda text: len(text.split()))
    'We met on Monday. ... The code of the door is 4711. ...'
    """
    asked = frozenset(cue)
    whole = parts_of(text, longest=MOST_READ if asked else len(text))
    parts = [Part(said, count(said + " "), asked & set(words(said[:MOST_READ]))) for said in in_pieces(text, whole)]
    left = room - 2 * count(f" {MARK} ")
    chosen = _chosen(parts, left, count)
    if not chosen:
        best = max(parts, key=lambda part: len(part.asked), default=None)
        return None if best is None else clipped(best.text, room, count, f" {MARK}") or None
    said = [MARK] if chosen[0] else []
    for before, number in zip([chosen[0] - 1, *chosen], chosen, strict=False):
        said += [parts[number].text] if number == before + 1 else [MARK, parts[number].text]
    return " ".join([*said, *([MARK] if chosen[-1] + 1 < len(parts) else [])])


def parts_of(text: str, *, longest: int = MOST_READ) -> list[str]:
    """The text in parts that are shown whole, each clean; a sentence of more than `longest` characters in pieces.

    >>> parts_of("Do it so. Like this:\\n- one\\n- two\\n\\nDone.")
    ['Do it so.', 'Like this:', '- one - two', 'Done.']
    """
    parts: list[str] = []
    for number, block in enumerate(_FENCE.split(text)):
        if number % 2:
            parts.append(block)
            continue
        start = 0
        for run in _LIST.finditer(block):
            parts += [*_sentences(block[start : run.start()], longest), run.group()]
            start = run.end()
        parts += _sentences(block[start:], longest)
    return [said for one in parts if one and (said := clean(one))]


def _sentences(prose: str, longest: int) -> list[str]:
    found: list[str] = []
    for said in _SENTENCE.split(prose):
        found += [said] if len(said) <= longest else _PIECE.findall(said)
    return found


def _chosen(parts: Sequence[Part], room: int, count: Count) -> list[int]:
    """The numbers of the parts that are shown, in their order: those worth most for what they cost."""
    held = Counter(word for part in parts for word in part.asked)
    worth = {word: math.log1p(len(parts) / number) for word, number in held.items()}
    first = FIRST * max(worth.values(), default=1.0)
    values = [sum(worth[word] for word in part.asked) + (0.0 if number else first) for number, part in enumerate(parts)]
    ranked = sorted(range(len(parts)), key=lambda number: (-values[number], number))
    chosen: list[int] = []
    mark = count(f" {MARK} ")
    for number in ranked:
        joined = number - 1 in chosen or number + 1 in chosen
        cost = parts[number].cost + (0 if joined else mark)
        if cost <= room:
            chosen.append(number)
            room -= cost
    return sorted(chosen)
