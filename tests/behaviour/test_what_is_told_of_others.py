"""What can a scope learn of another? Nothing: not from numbers, not from ids, not from what a hit carries."""

from __future__ import annotations

from dataclasses import replace

from adaptive_memory_core import AdaptiveMemory


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
