"""A user who is forgotten: no trace is left in Chroma, in the ledger or in RAM, and nobody else loses anything."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from chromadb import Collection

from adaptive_memory_core import AdaptiveMemory, NotFoundError, Policy, ScopeError
from tests.conftest import Clock, Open, word_vectors

GRAPH = Policy(channels=("dense", "lexical", "graph"))
NAME, WORD = "zerlina", "quetzalcoatl"  # that stand nowhere else


def live(memory: AdaptiveMemory, name: str, word: str = "tea") -> None:
    """All that a user can leave behind."""
    user = memory.for_user(name, over="everyone", policy=Policy(half_life_days=3))
    user.remember_many([{"text": f"{name} likes {word} number {n}", "id": f"n{n}"} for n in range(12)])
    user.remember(f"{name} no longer likes {word}", id="new", supersedes="n1", derived_from=["n2"])
    messages = [{"speaker": name, "text": f"I met {word.title()} Smith {n}", "session": word} for n in range(4)]
    user.observe(messages)
    user.themes()
    recall = user.recall(f"what about {word}?", k=4, policy=GRAPH)
    user.feedback(recall, helpful=[recall[0].id], unhelpful=[recall[1].id])
    user.update("n3", text=f"{name} says {word} again")
    user.recall("handbook", k=2, turn=f"turn of {name}")
    user.pin("n4")
    user.demote("n5")
    memory.flush()


def names_in_files(place: Path) -> list[str]:
    """The files of the ledger in which the user's name or word stands."""
    files = [one for one in place.rglob("adaptive_memory.sqlite3*") if one.is_file()]
    return [one.name for one in files if any(word.encode() in one.read_bytes().lower() for word in (NAME, WORD))]


async def test_nothing_of_a_forgotten_user_is_left_and_others_keep_all(open_memory: Open, tmp_path: Path) -> None:
    memory = open_memory()
    memory.for_everyone().remember("the handbook", id="handbook")
    for name, word in (("ana", "tea"), (NAME, WORD), ("ben", "coffee")):
        live(memory, name, word)
    others = [memory.for_user(name) for name in ("ana", "ben")]
    before = [(one.records(), one.recalls(), one.changes(), one.stats().verdicts) for one in others]
    assert memory.users() == ["ana", "ben", NAME] == await memory.ausers()
    assert names_in_files(tmp_path)

    assert memory.forget_user(NAME) == 17
    assert memory.users() == ["ana", "ben"]
    assert [(one.records(), one.recalls(), one.changes(), one.stats().verdicts) for one in others] == before
    assert memory.for_everyone().get("handbook").text == "the handbook"
    again = memory.for_user(NAME, over="everyone")
    assert again.recall(WORD, policy=GRAPH, reinforce=False).ids == ("handbook",)
    assert (memory.for_user(NAME).records(), again.stats().recalls, again.recalls(), again.changes()) == ([], 0, [], [])
    assert again.get("handbook").read.retrieval_count == 0
    assert list(again.themes()) == []
    with pytest.raises(NotFoundError, match=r"nothing of user 'zerlina'.*memory\.users\(\)"):
        memory.forget_user(NAME)
    memory.flush()
    memory.close()
    assert not names_in_files(tmp_path)
    memory = open_memory()
    assert memory.users() == ["ana", "ben"]
    assert memory.check().ok


def test_a_user_who_was_forgotten_may_come_back_as_somebody_new(open_memory: Open, clock: Clock) -> None:
    with open_memory() as memory:
        live(memory, "ana")
        old = memory.for_user("ana")
        memory.forget_user("ana")
        assert old.remember("Ana likes juice", id="n1") == "n1"
        clock.pass_seconds(90)
        assert old.recall("juice").ids == ("n1",)
        assert (old.stats().recalls, old.get("n1").read.retrieval_count) == (1, 1)
        assert memory.users() == ["ana"]
    with open_memory() as memory:
        ana = memory.for_user("ana")
        assert [one.id for one in ana.recalls()[0].kept] == ["n1"]
        assert ana.recall("juice", reinforce=False).policy.half_life_days == Policy().half_life_days
        assert memory.check().ok


async def test_another_process_that_knows_the_user_goes_on_with_the_new_one(open_memory: Open) -> None:
    with open_memory() as memory, open_memory() as other:
        live(memory, "ana")
        there = other.for_user("ana")
        there.recall("tea")
        assert await memory.aforget_user("ana") == 17
        assert there.records() == []
        there.remember("Ana likes juice", id="juice")
        assert there.recall("juice").ids == memory.for_user("ana").recall("juice").ids == ("juice",)
        assert memory.for_user("ana").stats().recalls == 2


def test_users_are_those_of_the_records_and_of_the_ledger(memory: AdaptiveMemory, collection: Collection) -> None:
    texts = ["a", "b", "c", "d"]
    owners: list[Any] = ["elsewhere", 7, "", True]
    collection.add(
        ids=texts, documents=texts, embeddings=word_vectors(texts), metadatas=[{"user_id": one} for one in owners]
    )
    memory.for_everyone().remember("everyone's")
    memory.for_user("reader", over="everyone").recall("everyone's")
    memory.for_user(12).remember("a number's")
    assert memory.users() == [7, 12, "elsewhere", "reader"]
    assert memory.forget_user("elsewhere") == 1
    assert memory.forget_user(7) == 1
    assert memory.forget_user("reader") == 0
    assert memory.users() == [12]
    assert len(memory.for_everyone().records()) == 1
    for nobody in ("", None):
        with pytest.raises(ScopeError):
            memory.forget_user(nobody)  # type: ignore[arg-type]


def test_what_a_failure_left_of_a_user_goes_with_the_next_call(
    open_memory: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = open_memory()
    live(memory, "ana")
    removal = memory.ports().ledger.removal
    with monkeypatch.context() as patched:
        patched.setattr(type(removal), "forget_user", lambda *_: (_ for _ in ()).throw(sqlite3.OperationalError("cut")))
        with pytest.raises(sqlite3.OperationalError):
            memory.forget_user("ana")
    assert memory.users() == ["ana"]
    assert memory.forget_user("ana") == 0
    assert memory.users() == []
