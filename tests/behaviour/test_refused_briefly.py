"""Is every wrong argument refused in a few words of ours? Never by Python's own error, never with the whole input."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import chromadb
import pytest

from adaptive_memory_core import AdaptiveMemory, InvalidInputError, NotFoundError, Policy, ScopeError, UserMemory
from adaptive_memory_core.errors import FilterError, PolicyError, StoreError
from tests.behaviour.refused_input import alice, hers, refused, untouched
from tests.conftest import word_vectors

__all__ = ["alice", "hers", "untouched"]  # fixtures

ROOT = Path(__file__).parents[2]
LONG = "z" * 100_000
NO_PATHS = ["a\0b", "a\ud800", "x" * 5_000]


@pytest.mark.parametrize("days", [10**400, 10**11, 1e300, float("inf"), float("nan"), 0, True, "90"])
def test_an_age_that_is_no_number_of_days_is_refused(untouched: UserMemory, days: Any) -> None:
    refused(lambda: untouched.prune(unread_for=days, dry_run=True), InvalidInputError, "unread_for is")


def test_the_greatest_age_is_an_age(alice: UserMemory) -> None:
    assert not alice.prune(unread_for=timedelta.max, dry_run=True).ids


@pytest.mark.parametrize("language", [["de"], "", None, 3, {"de"}, "klingon"])
def test_a_language_without_questions_is_refused(untouched: UserMemory, language: Any) -> None:
    refused(lambda: untouched.calibrate(language=language), InvalidInputError, "questions in", "'en', 'de'")


@pytest.mark.parametrize("progress", [3, "print", []])
def test_a_progress_that_cannot_be_called_is_refused(untouched: UserMemory, tmp_path: Path, progress: Any) -> None:
    memory, ledger = untouched.memory, str(tmp_path / "ledger.sqlite3")
    assert isinstance(memory, AdaptiveMemory)
    calls: list[Callable[[], object]] = [
        lambda: untouched.observe([{"text": "hi"}], progress=progress),
        lambda: untouched.themes(progress=progress),
        lambda: memory.backup(tmp_path / "copy", progress=progress),
        lambda: memory.reembed(word_vectors, progress=progress),
        lambda: AdaptiveMemory.repair(tmp_path, progress=progress),
        lambda: AdaptiveMemory.move_ledger(ledger, "postgresql:///reads", progress=progress),
    ]
    for call in calls:
        refused(call, InvalidInputError, "progress is", "function")


@pytest.mark.parametrize("flag", ["no", "yes", float("nan"), 1, None])
def test_what_is_neither_yes_nor_no_is_refused(memory: AdaptiveMemory, tmp_path: Path, flag: Any) -> None:
    refused(lambda: memory.check(flag), InvalidInputError, "repair is")
    refused(lambda: AdaptiveMemory.repair(tmp_path, rebuild=flag), InvalidInputError, "rebuild is")
    refused(lambda: AdaptiveMemory.move_ledger("a", "b", source_stays=flag), InvalidInputError, "source_stays is")


@pytest.mark.parametrize("below", ["x", 0, 1.5, None])
def test_a_bound_of_a_fallback_is_checked_without_a_fallback_too(memory: AdaptiveMemory, below: Any) -> None:
    refused(lambda: memory.for_user("u", fallback_below=below), InvalidInputError, "fallback_below is")


def test_a_mapping_names_no_users(memory: AdaptiveMemory) -> None:
    users: Any = {}
    refused(lambda: memory.replay(user=users), ScopeError, "user is {}")


@pytest.mark.parametrize("path", NO_PATHS, ids=["NUL", "surrogate", "long"])
def test_a_path_that_no_file_system_takes_is_refused(untouched: UserMemory, path: str) -> None:
    memory = untouched.memory
    assert isinstance(memory, AdaptiveMemory)
    refused(lambda: AdaptiveMemory.open(path), InvalidInputError, "The path is")
    refused(lambda: AdaptiveMemory.repair(path), InvalidInputError, "The path is")
    refused(lambda: memory.backup(path), InvalidInputError, "The path is")
    refused(lambda: untouched.prune(max_records=1, archive=path), InvalidInputError, "archive is")


def test_what_is_shown_of_a_long_input_is_short(untouched: UserMemory) -> None:
    recall = untouched.recall("green tea", reinforce=False)
    given: Any = LONG
    calls: list[tuple[type[Any], Callable[[], object]]] = [
        (InvalidInputError, lambda: untouched.feedback(recall, helpful=given)),
        (InvalidInputError, lambda: untouched.feedback_on_answer(helpful=given)),
        (InvalidInputError, lambda: untouched.remember("tea", importance=given)),
        (InvalidInputError, lambda: untouched.remember("tea", metadata=given)),
        (InvalidInputError, lambda: untouched.remember("tea", metadata={LONG: object()})),
        (InvalidInputError, lambda: untouched.remember("tea", derived_from=given)),
        (InvalidInputError, lambda: untouched.remember_many([{LONG: 1}])),
        (InvalidInputError, lambda: untouched.remember_many(given)),
        (InvalidInputError, lambda: untouched.evaluate([{LONG: 1}])),
        (InvalidInputError, lambda: untouched.recall("tea", k=given)),
        (InvalidInputError, lambda: untouched.recall("tea", k=10**5_000)),
        (InvalidInputError, lambda: recall.render(style=given)),
        (FilterError, lambda: untouched.recall("tea", filter=given)),
        (FilterError, lambda: untouched.recall("tea", filter={"a": {"$like": LONG}})),
        (PolicyError, lambda: untouched.recall("tea", policy=given)),
        (PolicyError, lambda: Policy.preset(given)),
        (PolicyError, lambda: Policy(half_life_days=given)),
        (ScopeError, lambda: untouched.memory.for_user([LONG])),  # type: ignore[arg-type]
    ]
    for error, call in calls:
        with pytest.raises(error) as refusal:
            call()
        assert len(str(refusal.value)) < 1_000


def test_of_many_ids_some_are_listed(untouched: UserMemory) -> None:
    many = [f"{number} {'z' * 900}" for number in range(1_000)]
    with pytest.raises((InvalidInputError, NotFoundError)) as refusal:
        untouched.feedback(untouched.recall("green tea", reinforce=False), helpful=many)
    assert "and 990 more" in str(refusal.value)
    assert len(str(refusal.value)) < 5_000


def test_an_error_of_chroma_ends_with_one_full_stop() -> None:
    client = chromadb.EphemeralClient()
    collection = client.create_collection("gone-with-a-stop", embedding_function=None)
    with AdaptiveMemory(collection, embedder=word_vectors) as memory:
        memory.for_user("alice").remember("tea")
        client.delete_collection("gone-with-a-stop")
        with pytest.raises(StoreError) as failure:
            memory.flush()
    assert "does not exist. reset_collection() and" in str(failure.value)


def shown_whole(file: Path) -> Iterator[str]:
    """What a refusal in this file would show of its input however long that is: `{value!r}`."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in {"InvalidInputError", "PolicyError", "ScopeError"}:
            for part in ast.walk(node):
                if isinstance(part, ast.FormattedValue) and part.conversion == ord("r"):
                    yield ast.unparse(part.value)


@pytest.mark.parametrize(
    "folder",
    ["shared/adaptive_memory_core/arguments", "shared/adaptive_memory_core/verbs", "langchain_adaptive_memory"],
)
def test_refusals_show_their_input_in_one_way(folder: str) -> None:
    """A constant of ours and the path of a file may be shown whole."""
    found = [one for file in sorted((ROOT / folder).rglob("*.py")) for one in shown_whole(file)]
    assert not [one for one in found if not one.isupper() and not one.startswith("str(")]
