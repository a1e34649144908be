"""What happens to what makes no sense? A clear error, or what the documentation says - and nothing half-written."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from chromadb import Collection

from adaptive_memory_core import (
    AdaptiveMemory,
    AdaptiveMemoryError,
    InvalidInputError,
    NotFoundError,
    Policy,
    PolicyError,
    ScopeError,
    UserMemory,
)
from adaptive_memory_core.errors import EmbedderError, FilterError, PartialWriteError, StoreError

if TYPE_CHECKING:
    from tests.conftest import Contents, Open, Rows, Vectors

SURROGATE = "half \ud800 a pair"
GUIDANCE = ("Give", "give", "must", "Use", "Judge", "Pass", "Decode", "A name has")


@pytest.fixture
def alice(memory: AdaptiveMemory) -> UserMemory:
    scope = memory.for_user("alice")
    scope.remember_many([{"text": "green tea", "id": "a"}, {"text": "red car", "id": "b"}])
    scope.recall("green tea", k=1)
    memory.flush()
    return scope


@pytest.fixture
def untouched(
    alice: UserMemory,
    memory: AdaptiveMemory,
    collection: Collection,
    ledger_rows: Callable[..., Rows],
    contents: Callable[[Collection], Contents],
) -> Iterator[UserMemory]:
    """Alice's memory, which must be at the end what it was at the beginning."""
    before = ledger_rows(memory), contents(collection)
    yield alice
    memory.flush()
    assert (ledger_rows(memory), contents(collection)) == before


def refused(call: Callable[[], object], error: type[AdaptiveMemoryError], *named: str) -> None:
    """The call fails with this error, which shows what was given and says what to do."""
    with pytest.raises(error) as refusal:
        call()
    message = str(refusal.value)
    assert all(one in message for one in named), message
    assert any(word in message for word in GUIDANCE), message
    assert len(message) < 2_000


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


def test_a_k_above_the_collections_size_gives_what_there_is(alice: UserMemory) -> None:
    assert len(alice.recall("tea", k=10_000)) == 2


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


@pytest.mark.parametrize("name", ["now"])
@pytest.mark.parametrize("value", [math.nan, "today", datetime(2025, 1, 1), 10**400], ids=lambda v: str(v)[:9])
def test_a_now_that_is_none_is_refused(untouched: UserMemory, name: str, value: Any) -> None:
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
        lambda: untouched.forget(one),
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


BAD_METADATA: list[Any] = [
    {"key": None},
    {"key": {"nested": 1}},
    {"key": []},
    {"key": [1, "a"]},
    {"key": [1, 2.5]},
    {"key": [[1]]},
    {"key": (1, 2)},
    {"key": {1, 2}},
    {"key": b"bytes"},
    {"key": datetime(2025, 1, 1)},
    {"key": math.nan},
    {"key": math.inf},
    {"key": [math.nan]},
    {"key": 2**63},
    {"key": np.float32(1)},
    {"key": np.int64(1)},
    {"key": SURROGATE},
    {"key": [SURROGATE]},
    {SURROGATE: 1},
    {"": 1},
    {5: 1},
    {None: 1},
    {"chroma:document": "x"},
    {"#document": "x"},
    {"$and": 1},
    {"$anything": 1},
    {"user_id": "bob"},
    {"last_read": 5.0},
    {"retrieval_count": 5},
    "text",
    [("key", 1)],
    5,
]


@pytest.mark.parametrize("metadata", BAD_METADATA, ids=lambda metadata: ascii(metadata)[:30])
def test_metadata_that_cannot_be_kept_is_refused(untouched: UserMemory, metadata: Any) -> None:
    refused(lambda: untouched.remember("tea", metadata=metadata), InvalidInputError)


def test_metadata_that_can_be_kept_comes_back_as_it_was(alice: UserMemory) -> None:
    given: dict[str, Any] = {
        "text": "x\x00y",
        "empty": "",
        "whole": 2**63 - 1,
        "negative": -(2**63),
        "number": 0.1,
        "flag": True,
        "words": ["a", "b"],
        "flags": [True, False],
        "numbers": [1.5, 2.5],
        "key with spaces, ünï¢ødé and 日本": 1,
        "dollar$": 1,
        "hash#": 1,
    }
    alice.remember("tea", id="full", metadata=given)
    kept = alice.get("full").metadata
    assert kept == given
    assert {key: type(value) for key, value in kept.items()} == {key: type(value) for key, value in given.items()}


BAD_FILTERS: list[Any] = [
    {},
    [],
    "kind",
    5,
    {1: 2},
    {"a": None},
    {"a": {}},
    {"a": []},
    {"a": [1]},
    {"a": {"$foo": 1}},
    {"a": {"$gt": "x"}},
    {"a": {"$gt": 1, "$lt": 2}},
    {"a": {"$in": []}},
    {"a": {"$in": [1, "x"]}},
    {"a": math.nan},
    {"a": math.inf},
    {"a": b"x"},
    {"a": object()},
    {"a": SURROGATE},
    {SURROGATE: 1},
    {"$and": []},
    {"$and": [{"a": 1}]},
    {"$or": {"a": 1}},
    {"$not": [{"a": 1}]},
    {"$contains": "x"},
    {"#document": "x"},
]


@pytest.mark.parametrize("where", BAD_FILTERS, ids=lambda where: ascii(where).partition(" at 0x")[0][:30])
def test_a_filter_that_chroma_would_reject_is_refused(
    untouched: UserMemory, memory: AdaptiveMemory, where: Any
) -> None:
    refused(lambda: untouched.recall("tea", filter=where), FilterError, "The filter")
    refused(lambda: memory.for_everyone().recall("tea", filter=where), FilterError, "The filter")


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


def test_a_megabyte_of_text_is_kept_whole(alice: UserMemory) -> None:
    text = "tea and cake " * 80_000
    assert len(text) > 1_000_000
    alice.remember(text, id="large")
    assert alice.get("large").text == text
    answer = alice.recall("tea and cake", k=1)
    assert answer[0].id == "large"
    assert len(answer.explain()) < 2_000


PLANES = [chr(plane * 0x10000 + offset) for plane in range(17) for offset in (0x20, 0x1F31, 0xFFFF)]
CONTROLS = [chr(code) for code in range(0xA0) if unicodedata.category(chr(code)) == "Cc"]


def test_every_plane_of_unicode_and_every_control_character_is_kept(alice: UserMemory) -> None:
    texts = [f"tea {one} cake" for one in (*PLANES, *CONTROLS, "\ufeff", "\u202e", "e\u0301")]
    ids = alice.remember_many({"text": text, "id": f"id{text}", "metadata": {f"key{text}": text}} for text in texts)
    for one, text in zip(ids, texts, strict=True):
        record = alice.get(one)
        assert (record.id, record.text, record.metadata) == (f"id{text}", text, {f"key{text}": text})
    answer = alice.recall(f"tea {PLANES[-1]} cake", k=200)
    assert answer.explain()
    assert answer.render()
    assert len(answer.render().split("\n")) == len(answer) + 1


@pytest.mark.parametrize("character", [*CONTROLS, "\u2028"], ids=ascii)
def test_an_id_of_control_characters_can_be_forgotten(memory: AdaptiveMemory, character: str) -> None:
    alice, one = memory.for_user("alice"), f"id{character}x"
    alice.remember("tea", id=one)
    alice.recall("tea")
    receipt = alice.forget(one)
    assert (receipt.collection, receipt.ledger, receipt.log_entries) == (True, True, 1)
    assert alice.recalls()[0].candidates == ()


@pytest.mark.parametrize(
    "vectors",
    [
        lambda texts: [[math.nan] * 32] * len(texts),
        lambda texts: [[1.0] * 32],
        lambda texts: [[1.0] * 31] * len(texts),
        lambda texts: "no vectors",
        lambda texts: None,
        lambda texts: 1 / 0,
    ],
    ids=["nan", "too few", "too short", "text", "none", "raises"],
)
def test_an_embedder_that_breaks_its_promise_writes_nothing(
    untouched: UserMemory, collection: Collection, embed: Callable[..., Vectors], vectors: Callable[[list[str]], Any]
) -> None:
    def word_vectors(texts: list[str]) -> Any:
        return vectors(texts) if texts[0].startswith("bad") else embed(texts)

    word_vectors.__qualname__ = embed.__qualname__
    with AdaptiveMemory(collection, embedder=word_vectors, ledger=":memory:", clock=lambda: 1.76e9) as other:
        scope = other.for_user("alice")
        with pytest.raises(EmbedderError):
            scope.remember_many(["bad tea", "bad cake"])
        assert scope.stats().records == 2


@pytest.mark.slow
def test_a_batch_that_fails_late_says_what_is_stored(collection: Collection, embed: Callable[..., Vectors]) -> None:
    def moody(texts: list[str]) -> Vectors:
        if any("bad" in text for text in texts):
            raise ValueError("does not like it")
        return embed(texts)

    with AdaptiveMemory(collection, embedder=moody) as memory:
        alice = memory.for_user("alice")
        texts = [f"tea {n}" for n in range(5_400)] + ["bad tea"]
        with pytest.raises(PartialWriteError, match=r"5,000 of 5,401 records are stored") as partial:
            alice.remember_many(texts)
        written = partial.value.written_ids
        assert alice.stats().records == len(written) == 5_000
        assert alice.get(written[-1]).text == "tea 4999"


@pytest.mark.parametrize("path", ["", "  ", None, 5, b"here"], ids=repr)
def test_a_path_that_is_none_is_refused(path: Any, embed: Callable[..., Vectors]) -> None:
    refused(lambda: AdaptiveMemory.open(path, embedder=embed), InvalidInputError, "path")


def test_a_path_that_is_a_file_is_refused(tmp_path: Path, embed: Callable[..., Vectors]) -> None:
    (tmp_path / "file").write_text("not a directory")
    refused(lambda: AdaptiveMemory.open(tmp_path / "file", embedder=embed), StoreError, "file")
    assert (tmp_path / "file").read_text() == "not a directory"


@pytest.mark.parametrize("name", ["", "x", "no spaces please", "-start", "x" * 600])
def test_a_collection_name_that_chroma_refuses_is_refused(open_memory: Open, name: str) -> None:
    refused(lambda: open_memory(collection=name), StoreError, "name", "characters")


@pytest.mark.parametrize("ledger", ["", 5, b"x", True], ids=repr)
def test_a_ledger_that_is_none_is_refused(open_memory: Open, ledger: Any) -> None:
    refused(lambda: open_memory(ledger=ledger), InvalidInputError, "ledger")


@pytest.mark.parametrize("embedder", ["all-MiniLM", 5, [1.0], dict], ids=str)
def test_an_embedder_that_is_none_is_refused(collection: Collection, embedder: Any) -> None:
    with pytest.raises(InvalidInputError, match="embedder="):
        AdaptiveMemory(collection, embedder=embedder)


@pytest.mark.parametrize("budget", [0, -1, 1.5, "600", True, math.nan])
def test_a_budget_that_is_no_number_of_tokens_is_refused(alice: UserMemory, budget: Any) -> None:
    answer = alice.recall("tea")
    refused(lambda: answer.render(max_tokens=budget), InvalidInputError, "max_tokens")
