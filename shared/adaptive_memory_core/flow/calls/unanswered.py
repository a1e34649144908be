"""Which calls were given up and have not come back? They are counted, so that no further one is begun for too many."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any

MOST_UNANSWERED = 4  # calls of one channel that may be running on unheard; guess
MOST_FUNCTIONS = 64  # whose unanswered calls are counted; guess


class Unanswered:
    """The calls of one channel that were given up and have not come back yet."""

    def __init__(self) -> None:
        self._turn, self._calls = threading.Lock(), 0

    @property
    def count(self) -> int:
        return self._calls

    @property
    def too_many(self) -> bool:
        return self._calls >= MOST_UNANSWERED

    def give_up(self, call: Any) -> None:
        with self._turn:
            self._calls += 1
        call.add_done_callback(self._came_back)

    def _came_back(self, call: Any) -> None:
        with self._turn:
            self._calls -= 1
        if not call.cancelled():
            call.exception()  # nobody is waiting for it any more


class UnansweredBy:
    """The same for functions that come with each call: what hangs is not held against another one.

    A function that is made anew for every call is known by its code, so that it cannot begin ever more threads."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._of: OrderedDict[Any, Unanswered] = OrderedDict()

    def of(self, given: Any) -> Unanswered:
        code = getattr(given, "__code__", None)
        key = (code, id(given) if code is None else id(getattr(given, "__self__", None)))
        with self._turn:
            found = self._of.setdefault(key, Unanswered())
            self._of.move_to_end(key)
            while len(self._of) > MOST_FUNCTIONS:
                self._of.popitem(last=False)
            return found
