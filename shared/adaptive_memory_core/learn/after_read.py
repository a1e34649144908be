"""Joining and checking read states, and recognising turns that are not worth keeping."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields, replace

from adaptive_memory_core.error_messages import shown
from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.ranges import LARGEST, SHARE, Range
from adaptive_memory_core.records import ReadState

LONGEST_SAID = 2_000  # characters; guess: users rarely type more, and a pasted document is not a memory
MOST_WORDS = 6  # of a greeting; guess: "good morning, how are you today?" has six
_POLITE_WORDS = """
hi hello hey hiya howdy hallo hola bonjour salut ciao ahoj servus moin namaste yo greetings welcome good morning
afternoon evening night day bye goodbye cheers thanks thank thx ty danke merci gracias grazie obrigado very much so you
u a lot and again there all everyone how are is it going doing today whats what's up nice to meet see later please sorry
np lol haha 你好 谢谢 再见 こんにちは ありがとう 안녕하세요 привет спасибо
"""
_BARE_WORDS = """
yes no yeah yep yup nope nah ok okay k kk sure fine right alright correct great cool perfect awesome nice good wow hm
hmm mhm continue go on ahead next more stop wait do it that works sounds got done exactly agreed ja nein si oui non
maybe 好 是 はい да нет
"""
_POLITE = frozenset(_POLITE_WORDS.split())
_SAYS_NOTHING = _POLITE | frozenset(_BARE_WORDS.split())
_WORDS = re.compile(r"[\w']+")


def worth_keeping(said: str, answer: str = "") -> bool:
    """Whether a turn is worth remembering. A bare "yes" is, if it is stored together with the answer to it.

    >>> worth_keeping("I am allergic to peanuts."), worth_keeping("Hi there!"), worth_keeping("thanks a lot")
    (True, False, False)
    >>> worth_keeping("yes, go ahead"), worth_keeping("yes, go ahead", "Booked: Vienna, 9 May.")
    (False, True)
    >>> worth_keeping("x" * 5_000), worth_keeping("?!")
    (False, False)
    """
    if len(said) > LONGEST_SAID:
        return False
    words = _WORDS.findall(said.lower().replace("\u2019", "'"))
    if not words or (len(words) <= MOST_WORDS and _POLITE.issuperset(words)):
        return False
    return bool(answer) or len(words) > MOST_WORDS or not _SAYS_NOTHING.issuperset(words)


def larger(known: ReadState, shown: ReadState) -> ReadState:
    """Join an older and a newer state of the same reads; the larger values are kept.

    >>> larger(ReadState(last_read=5.0, retrieval_count=10), ReadState(last_read=9.0, retrieval_count=22)).last_read
    9.0
    >>> larger(ReadState(last_read=9.0, retrieval_count=3), ReadState(last_read=5.0, retrieval_count=2)).retrieval_count
    3
    """
    return _joined(known, shown, more=max(0, shown.retrieval_count - known.retrieval_count))


def added(kept: ReadState, gone: ReadState) -> ReadState:
    """The state of two records with the same text, joined into one: the reads of both count.

    >>> added(ReadState(last_read=5.0, retrieval_count=2), ReadState(last_read=3.0, retrieval_count=1)).retrieval_count
    3
    """
    both = _joined(kept, gone, more=gone.retrieval_count)
    return replace(both, helpful=kept.helpful + gone.helpful, unhelpful=kept.unhelpful + gone.unhelpful)


def _joined(one: ReadState, other: ReadState, *, more: int) -> ReadState:
    useful = other if _after(other.useful_at, one.useful_at) else one
    return replace(
        one,
        last_read=_later(one.last_read, other.last_read),
        refreshed_at=_later(one.refreshed_at, other.refreshed_at),
        fresh_at=_later(one.fresh_at, other.fresh_at),
        fresh_step=max(one.fresh_step, other.fresh_step),
        streak=max(one.streak, other.streak),
        retrieval_count=one.retrieval_count + more,
        credit=one.credit + more,
        warmth=one.warmth + more,
        remembered=one.remembered or other.remembered,
        pinned=one.pinned or other.pinned,
        useful_at=useful.useful_at,
        useful_step=useful.useful_step,
    )


def _later(one: float | None, other: float | None) -> float | None:
    return other if _after(other, one) else one


def _after(one: float | None, other: float | None) -> bool:
    return one is not None and (other is None or one > other)


MOST_READS = 10**12  # a larger number in the field is not a count of reads
TIME = Range(-LARGEST, LARGEST)  # POSIX seconds
COUNT = Range(0, MOST_READS, whole=True)
RANGES: dict[str, Range] = {
    **dict.fromkeys(("last_read", "refreshed_at", "settled_at", "fresh_at", "useful_at"), TIME),
    **dict.fromkeys(("streak", "retrieval_count", "credit", "helpful", "unhelpful"), COUNT),
    **dict.fromkeys(("settled_step", "fresh_step"), COUNT),
    "useful_step": Range(-MOST_READS, MOST_READS, whole=True),  # below 0: before the first recall counted here
    "warmth": Range(0, MOST_READS),
    "strength": SHARE,
    "boost": Range(-1, 1),
}
FLAGS = ("remembered", "pinned")
_UNKNOWN = tuple(one.name for one in fields(ReadState) if one.default is None)


def state_from_values(given: object) -> ReadState:
    """A read state from plain values; an error if a value is outside its range.

    >>> state_from_values({"strength": 0.5}).strength
    0.5
    >>> state_from_values({"strength": 2})
    Traceback (most recent call last):
        ...
    adaptive_memory_core.errors.InvalidInputError: The read state has strength=2. It must be a number in [0, 1]. ...
    """
    if not isinstance(given, Mapping):
        raise InvalidInputError(
            f"The read state is {shown(given)}. Give a mapping of its fields, as export_state() does."
        )
    values = {one.name: given[one.name] for one in fields(ReadState) if one.name in given}
    for name, value in values.items():
        _check(name, value)
    return ReadState(**values)


def _check(name: str, value: object) -> None:
    if name in FLAGS:
        if not isinstance(value, bool):
            raise _refused(name, value, "true or false")
    elif not (value is None and name in _UNKNOWN) and value not in RANGES[name]:
        unknown = ", or null where it is not known" if name in _UNKNOWN else ""
        raise _refused(name, value, f"{RANGES[name]}{unknown}")


def _refused(name: str, value: object, allowed: str) -> InvalidInputError:
    return InvalidInputError(
        f"The read state has {name}={shown(value)}. It must be {allowed}. Export the state again, "
        "or correct that field."
    )
