"""Which questions have a known answer? Pairs of a question and the ids or texts that answer it, checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from adaptive_memory_core.arguments.values import moment, words
from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.shown_in_errors import listed, shown

EXAMPLE = 'Give e.g. ("which database?", ["id of a record"]) or {"question": ..., "answers": [...], "now": ...}.'


class Labelled(NamedTuple):
    """A question, the ids or texts of the records that answer it, and when it is asked (None: now)."""

    question: str
    answers: tuple[str, ...]
    now: float | None = None


def labelled_questions(pairs: object) -> list[Labelled]:
    """The pairs, each checked.

    >>> labelled_questions([("which tea?", "tea"), {"question": "who?", "answers": ["ana", "bob"], "now": 9}])[1]
    Labelled(question='who?', answers=('ana', 'bob'), now=9.0)
    >>> labelled_questions([("which tea?", [])])
    Traceback (most recent call last):
    ...
    adaptive_memory_core.errors.InvalidInputError: Pair 1 names nothing that answers 'which tea?'. Give e.g. ...
    """
    if isinstance(pairs, str | bytes | Mapping) or not isinstance(pairs, Iterable):
        raise InvalidInputError(f"The pairs are {shown(pairs)}. Give a list of pairs. {EXAMPLE}")
    return [_labelled(number, pair) for number, pair in enumerate(pairs, 1)]


def _labelled(number: int, pair: object) -> Labelled:
    if isinstance(pair, Mapping):
        unknown = sorted(map(str, set(pair) - {"question", "answers", "now"}))
        if unknown or not {"question", "answers"} <= set(pair):
            raise InvalidInputError(f"Pair {number} has the fields {listed(pair)}. {EXAMPLE}")
        question, answers, now = pair["question"], pair["answers"], pair.get("now")
    elif isinstance(pair, list | tuple) and len(pair) in (2, 3):
        question, answers, now = (*pair, None)[:3]
    else:
        raise InvalidInputError(f"Pair {number} is {shown(pair)}. {EXAMPLE}")
    given = [answers] if isinstance(answers, str) else answers
    if isinstance(given, Mapping) or not isinstance(given, Iterable):
        raise InvalidInputError(f"Pair {number} has the answers {shown(given)}. {EXAMPLE}")
    known = tuple(dict.fromkeys(words(one, f"answer of pair {number}") for one in given))
    asked = words(question, f"question of pair {number}")
    if not known:
        raise InvalidInputError(f"Pair {number} names nothing that answers {shown(asked)}. {EXAMPLE}")
    return Labelled(asked, known, moment(now, f"now of pair {number}"))
