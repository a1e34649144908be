"""Which candidates get the places that are drawn by lot, and with which chance? The recall's name is the lot."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from adaptive_memory_core.records import Dropped, Scored
from adaptive_memory_core.score.gates import BEYOND_K

TIMES = 3  # as many candidates as places are drawn from: those that would have them, and the next best; guess


class Drawn(NamedTuple):
    """What is returned and dropped after the draw, and by id the chance with which each was to be returned; empty where
    nothing was drawn: then the returned ones were certain."""

    kept: tuple[Scored, ...]
    dropped: Sequence[Dropped]
    propensities: Mapping[str, float] = {}


def with_random_tail(kept: tuple[Scored, ...], dropped: Sequence[Dropped], *, tail: int, recall_id: str) -> Drawn:
    """The last `tail` places go by lot to one each of three times as many candidates, all with the same chance. One
    recall is drawn in one way only, so a replay draws the same.

    >>> from adaptive_memory_core.records import Hit, Record
    >>> def hit(name): return Scored(Hit(Record(name, name), 0.5, name), 0.5, {}, {})
    >>> drawn = with_random_tail(
    ...     (hit("a"), hit("b")), [Dropped("c", BEYOND_K, hit("c"))], tail=1, recall_id="r1"
    ... )
    >>> drawn.propensities, len(drawn.kept), drawn.kept[0].id
    ({'a': 1.0, 'b': 0.5, 'c': 0.5}, 2, 'a')
    """
    places = min(tail, len(kept) - 1)
    beyond = [one.scored for one in dropped if one.reason == BEYOND_K and one.scored is not None]
    spare = beyond[: max(0, TIMES * tail - places)]
    if places < 1 or not spare:
        return Drawn(kept, dropped)
    certain, drawn = kept[:-places], [*kept[-places:], *spare]
    chosen = {one.id for one in sorted(drawn, key=lambda one: _lot(recall_id, one.id))[:places]}
    returned = (*certain, *(one for one in drawn if one.id in chosen))
    ids = {one.id for one in drawn}
    lost = [Dropped(one.id, BEYOND_K, one) for one in drawn if one.id not in chosen]
    others = [one for one in dropped if one.id not in ids]
    chances = {**{one.id: 1.0 for one in certain}, **dict.fromkeys((one.id for one in drawn), places / len(drawn))}
    return Drawn(returned, [*lost, *others], chances)


def _lot(recall_id: str, record_id: str) -> bytes:
    said = f"{recall_id}\n{record_id}".encode(errors="replace")
    return hashlib.blake2b(said, digest_size=16).digest()
