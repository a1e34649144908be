"""Is a directory of which only one half came from a backup brought up to date, from the half that is newer?"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from adaptive_memory_core import AdaptiveMemory, Policy
from tests.conftest import Clock, word_vectors

EVERY = Policy(refresh_floor_seconds=0.0)
LEDGER = "adaptive_memory.sqlite3"


def opened(path: Path, clock: Clock) -> AdaptiveMemory:
    return AdaptiveMemory.open(path, embedder=word_vectors, policy=EVERY, clock=clock)


@pytest.fixture
def places(tmp_path: Path, clock: Clock) -> tuple[Path, Path]:
    """A memory, closed, and an older backup of it."""
    path, older = tmp_path / "memory", tmp_path / "older"
    with opened(path, clock) as memory:
        alice = memory.for_user("alice")
        alice.remember_many([{"id": f"m{one}", "text": f"note {one} about topic{one}"} for one in range(20)])
        memory.flush()
        alice.recall("topic3", k=1)
        memory.backup(older)
        clock.pass_seconds(100)
        alice.remember_many([{"id": f"m{one}", "text": f"note {one} about topic{one}"} for one in range(20, 30)])
        alice.remember("note 5 told otherwise", id="m5")
        alice.feedback(alice.recall("topic7", k=1), helpful=["m7"])
        alice.pin("m8")
        alice.forget("m9")
    return path, older


def exchange(path: Path, older: Path, *, ledger: bool) -> None:
    """Put the older ledger, or all but it, in the place of the newer."""
    for file in list(path.iterdir()):
        if file.name.startswith(LEDGER) == ledger:
            shutil.rmtree(file) if file.is_dir() else file.unlink()
    for file in older.iterdir():
        if file.name.startswith(LEDGER) == ledger:
            (shutil.copytree if file.is_dir() else shutil.copy2)(file, path / file.name)


def assert_as_it_was(memory: AdaptiveMemory, clock: Clock) -> None:
    alice = memory.for_user("alice")
    assert alice.recall("topic25", k=1, reinforce=False).ids == ("m25",)
    assert alice.get("m5").text == "note 5 told otherwise"
    assert alice.recall("note told otherwise", k=1, reinforce=False).ids == ("m5",)
    assert alice.get("m3").read.retrieval_count == 1


def test_an_older_chroma_is_refilled_from_the_ledger(places: tuple[Path, Path], clock: Clock) -> None:
    path, older = places
    exchange(path, older, ledger=False)
    with pytest.warns(RuntimeWarning, match=r"older than the ledger.*check\(repair=True\)"):
        memory = opened(path, clock)
    with memory:
        alice = memory.for_user("alice")
        alice.remember("written before the repair", id="new")
        alice.recall("topic3", k=1, reinforce=False)
        memory.sync()
        report = memory.check()
        assert "13 records are missing or older" in str(report)  # ten new ones, a new text, one judged, one pinned
        assert "'m9'" in str(report), "what was forgotten since is named"
        memory.check(repair=True)
        assert memory.check().ok, str(memory.check())
        assert_as_it_was(memory, clock)
        assert alice.get("m7").read.helpful == 1
        assert alice.get("m8").read.pinned
        assert alice.get("new").text == "written before the repair"
        alice.forget("m9")
        memory.sync()
        collection = memory.ports().records.collection
        assert set(collection.get()["ids"]) == {f"m{one}" for one in range(30) if one != 9} | {"new"}
        assert memory.ports().ledger.mirror.stored_ids() == set(collection.get()["ids"])
    with opened(path, clock) as again:
        assert again.check().ok
        assert_as_it_was(again, clock)


def test_repair_refills_it_as_well(places: tuple[Path, Path], clock: Clock) -> None:
    path, older = places
    exchange(path, older, ledger=False)
    with pytest.warns(RuntimeWarning, match="older than the ledger"):
        report = AdaptiveMemory.repair(path, embedder=word_vectors)
    assert "missing or older" in str(report)
    with opened(path, clock) as memory:
        assert_as_it_was(memory, clock)


def test_an_older_ledger_takes_in_what_chroma_has(places: tuple[Path, Path], clock: Clock) -> None:
    path, older = places
    exchange(path, older, ledger=True)
    with pytest.warns(RuntimeWarning, match="later reads"):
        memory = opened(path, clock)
    with memory:
        memory.sync()
        memory.check(repair=True)
        assert memory.check().ok, str(memory.check())
        assert_as_it_was(memory, clock)
        alice = memory.for_user("alice")
        assert alice.get("m7").read.retrieval_count == 1
        assert "m9" not in alice.recall("topic9", k=50, reinforce=False).ids
        assert memory.ports().ledger.mirror.stored_ids() == {f"m{one}" for one in range(30) if one != 9}
