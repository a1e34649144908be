"""Is a record compared again when, and only when, it says something else?"""

from __future__ import annotations

import pytest

from adaptive_memory_core.fields import Fields
from adaptive_memory_core.flow.ports import Found
from adaptive_memory_core.records import Scope
from adaptive_memory_core.store.words.compared import Compared

ANA = Scope("ana")
TEA = Found("a", "tea", {"speaker": "Ana", "retrieval_count": 1}, 0.5)


def test_what_was_compared_is_not_compared_again() -> None:
    known = Compared(Fields())
    assert known.unknown(ANA, [TEA]) == [TEA]
    known.keep(ANA, [TEA])
    read_since = TEA._replace(metadata={"speaker": "Ana", "retrieval_count": 2}, similarity=0.1)
    assert known.unknown(ANA, [TEA, read_since]) == []


@pytest.mark.parametrize(
    "changes",
    [{"text": "coffee"}, {"metadata": {"speaker": "Ben"}}, {"metadata": {"speaker": ["Ana"]}}, {"metadata": None}],
)
def test_what_says_something_else_is(changes: dict[str, object]) -> None:
    known = Compared(Fields())
    known.keep(ANA, [TEA])
    now = TEA._replace(**changes)  # type: ignore[arg-type] # fields of it
    assert known.unknown(ANA, [now]) == [now]


def test_what_changed_hands_is() -> None:
    known = Compared(Fields())
    known.keep(ANA, [TEA])
    assert known.unknown(Scope("ben"), [TEA]) == [TEA]


def test_in_one_state_of_the_collection_each_is_looked_at_once() -> None:
    known, coffee = Compared(Fields()), TEA._replace(text="coffee")
    assert known.unknown_in("now", ANA, [TEA]) == known.unknown_in("now", ANA, [TEA]) == [TEA]
    known.keep(ANA, [TEA])
    assert known.unknown_in("now", ANA, [TEA]) == known.unknown_in("now", ANA, [coffee]) == []
    assert known.unknown_in("later", ANA, [coffee]) == [coffee]
    known.unknown_in("later", ANA, [TEA])
    for state in ("later", None):
        known.forget(["a"])
        assert known.unknown_in(state, ANA, [TEA]) == [TEA]
