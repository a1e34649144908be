"""What does a recall cost on disk? The bytes by which the ledger's file grows, with a full line of the log for each.

    python -m benchmarks.ledger_size [--recalls 1000] [--records 1000]

One user, texts and cues of made-up words, every read counted. The file is measured with the memory closed, so the
write-ahead log is in it.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

from adaptive_memory_core import AdaptiveMemory, LocalEmbedder, Policy, as_embedder
from adaptive_memory_core.store.locations import LEDGER_NAME
from benchmarks.report import print_table
from benchmarks.speed import clustered
from benchmarks.speed_words import LENGTH, USER, spoken

MANNERS = {
    "vectors": Policy(refresh_floor_seconds=0.0, channels=("dense",)),
    "vectors and words": Policy(refresh_floor_seconds=0.0, channels=("dense", "lexical")),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recalls", type=int, default=1_000)
    parser.add_argument("--records", type=int, default=1_000)
    arguments = parser.parse_args()
    rows = [
        {"channels": name, "bytes a recall": round(bytes_of_a_recall(policy, arguments.records, arguments.recalls))}
        for name, policy in MANNERS.items()
    ]
    print_table(rows, title=f"Growth of the ledger over {arguments.recalls} recalls, k = 5")


def bytes_of_a_recall(policy: Policy, records: int, recalls: int) -> float:
    """How much the file has grown, shared among the recalls."""
    texts, cues = spoken(records, LENGTH, seed=0), spoken(recalls, 6, seed=1)
    vectors = dict(zip([*texts, *cues], clustered(records + recalls).values(), strict=True))
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        with opened(folder, vectors, policy) as memory:
            memory.for_user(USER).remember_many(texts)
            memory.for_user(USER).recall(texts[0])
        before = size(folder)
        with opened(folder, vectors, policy) as memory:
            for cue in cues:
                memory.for_user(USER).recall(cue, k=5)
        return (size(folder) - before) / recalls


def opened(folder: str, vectors: dict[str, Any], policy: Policy) -> AdaptiveMemory:
    embedder = as_embedder(lambda texts: [vectors[text] for text in texts], name=LocalEmbedder.name)
    return AdaptiveMemory.open(folder, embedder=embedder, policy=policy)


def size(folder: str) -> int:
    """The bytes of the ledger's file and of the log before it."""
    return sum(path.stat().st_size for path in Path(folder).glob(f"{LEDGER_NAME}*"))


if __name__ == "__main__":
    main()
