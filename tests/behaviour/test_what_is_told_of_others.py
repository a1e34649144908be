"""What can a scope learn of another? Nothing: not from numbers, not from ids, not from what a hit carries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest

from adaptive_memory_core import AdaptiveMemory, NotFoundError, Policy
from adaptive_memory_core.identity import MARK
from adaptive_memory_core.policy import Advanced


def test_the_numbers_of_a_scope_stand_still_while_others_read_and_write(memory: AdaptiveMemory) -> None:
    alice, bob = memory.for_user("alice"), memory.for_user("bob")
    alice.remember("tea", id="tea")
    before, nobodys = alice.stats(), memory.for_user("carol").stats()
    bob.remember_many([f"coffee {number}" for number in range(20)])
    bob.feedback(bob.recall("coffee"), helpful=[bob.recall("coffee", reinforce=False)[0].id])
    memory.flush()
    assert bob.stats().projection.written > 0
    assert bob.stats().update_ms is not None
    for scope, known in ((alice, before), (memory.for_user("carol"), nobodys), (memory.for_everyone(), nobodys)):
        assert replace(scope.stats(), background=known.background) == known
        assert scope.history() == []
        assert scope.recalls() == []
        assert scope.changes() == []


def strings(found: Any, depth: int = 6) -> Iterator[str]:
    """All that can be read from an answer: what it prints, and its public attributes, however deep."""
    yield from (repr(found), str(found))
    inside: list[Any] = []
    if isinstance(found, Mapping):
        inside = [*found.keys(), *found.values()]
    elif isinstance(found, list | tuple | set | frozenset):
        inside = list(found)
    elif type(found).__module__.startswith("adaptive_memory_core"):
        names = [name for name in dir(found) if not name.startswith("_")]
        inside = [value for name in names if not callable(value := getattr(found, name))]
    for one in inside if depth else []:
        yield from strings(one, depth - 1)


def test_nothing_that_a_user_gets_shows_that_somebody_else_has_an_id(memory: AdaptiveMemory) -> None:
    memory.for_user("bob").remember("tea of bob", id="note")
    alice = memory.for_user("alice")
    told: list[Any] = [alice.remember("tea of alice", id="note"), alice.remember("more tea", id="more")]
    answer = alice.recall("tea", policy=Policy(advanced=Advanced(neighbours=True)))
    told += [answer, answer.explain(), answer.render(), *answer, answer[0].hit, alice.get("note")]
    told += [alice.feedback(answer, helpful=["note"]), alice.rerank("tea", {"note": 0.5, "none": None})]
    told += [alice.pin("note"), alice.pinned(), alice.remembered(), alice.changes(), alice.recalls(), alice.stats()]
    state = alice.export_state()
    told += [state, alice.demote("note"), alice.restore_state(state), alice.remember("white tea", supersedes="note")]
    told += [alice.history(), alice.prune(below=1.0, dry_run=True), alice.forget("note")]
    with pytest.raises(NotFoundError) as raised:
        alice.get("note")
    told.append(raised.value)
    assert not [one for one in strings(told) if MARK in one]
    assert len([one for one in strings(told) if "note" in one]) > 20, "the looking itself works"
