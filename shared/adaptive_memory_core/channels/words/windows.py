"""What stands around each record of a conversation? Its window of turns and its session: how long they are, and how
often a word is said in them, counted where the word is and nowhere else."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

SMALL = 4_000  # records that are run through for each word; measured
Array = Any


class Windows(NamedTuple):
    """Of one width: the bounds of each place's window (`high` exclusive) and its length in words; what the lengths of
    all places come to; the number of each record's window, which is its place. With a width of None the windows are
    the sessions, and fewer."""

    reach: int | None
    low: Array
    high: Array
    long: Array
    total: float
    of_record: Array


class Places(NamedTuple):
    """Where records stand: `place` of each record, the record at each place (`order`), and the number of each place's
    session."""

    order: Array
    place: Array
    first: Array
    last: Array
    session: Array
    windows: tuple[Windows, ...]


def places_of(lengths: Array, order: Array, first: Array, last: Array, reaches: tuple[int | None, ...]) -> Places:
    """The windows of these widths around each place.

    >>> two = np.array([2.0, 2.0])
    >>> found = places_of(two, np.arange(2), np.array([0, 0]), np.array([2, 2]), (0, 1, None))
    >>> [window.long.tolist() for window in found.windows]
    [[2.0, 2.0], [4.0, 4.0], [4.0]]
    """
    here = np.arange(len(order))
    place = np.empty_like(order)
    place[order] = here
    running = _running(lengths[order])
    session = np.cumsum(first == here) - 1
    windows = []
    for reach in reaches:
        if reach is None:
            begins = np.flatnonzero(first == here)
            low, high, of_record = begins, last[begins], session[place]
        else:
            low, high, of_record = np.maximum(first, here - reach), np.minimum(last, here + reach + 1), place
        long = running[high] - running[low]
        total = float(long @ (high - low)) if reach is None else float(long.sum())
        windows.append(Windows(reach, low, high, long, total, of_record))
    return Places(order, place, first, last, session, tuple(windows))


def said_in(places: Places, windows: Windows, docs: Array, counts: Array) -> tuple[Array, Array]:
    """The windows in which a word is said, and how often, given the records that have it.

    >>> places = places_of(np.ones(3), np.arange(3), np.zeros(3, int), np.full(3, 3), (1,))
    >>> [found.tolist() for found in said_in(places, places.windows[0], np.array([0]), np.array([2.0]))]
    [[0, 1], [2.0, 2.0]]
    """
    size = len(places.order)
    there = places.place[docs]
    reach = windows.reach
    dense: Array
    if reach is None:
        dense = np.bincount(places.session[there], counts)
    elif size < SMALL or (2 * reach + 1) * len(docs) > size / 2:  # to run through all is quicker
        dense = np.zeros(size)
        dense[there] = counts
        running = _running(dense)
        dense = running[windows.high] - running[windows.low]
    else:
        near = there[:, None] + np.arange(-reach, reach + 1)
        within = (near >= places.first[there][:, None]) & (near < places.last[there][:, None])
        dense = np.bincount(near[within], np.broadcast_to(counts[:, None], near.shape)[within], size)
    found = np.flatnonzero(dense > 0.0)  # ten times as quick as of numbers
    return found, dense[found]


def _running(values: Array) -> Array:
    return np.concatenate(([0.0], np.cumsum(values)))
