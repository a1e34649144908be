"""Does it find the right memory? By words, by time, without copies - and nothing, where there is nothing to find.

python examples/07_the_right_memory.py
"""

from __future__ import annotations

import tempfile
from datetime import datetime, timedelta, timezone

from adaptive_memory_core import AdaptiveMemory, AgentState, Policy
from adaptive_memory_core.policy import Advanced

NOW = datetime(2026, 5, 13, 9, 0, tzinfo=timezone.utc)
NOTES = [
    (400, "We decided to keep the invoices in MySQL.", "mysql"),
    (90, "We decided to move the invoices to PostgreSQL.", "postgres"),
    (30, "Deploys of billing stop with ERR_TLS_4711 when the certificate is old.", "error"),
    (20, "Ana's cat is called Turing.", "cat"),
    (10, "Ana's cat is called Turing!", "cat-again"),
    (9, "Ana's CAT is called Turing.", "cat-once-more"),
    (5, "The office in Brno has a new coffee machine.", "coffee"),
    (2, "The standup moved to ten.", "standup"),
]


def main() -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        AdaptiveMemory.open(folder, clock=NOW.timestamp, shared=["handbook"]) as memory,
    ):
        ana = memory.for_user("ana")
        ana.remember_many(
            [{"text": text, "id": name, "created_at": NOW - timedelta(days=days)} for days, text, name in NOTES]
        )

        print("by a code      ", ana.recall("what is ERR_TLS_4711?", k=1).ids)
        print("by a time      ", ana.recall("what did we decide three months ago?", k=1).ids)
        print("originally     ", ana.recall("what did we originally decide about the invoices?", k=1).ids)
        print("without copies ", ana.recall("what is the cat called?", k=2).ids)

        state = AgentState(goal="Renew certificates", active_subtask="billing", utterance="it says ERR_TLS_4711")
        print("for an agent   ", ana.recall(state, k=1, in_context=["standup"]).ids)

        print(ana.calibrate())
        floor = Policy(advanced=Advanced(unrelated_answered=0.05))
        nothing = ana.recall("how do volcanoes erupt?", policy=floor)
        print(f"volcanoes: {len(nothing)} found, because {nothing.dropped[0].reason}")
        print("the cat:  ", len(ana.recall("what is the cat called?", policy=floor)), "found")

        memory.for_user("handbook").remember("Expenses are paid on Fridays.")
        new = memory.for_user("ben", fallback="handbook")
        for hit in new.recall("when are expenses paid?", k=1):
            print(f"for a new user: {hit.text} (shared: {hit.shared})")
        new.remember("Ben works from Oslo.")
        print("once he has one of his own:", [(hit.text, hit.shared) for hit in new.recall("when are expenses paid?")])


if __name__ == "__main__":
    main()
