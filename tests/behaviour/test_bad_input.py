"""What happens to what makes no sense? A clear error, or what the documentation says - and nothing half-written."""

from __future__ import annotations

import math
from datetime import datetime, timezone
from functools import partial
from typing import Any

import pytest

from adaptive_memory_core import (
    AdaptiveMemory,
    InvalidInputError,
    NotFoundError,
    Policy,
    PolicyError,
    ScopeError,
    UserMemory,
)
from tests.behaviour.refused_input import SURROGATE, alice, hers, refused, untouched

__all__ = ["alice", "hers", "untouched"]  # fixtures


BLANK: list[Any] = ["", " ", "\n\t\r", None, 5, b"tea", ["tea"], float("nan")]


@pytest.mark.parametrize("text", [*BLANK, SURROGATE])
def test_a_text_without_words_is_refused(untouched: UserMemory, text: Any) -> None:
    refused(lambda: untouched.remember(text), InvalidInputError, "text")
    refused(lambda: untouched.remember_many(["fine", {"text": text}]), InvalidInputError, "text")


@pytest.mark.parametrize("cue", [*BLANK, SURROGATE])
def test_a_cue_without_words_is_refused(untouched: UserMemory, cue: Any) -> None:
    refused(lambda: untouched.recall(cue), InvalidInputError, "cue")


def test_an_enormous_cue_is_a_cue(alice: UserMemory) -> None:
    assert len(alice.recall("green tea " * 100_000)) == 2


@pytest.mark.parametrize(
    "k", [0, -1, 10_001, 10**400, 1.0, 2.5, True, "5", None, float("nan")], ids=lambda k: str(k)[:9]
)
def test_a_k_that_is_no_number_of_records_is_refused(untouched: UserMemory, k: Any) -> None:
    refused(lambda: untouched.recall("tea", k=k), InvalidInputError, "k is", "1 to 10,000")


@pytest.mark.parametrize(
    "value", [math.nan, math.inf, -0.1, 1.1, 10**400, True, "0.5", None, [0.5]], ids=lambda v: str(v)[:9]
)
def test_an_importance_outside_0_to_1_is_refused(untouched: UserMemory, value: Any) -> None:
    refused(lambda: untouched.remember("tea", importance=value), InvalidInputError, "importance is", "[0, 1]")


@pytest.mark.parametrize("value", [0, 1, 0.0, 1.0])
def test_an_importance_may_be_either_end(alice: UserMemory, value: float) -> None:
    assert alice.get(alice.remember("tea", importance=value)).importance == value


@pytest.mark.parametrize("name", ["created_at", "valid_from", "valid_until"])
@pytest.mark.parametrize(
    "value", [math.nan, math.inf, "2025-01-01", True, datetime(2025, 1, 1), 10**400, [1]], ids=lambda v: str(v)[:9]
)
def test_a_moment_that_is_none_is_refused(untouched: UserMemory, name: str, value: Any) -> None:
    refused(lambda: untouched.remember("tea", **{name: value}), InvalidInputError, name, "time zone")


@pytest.mark.parametrize("value", [1_767_225_600_000, 1.7e15, datetime(3001, 1, 1, tzinfo=timezone.utc)])
def test_a_time_in_milliseconds_is_refused_and_said_to_be_one(untouched: UserMemory, value: Any) -> None:
    for name in ("created_at", "valid_from", "valid_until"):
        storing = partial(untouched.remember, "tea", **{name: value})
        refused(storing, InvalidInputError, name, "year 3000", "by 1,000")
    refused(lambda: untouched.remember("tea", valid_until=value), InvalidInputError, "leave valid_until out")
    refused(lambda: untouched.observe([{"text": "Hi!", "at": value}]), InvalidInputError, "at is", "year 3000")
    refused(lambda: untouched.recall("tea", now=value), InvalidInputError, "now is", "year 3000")


def test_the_latest_time_is_the_year_3000(alice: UserMemory) -> None:
    last = datetime(3000, 1, 1, tzinfo=timezone.utc)
    assert alice.get(alice.remember("tea", valid_until=last)).valid_until == last.timestamp()


@pytest.mark.parametrize("value", [math.nan, "today", datetime(2025, 1, 1), 10**400], ids=lambda v: str(v)[:9])
def test_a_now_that_is_none_is_refused(untouched: UserMemory, value: Any) -> None:
    refused(lambda: untouched.recall("tea", now=value), InvalidInputError, "now is")
    refused(lambda: untouched.recalls(since=value), InvalidInputError, "since is")


def test_a_validity_of_no_length_is_refused(untouched: UserMemory) -> None:
    refused(lambda: untouched.remember("tea", valid_from=5.0, valid_until=5.0), InvalidInputError, "valid_until (5.0)")


BAD_IDS: list[Any] = ["", "  ", 5, b"a", "x" * 1_001, SURROGATE, ["a"]]


@pytest.mark.parametrize("one", BAD_IDS, ids=lambda one: repr(one)[:9])
def test_an_id_that_is_none_is_refused_by_every_verb(untouched: UserMemory, one: Any) -> None:
    answer = untouched.recall("tea", reinforce=False)
    for call in (
        lambda: untouched.remember("tea", id=one),
        lambda: untouched.get(one),
        lambda: untouched.pin(one),
        lambda: untouched.unpin(one),
        lambda: untouched.demote(one),
        lambda: untouched.forget([one]),
        lambda: untouched.feedback(answer, helpful=[one]),
        lambda: untouched.recalls(containing=one),
    ):
        refused(call, InvalidInputError, "id")
    refused(lambda: untouched.remember("tea", supersedes=one), InvalidInputError, "supersedes")


@pytest.mark.parametrize("verb", ["get", "pin", "unpin", "demote", "forget"])
@pytest.mark.parametrize("one", ["unknown", "e", "A", "a "])
def test_an_unknown_id_is_refused(untouched: UserMemory, verb: str, one: str) -> None:
    refused(lambda: getattr(untouched, verb)(one), NotFoundError, repr(one), "'alice'")


def test_an_unknown_recall_is_refused(untouched: UserMemory) -> None:
    refused(lambda: untouched.feedback("no such recall", helpful=["a"]), NotFoundError, "no such recall")
    bad: list[Any] = [None, 5, ""]
    for recall in bad:
        refused(lambda recall=recall: untouched.feedback(recall, helpful=["a"]), InvalidInputError, "recall id")  # type: ignore[misc]


def test_verdicts_that_contradict_each_other_or_come_twice_are_refused(untouched: UserMemory) -> None:
    answer = untouched.recall("tea", reinforce=False)
    refused(lambda: untouched.feedback(answer, helpful=["a"], unhelpful=["a"]), InvalidInputError, "'a' comes twice")
    refused(lambda: untouched.feedback(answer, helpful=["b", "b"]), InvalidInputError, "'b' comes twice")
    refused(lambda: untouched.feedback(answer, helpful="a"), InvalidInputError, "helpful=['a']")


def test_an_id_twice_in_one_batch_is_refused(untouched: UserMemory) -> None:
    batch = [{"text": "one", "id": "new"}, {"text": "other", "id": "fresh"}, {"text": "two", "id": "new"}]
    refused(lambda: untouched.remember_many(batch), InvalidInputError, "'new' comes twice")


@pytest.mark.parametrize(
    "item",
    [
        None,
        5,
        ["text"],
        {"id": "a"},
        {"txt": "a"},
        {"text": "a", "weight": 1},
        {"text": "a", "importance": 2},
        ("a", "b"),
    ],
    ids=str,
)
def test_one_bad_item_keeps_the_whole_batch_out(untouched: UserMemory, item: Any) -> None:
    refused(lambda: untouched.remember_many(["fine", item]), InvalidInputError)


@pytest.mark.parametrize("items", ["one text", {"text": "one"}, None, 5], ids=str)
def test_what_is_no_list_of_items_is_refused(untouched: UserMemory, items: Any) -> None:
    refused(lambda: untouched.remember_many(items), InvalidInputError, "list")


@pytest.mark.parametrize("user", ["", " ", "\n", None, 0, b"alice", ["alice"], True, 1.5], ids=repr)
def test_a_user_without_a_name_is_refused(memory: AdaptiveMemory, user: Any) -> None:
    refused(lambda: memory.for_user(user), ScopeError, repr(user), "for_everyone()")


@pytest.mark.parametrize("user", ["x" * 1_001, SURROGATE], ids=["long", "surrogate"])
def test_a_name_that_cannot_be_kept_is_refused(memory: AdaptiveMemory, user: str) -> None:
    refused(lambda: memory.for_user(user), InvalidInputError, "user id")


@pytest.mark.parametrize("policy", ["support", {"recall_k": 5}, 5, Policy], ids=str)
def test_a_policy_that_is_none_is_refused(untouched: UserMemory, policy: Any) -> None:
    refused(lambda: untouched.recall("tea", policy=policy), PolicyError, "policy is")


@pytest.mark.parametrize("limit", [0, -1, 1.5, True, "all", None])
def test_a_limit_that_is_no_number_is_refused(untouched: UserMemory, limit: Any) -> None:
    refused(lambda: untouched.recalls(limit=limit), InvalidInputError, "limit is")


@pytest.mark.parametrize("budget", [0, -1, 1.5, "600", True, math.nan])
def test_a_budget_that_is_no_number_of_tokens_is_refused(alice: UserMemory, budget: Any) -> None:
    answer = alice.recall("tea")
    refused(lambda: answer.render(max_tokens=budget), InvalidInputError, "max_tokens")


def test_one_wrong_thing_among_many_is_named_by_its_place(untouched: UserMemory) -> None:
    many: list[Any] = ["tea", {"text": "coffee", "importance": 4}, "milk"]
    refused(lambda: untouched.remember_many(many), InvalidInputError, "Item 2 of 3: importance is 4")
    said: list[Any] = [{"text": "Hi!"}, {"role": "assistant", "content": None}]
    refused(lambda: untouched.observe(said), InvalidInputError, "Message 2 of 2: The text is None")
