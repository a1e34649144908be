"""Is a record that was forgotten and remembered anew a record like any other? Also to the log, and at once."""

from __future__ import annotations

from adaptive_memory_core import AdaptiveMemory


def test_what_is_remembered_under_a_forgotten_id_is_logged_and_judged(memory: AdaptiveMemory) -> None:
    alice = memory.for_user("alice")
    for number in range(5):
        alice.remember(f"zebra number {number}", id="zebra")
        alice.remember(f"giraffe number {number}", id=f"giraffe {number}")
        answer = alice.recall("zebra", k=1)
        assert alice.feedback(answer, helpful=["zebra"]) == 1
        assert [one.id for one in alice.recalls(limit=1)[0].kept] == ["zebra"]
        alice.forget("zebra")
        assert not [one for past in alice.recalls() for one in past.candidates if one.id == "zebra"]
        alice.recall("giraffe", k=1)  # whose id may get the number that has become free
