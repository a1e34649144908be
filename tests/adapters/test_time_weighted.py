"""Each framework's time-weighted retriever is asked fairly: each user's texts, as of the days of the data."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing

import pytest

from adaptive_memory_core.errors import MissingExtraError
from adaptive_memory_core.evaluate.datasets import Item
from adaptive_memory_core.evaluate.systems import System, SystemQuery, system_of
from adaptive_memory_core.models.embedder import as_embedder
from tests.conftest import DAY, START, word_vectors

PARTS = {"langchain": "langchain_classic.retrievers", "llama": "llama_index.vector_stores.chroma"}


@pytest.fixture
def system(framework: str) -> Iterator[System]:
    """With three notes a day apart, of which Ana has two."""
    settings = {"time_decay": 0.01} if framework == "llama" else {}
    with closing(system_of(f"{framework}_time_weighted", as_embedder(word_vectors), settings)) as made:
        made.write(
            "ana", [Item("tea", "green tea", ts=START), Item("cat", "the cat sleeps", ts=START + DAY)], now=START
        )
        made.write("ben", [Item("tram", "the tram is late", ts=START)], now=START)
        yield made


def ask(
    system: System, text: str, *, user: str = "ana", k: int = 2, days: float = 2.0, reading: bool = False
) -> list[str]:
    asked = SystemQuery(user, text, k, START + days * DAY, reading)
    system.prepare(asked)
    return list(system.ask(asked).ids)


@pytest.mark.parametrize("framework", PARTS)
def test_each_user_finds_what_is_theirs(system: System) -> None:
    assert ask(system, "green tea") == ["tea", "cat"]
    assert ask(system, "green tea", user="ben") == ["tram"]
    assert ask(system, "green tea", k=1) == ["tea"]


@pytest.mark.parametrize("framework", ["langchain"])
def test_time_counts_as_of_the_day_of_the_question_and_reads_only_where_they_count(system: System) -> None:
    """A word that both share: what is fresher wins, and a read makes the older one the fresher."""
    assert ask(system, "zebra crossing", days=1.1) == ["cat", "tea"]
    ask(system, "green tea", k=1, days=30, reading=False)
    assert ask(system, "zebra crossing", days=30.5)[0] in {"cat", "tea"}
    ask(system, "green tea", k=1, days=60, reading=True)
    assert ask(system, "zebra crossing", days=60.1) == ["tea", "cat"]


@pytest.mark.parametrize("framework", ["llama"])
def test_time_counts_as_of_the_day_of_the_question_and_reads_change_nothing(system: System) -> None:
    assert ask(system, "zebra crossing", days=1.01) == ["cat", "tea"]
    for _ in range(3):
        ask(system, "green tea", k=1, days=60, reading=True)
    assert ask(system, "zebra crossing", days=60.1) == ask(system, "zebra crossing", days=60.2)


def test_a_user_may_have_more_texts_than_chroma_takes_in_one_write() -> None:
    with closing(system_of("llama_time_weighted", as_embedder(word_vectors), {})) as many:
        many.write("ana", [Item(str(number), "green tea", ts=START) for number in range(5_500)], now=START)
        assert len(ask(many, "green tea", k=3)) == 3


@pytest.mark.parametrize("framework", PARTS)
def test_where_the_framework_is_missing_the_error_names_the_extra(
    framework: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, f"{framework}_adaptive_memory.time_weighted", raising=False)
    monkeypatch.setitem(sys.modules, PARTS[framework], None)
    with pytest.raises(MissingExtraError, match=r"adaptive-memory-retrieval\[peers\]"):
        system_of(f"{framework}_time_weighted", as_embedder(word_vectors), {})
