"""Which records that the collection still has did a call under way let go of? They are not new: they are leaving."""

from __future__ import annotations

from collections.abc import Sequence

from adaptive_memory_core.let_others_run import is_under_way, own_call


class OnTheirWay:
    """By the call that removes them.

    >>> leaving = OnTheirWay(); leaving.note(["tea"]); leaving.may_be(1)      # within no call
    False
    """

    def __init__(self) -> None:
        self._of_calls: dict[object, frozenset[str]] = {}

    def note(self, stored_ids: Sequence[str]) -> None:
        """The words of these are let go of, before or after the collection does so."""
        call = own_call()
        if call is not None:
            self._of_calls[call] = self._of_calls.get(call, frozenset()).union(stored_ids)

    def may_be(self, more: int) -> bool:
        """Whether so many records more than are known may all be such."""
        for call in list(self._of_calls):
            if not is_under_way(call):
                self._of_calls.pop(call, None)
        return 0 < more <= sum(map(len, list(self._of_calls.values())))
