"""What is in a memory, to look at? A page of one user's memory, and one of all users without anybody's texts.

python examples/43_report.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from adaptive_memory_core import AdaptiveMemory, Policy
from adaptive_memory_core.policy import Decay

NOTES = [
    "Deploys are done on Tuesdays.",
    "The staging database is PostgreSQL 17.",
    "Ana is allergic to peanuts.",
    "The office in Lisbon opens at nine.",
]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        policy = Policy(decay=Decay(rate=0.95))  # what is not read fades, so that there is something to see
        with AdaptiveMemory.open(Path(folder, "memory"), policy=policy) as memory:
            ana = memory.for_user("ana")
            ana.remember_many([*NOTES, "<script>alert('a memory that would be a script')</script>"])
            for question in ("when do we deploy?", "which database?", "what is she allergic to?") * 4:
                recall = ana.recall(question, k=2)
                ana.feedback(recall, helpful=[recall[0].id])
            page = ana.report(Path(folder, "ana.html"))
            everyone = memory.report(Path(folder, "everyone.html"))
        for part in ("insights", "overview", "reading", "records", "recalls", "verdicts"):
            print(f"{part}:", f'<section id="{part}"' in page)
        print("scripts:", page.count("<script"), "of our own")
        print(
            "one file of", "less" if len(page) < 200_000 else "more", "than 200,000 characters, to be opened anywhere"
        )
        print("somebody's texts in the page of all users:", any(note in everyone for note in NOTES))


if __name__ == "__main__":
    main()
