"""Checks of a recall's arguments (query, filter, policy, exclusions) and of labelled questions."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple, cast

import numpy as np

from adaptive_memory_core.arguments.values import encodable, fraction, moment, name, nonblank_text
from adaptive_memory_core.cue.question_kinds import build_cue, drift
from adaptive_memory_core.error_messages import listed, shown
from adaptive_memory_core.errors import FilterError, InvalidInputError, PolicyError
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import AgentState, Cue, Record
from adaptive_memory_core.score.refusals import AT_ONCE, refusal


def cue(value: object) -> Cue:
    """The checked query: a text, or a text with its vector.

    >>> cue("tea"), cue(Cue("", [1.0, 0.0])).vector.tolist()
    (Cue(text='tea'), [1.0, 0.0])
    >>> cue(Cue("tea", [1.0, float("nan")]))
    Traceback (most recent call last):
    ...
    adaptive_memory_core.errors.InvalidInputError: The query vector is not a list of finite numbers. ...
    """
    if isinstance(value, AgentState):
        value = build_cue(value)
    if not isinstance(value, Cue):
        return Cue(nonblank_text(value, "cue"))
    if value.words is not None:
        nonblank_text(value.words, "cue's words")
    if value.vector is None or not isinstance(value.text, str):
        return replace(value, text=nonblank_text(value.text, "cue"))
    try:
        vector = np.asarray(value.vector, dtype=np.float32)
    except (TypeError, ValueError):
        vector = np.empty(0, dtype=np.float32)
    if vector.ndim != 1 or not len(vector) or not np.isfinite(vector).all():
        raise InvalidInputError(
            "The query vector is not a list of finite numbers. Give the vector that the collection's embedder makes "
            "for a query, or leave it out."
        )
    return replace(value, text=encodable(value.text, "cue"), vector=vector)


def channels(policy: Policy, own: Collection[str]) -> None:
    """Raise an error if the policy names channels that this memory does not have."""
    named = dict.fromkeys([*policy.ways, *dict(policy.advanced.channel_weights)])
    unknown = [name for name in named if name not in own]
    if unknown:
        raise PolicyError(
            f"The policy names the channels {listed(unknown)}. This memory has: "
            f"{', '.join(own)}. Give yours to it: AdaptiveMemory(..., channels={{{shown(unknown[0])}: function}})."
        )


Floors = tuple[float | None, float | None]  # of the score and of the similarity; None: the policy's


def floors(min_score: object, min_similarity: object) -> Floors:
    """The floors of a call."""
    return (
        None if min_score is None else fraction(min_score, "min_score"),
        None if min_similarity is None else fraction(min_similarity, "min_similarity"),
    )


def guests(value: object) -> Mapping[str, str]:
    """Texts by id, of hits that need not be in a collection."""
    if value is None:
        return {}
    if not isinstance(value, Mapping) or not all(isinstance(one, str) for pair in value.items() for one in pair):
        raise InvalidInputError(f"guests is {shown(value)}. Give a mapping from ids to texts, or None.")
    return value


def drifted(given: Cue, state: object) -> tuple[str, ...]:
    """A note if the cue was built from a state that is no longer the agent's."""
    if state is None:
        return ()
    if not isinstance(state, AgentState):
        raise InvalidInputError(f"state is {shown(state)}. Give the AgentState as it is now, or None.")
    note = drift(given, state)
    return () if note is None else (note,)


def refusals(accept: object, in_context: object) -> Callable[[Record], str | None] | None:
    """A function that returns why the caller excludes a record; None if nothing is excluded."""
    checked = None if accept is None else _function(accept)
    if isinstance(in_context, str) or not isinstance(in_context, Iterable):
        raise InvalidInputError(f"in_context is {shown(in_context)}. Give a list of ids and texts, e.g. ['note-1'].")
    given = [one if isinstance(one, str) else _refused(one) for one in in_context]
    return refusal(checked, given) if checked is not None or given else None


def _function(accept: object) -> Callable[[Record], bool]:
    """The caller's `accept`, if it is a plain function."""
    if not callable(accept):
        raise InvalidInputError(f"accept is {shown(accept)}. Give a function from a Record to True or False, or None.")
    if inspect.iscoroutinefunction(accept) or inspect.iscoroutinefunction(getattr(accept, "__call__", None)):  # noqa: B004
        raise InvalidInputError(
            f"accept is the coroutine function {shown(accept)}. {AT_ONCE} and give a plain function."
        )
    return accept


def _refused(one: object) -> str:
    raise InvalidInputError(f"in_context holds {shown(one)}. Give ids and texts, which are strings.")


def on_embedder_error(value: object) -> str:
    """'words' or 'raise': what a recall does if the embedder fails."""
    if value in ("words", "raise"):
        return str(value)
    raise InvalidInputError(
        f"on_embedder_error is {shown(value)}. Give 'raise', or 'words' for what is found by words alone."
    )


def policy(value: object, usual: Policy) -> Policy:
    """The policy of a call, or the usual one."""
    if value is not None and not isinstance(value, Policy):
        raise PolicyError(
            f"policy is {shown(value)}. Give a Policy, e.g. Policy.preset('support'), or None for the memory's."
        )
    return usual if value is None else value


def questions(given: object, *, fewest: int) -> tuple[str, ...]:
    """The questions without duplicates, if there are at least `fewest`."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InvalidInputError(f"questions are {shown(given)}. Give a list of strings, or None for our own.")
    kept = tuple(dict.fromkeys(nonblank_text(one, "question") for one in given))
    if len(kept) < fewest:
        raise InvalidInputError(
            f"There are {len(kept)} different questions. Give at least {fewest} that have nothing to do with the "
            "memory, or None for our own."
        )
    return kept


def similarities(given: object) -> dict[str, float | None]:
    """Ids with the similarity that another retriever found, or None."""
    if not isinstance(given, Mapping):
        raise InvalidInputError(
            f"hits are {shown(given)}. Give a mapping from id to similarity, e.g. {{'note-1': 0.8}}."
        )
    for one, value in given.items():
        name(one, "id")
        usable = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        if value is not None and not usable:
            raise InvalidInputError(
                f"The similarity of {shown(one)} is {shown(value)}. Give a finite number, or None for unknown."
            )
    return dict(given)


def where(value: object) -> Mapping[str, Any] | None:
    """A Chroma metadata filter; with several keys in one mapping, all of them must match."""
    if value is None:
        return None
    if not isinstance(value, Mapping) or not value or not all(isinstance(key, str) for key in value):
        raise FilterError(
            f'The filter is {shown(value)}. Give a mapping such as {{"kind": "fact"}}, or None for no filter.'
        )
    return cast("Mapping[str, Any]", value)


EXAMPLE = 'Give e.g. ("which database?", ["id of a record"]) or {"question": ..., "answers": [...], "now": ...}.'


class Labelled(NamedTuple):
    """A question, the ids or texts of the records that answer it, and the time when it is asked (None: now)."""

    question: str
    answers: tuple[str, ...]
    now: float | None = None


def labelled_questions(pairs: object) -> list[Labelled]:
    """The checked pairs.

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
    known = tuple(dict.fromkeys(nonblank_text(one, f"answer of pair {number}") for one in given))
    asked = nonblank_text(question, f"question of pair {number}")
    if not known:
        raise InvalidInputError(f"Pair {number} names nothing that answers {shown(asked)}. {EXAMPLE}")
    return Labelled(asked, known, moment(now, f"now of pair {number}"))
