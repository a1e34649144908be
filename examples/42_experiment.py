"""Which memory suits my data? Three systems on labelled questions in one run, with paired differences.

python examples/42_experiment.py
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from adaptive_memory_core.evaluate.compare import compare
from adaptive_memory_core.evaluate.comparison import comparison_text
from adaptive_memory_core.evaluate.plan import experiment_of

NOTES = {
    "deploys": "Deploys are done on Tuesdays.",
    "freeze": "Nothing is deployed in the last week of December.",
    "pool": "When checkout is slow, look at the Postgres pool first.",
    "standup": "The standup is at nine in the blue room.",
    "keys": "The keys of the archive are with Ines.",
    "invoice": "Error E-4711 means that an invoice has no address.",
    "canteen": "The canteen closes at two.",
    "laptop": "Laptops are ordered through the helpdesk.",
}
QUESTIONS = {  # what is asked, the note that answers it, and the answer
    "on which day do we deploy?": ("deploys", "Tuesdays"),
    "who has the archive's keys?": ("keys", "Ines"),
    "what does E-4711 mean?": ("invoice", "an invoice has no address"),
    "where is the standup?": ("standup", "blue room"),
    "what do I do about a slow checkout?": ("pool", "the Postgres pool"),
    "how do I get a laptop?": ("laptop", "through the helpdesk"),
}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder, "notes"))
        systems = [{"use": "chroma"}, {"use": "bm25"}, {"use": "adaptive", "name": "default"}]
        plan = experiment_of({"data": [{"folder": "notes"}], "systems": systems, "k": 3}, Path(folder))
        found = compare(plan)
    print(comparison_text(found))
    best = found.of("default", "NDCG@3")
    print(f"\nNDCG@3 of the default: {best.mean:.3f} over {best.questions} questions")
    changed = [one.system for one in found.differences if one.measure == "NDCG@3" and one.settled]
    print("settled differences from Chroma:", changed or "none: six questions are few")


def write(folder: Path) -> None:
    """The two files of a folder of labelled data: what can be found, and what answers which question."""
    folder.mkdir()
    corpus = [{"id": name, "text": text} for name, text in NOTES.items()]
    queries = [
        {"id": f"q{number}", "query": question, "gold_ids": [gold], "answer": answer}
        for number, (question, (gold, answer)) in enumerate(QUESTIONS.items())
    ]
    for name, rows in (("corpus", corpus), ("queries", queries)):
        (folder / f"{name}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")


if __name__ == "__main__":
    main()
