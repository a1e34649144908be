"""Does the store use what an item's value says of itself: its importance, kind and times?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from adaptive_memory_core import Fields, Policy, Weights
from langchain_adaptive_memory import AdaptiveMemoryStore

HOME = ("users", "ana")


def letters(texts: Sequence[str]) -> list[list[float]]:
    return [[float(text.count(letter)) for letter in "aeiou"] for text in texts]


INDEX: Any = {"dims": 5, "embed": letters, "fields": ["text"]}


def opened(**options: Any) -> AdaptiveMemoryStore:
    return AdaptiveMemoryStore(INDEX, **options)


def records(store: AdaptiveMemoryStore) -> dict[str, Any]:
    assert store.scope is not None
    return {one.text: one for one in store.scope.records()}


def test_the_importance_kind_and_times_of_a_value_are_those_of_its_record() -> None:
    with opened(policy=Policy(weights=Weights(recency=0, importance=1, similarity=0))) as store:
        for key, importance in (("a", 0.2), ("b", 0.9), ("c", 0.7)):
            store.put(HOME, key, {"text": f"tea {key}", "importance": importance, "kind": "fact"})
        store.put(
            HOME, "d", {"text": "tea d", "created_at": "2026-05-13T09:00Z", "valid_from": 5.0, "valid_until": 9e9}
        )
        found = records(store)
        assert [found[f"tea {key}"].importance for key in "abcd"] == [0.2, 0.9, 0.7, 0.5]
        assert [found[f"tea {key}"].kind for key in "abcd"] == ["fact", "fact", "fact", "event"]
        assert (found["tea d"].created_at, found["tea d"].valid_from) == (1_778_662_800.0, 5.0)
        assert [one.key for one in store.search(HOME, query="tea", limit=2)] == ["b", "c"]
        assert store.get(HOME, "b").value["importance"] == 0.9  # type: ignore[union-attr]


def test_an_importance_that_changes_is_that_of_the_record_from_then_on() -> None:
    with opened() as store:
        for importance in (0.2, 0.8):
            store.put(HOME, "a", {"text": "tea", "importance": importance})
        assert records(store)["tea"].importance == 0.8


def test_the_keys_are_those_of_fields() -> None:
    with opened(fields=Fields(importance="salience", importance_scale=10, kind="type")) as store:
        store.put(HOME, "a", {"text": "tea", "salience": 8, "type": "event", "importance": 0.1, "kind": "fact"})
        one = records(store)["tea"]
        assert (one.importance, one.kind) == (0.8, "event")


@pytest.mark.parametrize(
    "value",
    [
        {"importance": "high", "kind": ["fact"], "created_at": "some day", "valid_until": True},
        {"importance": 7, "kind": " ", "created_at": 1e300, "valid_from": {"a": 1}},
        {"importance": -1, "kind": "x" * 5_000, "valid_from": 9.0, "valid_until": 3.0},
        {"importance": None, "kind": None},
    ],
)
def test_what_means_something_else_is_left_alone(value: dict[str, Any]) -> None:
    with opened() as store:
        store.put(HOME, "a", {"text": "tea", **value})
        one = records(store)["tea"]
        assert (one.importance, one.kind, one.valid_from, one.valid_until) == (0.5, "event", None, None)
        assert store.search(HOME, query="tea")[0].value["text"] == "tea"
