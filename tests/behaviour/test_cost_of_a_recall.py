"""What does a recall ask of SQLite and of Chroma? A few statements, and of Chroma nothing."""

from __future__ import annotations

import random
import sqlite3
import statistics
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import chromadb
import pytest
from chromadb import Collection

from adaptive_memory_core import AdaptiveMemory, Keeping, Policy, UserMemory
from adaptive_memory_core.store.chroma.chroma_changes import JUST_NOW_NS
from adaptive_memory_core.store.ledger.sql_ledger import SQLiteLedger
from tests.conftest import word_vectors

WORDS = [f"word{number}" for number in range(500)]
MOST_READING, MOST_WRITING, MOST_NUMBERING, TRIES = 6, 8, 2, 5


def text(chance: random.Random, words: int = 20) -> str:
    return " ".join(chance.choices(WORDS, k=words))


@pytest.fixture
def alice(tmp_path: Path) -> Iterator[UserMemory]:
    """A memory of which nothing is written back meanwhile, and whose recalls know that nobody has written since."""
    policy, never, chance = Policy(channels=("dense", "lexical")), Keeping(lag_seconds=3600), random.Random(7)
    with closing(
        AdaptiveMemory.open(tmp_path / "memory", embedder=word_vectors, policy=policy, keeping=never)
    ) as memory:
        user = memory.for_user("alice")
        user.remember_many(text(chance) for _ in range(100))
        memory.sync()
        time.sleep(2 * JUST_NOW_NS / 1e9)  # a file that was written just now tells nothing yet
        for _ in range(3):
            user.recall(text(chance, 6))
        yield user


@contextmanager
def statements(user: UserMemory) -> Iterator[list[str]]:
    """What this thread has SQLite do to the ledger."""
    ledger, here, found = user.memory.ports().ledger, threading.get_ident(), list[str]()
    assert isinstance(ledger, SQLiteLedger)
    connection: sqlite3.Connection = ledger.file._connection
    connection.set_trace_callback(lambda said: found.append(said) if threading.get_ident() == here else None)
    try:
        yield found
    finally:
        connection.set_trace_callback(None)


def parts(said: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """What was read, and what was written within a transaction."""
    begin = said.index("BEGIN IMMEDIATE")
    return said[:begin], said[begin : said.index("COMMIT") + 1]


def least(user: UserMemory, chance: random.Random, k: int = 5) -> Sequence[str]:
    """The statements of that one of several recalls that no work in the background came in between of."""
    found = list[Sequence[str]]()
    for _ in range(TRIES):
        with statements(user) as said:
            assert len(user.recall(text(chance, 6), k=k)) == k
        found.append(said)
    return min(found, key=len)


def test_a_recall_counts_itself_in_few_statements(alice: UserMemory) -> None:
    """However many records it read. Records that the log has not met are given their numbers in two more."""
    chance = random.Random(11)
    for k in (1, 5, 15):
        written = parts(least(alice, chance, k))[1]
        numbering = [one for one in written if "logged_ids" in one]
        assert len(numbering) <= MOST_NUMBERING, numbering
        assert len(written) - len(numbering) <= MOST_WRITING, written


def test_a_recall_reads_the_ledger_in_few_statements(alice: UserMemory) -> None:
    """What nobody has written since the last one is not asked for, and nothing is asked for twice."""
    read = parts(least(alice, random.Random(14)))[0]
    assert len(read) <= MOST_READING, read
    assert len(set(read)) == len(read)


def test_what_is_read_for_the_first_time_is_news_for_nobody_else(tmp_path: Path) -> None:
    """The words and vectors of a user stay as they are in RAM when a record gets its first read state."""
    policy, chance = Policy(channels=("dense", "lexical")), random.Random(16)
    texts = [text(chance) for _ in range(40)]
    collection = chromadb.PersistentClient(str(tmp_path / "memory")).create_collection("memories")
    collection.add(texts, embeddings=word_vectors(texts), documents=texts, metadatas=[{"user_id": "alice"}] * 40)
    with closing(AdaptiveMemory(collection, embedder=word_vectors, policy=policy)) as memory:
        user = memory.for_user("alice")
        memory.sync()
        user.recall(texts[0], k=1)
        with statements(user) as said:
            for one in texts[1:]:
                assert user.recall(one, k=1)[0].text == one
        read = [one for one in said if "INTO records" not in one]
        assert len(said) - len(read) >= 30  # most of them got one
        again = [one for one in read if "_gone" in one or "FROM spans" in one or "FROM erased" in one]
        assert len(again) <= 10, again[:10]  # none but for what the background wrote


def test_a_recall_asks_nothing_of_chroma(alice: UserMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even whether others have written: the times of its files tell."""
    here, asked, chance = threading.get_ident(), list[str](), random.Random(15)
    for name in ("count", "get", "query", "peek"):
        call = getattr(Collection, name)

        def noted(*given: object, name: str = name, call: Callable[..., object] = call, **named: object) -> object:
            if threading.get_ident() == here:
                asked.append(name)
            return call(*given, **named)

        monkeypatch.setattr(Collection, name, noted)
    for _ in range(3):
        assert len(alice.recall(text(chance, 6))) == 5
    assert asked == []


def test_what_was_just_remembered_is_not_indexed_again(tmp_path: Path) -> None:
    """Chroma gives back a time with 17 digits as another one, which would look as if others had changed the record."""
    policy, chance = Policy(channels=("dense", "lexical")), random.Random(13)
    where = tmp_path / "memory"
    with closing(
        AdaptiveMemory.open(
            where,
            embedder=word_vectors,
            policy=policy,
            clock=lambda: 1795344668.8869421,
            keeping=Keeping(lag_seconds=3600),
        )
    ) as memory:
        user = memory.for_user("alice")
        user.remember_many(text(chance) for _ in range(20))
        user.recall(text(chance, 6))
        memory.sync()
        with statements(user) as said:
            for _ in range(3):
                user.recall(text(chance, 6))
                memory.sync()
        assert not [one for one in said if one.startswith(("INSERT INTO words", "INSERT INTO mirror ("))]


def test_after_another_process_wrote_no_more_is_asked_for_each_record(alice: UserMemory) -> None:
    chance = random.Random(12)
    found: dict[int, list[int]] = {2: [], 15: []}
    for _ in range(TRIES):
        for k, counts in found.items():
            alice.memory.ports().ledger.file.on_failure()  # all that was noted is gone
            with statements(alice) as said:
                alice.recall(text(chance, 6), k=k)
            counts.append(len(said))
    few, many = (
        statistics.median(counts) for counts in found.values()
    )  # the background now and then adds or spares some
    assert abs(many - few) <= 2, found  # 13 records more
