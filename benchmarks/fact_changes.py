"""Does the newest of two numbered facts come first? Measured on texts that we did not write.

    python -m benchmarks.fact_changes --data DIR
    python -m benchmarks.fact_changes --data DIR --embedder minilm --vectors DIR2

The data is `DIR/factconsolidation` (format: benchmarks/data.py): lists of facts in which later ones overwrite earlier
ones. It is stored once with the times of the data, and once as one batch without times. `newest@1` is the share of
questions whose first hit is the newest fact, `fact@1` the share whose first hit is the newest or one it overwrote.
`marked` is the share of questions with a hit that is marked as older. For questions of four hops `newest@1` is the
share of the chain's newest facts among the ten best hits. `ms` is the median thread CPU of a recall, and `spent` the
median of what the same question takes less without the rule.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from adaptive_memory_core import AdaptiveMemory, Policy, Recall
from adaptive_memory_core.evaluate.metrics import mean, recall_at
from benchmarks.data import Dataset, Question, add_data_argument, load
from benchmarks.embedders import EMBEDDERS, embedder_of
from benchmarks.memory_in_a_folder import memory_in_a_folder
from benchmarks.report import print_table, write_json
from benchmarks.rot import DAY, Clock

NAME, K = "factconsolidation", 10
TIMES, BATCH = "times", "one batch"
POLICIES = {"default": Policy(), "without": Policy().replace(newest_first=False)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_data_argument(parser)
    parser.add_argument("--embedder", choices=list(EMBEDDERS), default="local")
    parser.add_argument(
        "--vectors", type=Path, help="a directory for the embedder's vectors, so that each is made once"
    )
    parser.add_argument("--stored", nargs="+", choices=[TIMES, BATCH], default=[TIMES, BATCH])
    parser.add_argument("--every", type=int, default=1, help="ask every so-manieth question only")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    embed = embedder_of(arguments.embedder, vectors=arguments.vectors)
    data = load(arguments.data, NAME)
    rows = [row for stored in arguments.stored for row in rows_of(data, embed, stored, arguments.every)]
    print_table(rows, title=f"The newest of two facts first, embedder {arguments.embedder}")
    if arguments.json:
        write_json(arguments.json, rows, command=sys.argv, settings=vars(arguments))


def rows_of(data: Dataset, embed: Any, stored: str, every: int) -> Iterator[dict[str, Any]]:
    """A row per type of question and policy."""
    clock = Clock(max(item.ts or 0.0 for item in data.items) + DAY)
    questions = data.questions[::every]
    with memory_in_a_folder(embed, clock) as memory:
        _store(memory, data, timed=stored == TIMES)
        clock.now += DAY
        found = [[_timed(memory, question, name) for name in POLICIES] for question in questions]
    for kind in dict.fromkeys(question.type for question in questions):
        own = [number for number, question in enumerate(questions) if question.type == kind]
        spent = statistics.median(found[number][0][1] - found[number][1][1] for number in own)
        for place, name in enumerate(POLICIES):
            recalls = [found[number][place] for number in own]
            measured = _measured([questions[number] for number in own], [recall for recall, _ in recalls])
            times = {"ms": statistics.median(one for _, one in recalls), "spent": spent if name == "default" else 0.0}
            yield {"stored": stored, "type": kind, "policy": name, "questions": len(own), **measured, **times}


def _store(memory: AdaptiveMemory, data: Dataset, *, timed: bool) -> None:
    by_tenant: dict[str, list[dict[str, Any]]] = {}
    for item in data.items:
        record = {"text": item.text, "id": item.id}
        by_tenant.setdefault(item.tenant or "", []).append({**record, "created_at": item.ts} if timed else record)
    for tenant, records in by_tenant.items():
        memory.for_user(tenant).remember_many(records)


def _timed(memory: AdaptiveMemory, question: Question, policy: str) -> tuple[Recall, float]:
    user = memory.for_user(question.tenant or "")
    start = time.thread_time()
    found = user.recall(question.query, k=K, reinforce=False, policy=POLICIES[policy])
    return found, 1_000.0 * (time.thread_time() - start)


def _measured(questions: Sequence[Question], recalls: Sequence[Recall]) -> dict[str, float]:
    pairs = list(zip(questions, recalls, strict=True))
    if (questions[0].type or "").startswith("multi"):
        first = [recall_at(recall.ids, question.gold_ids, k=K) for question, recall in pairs]
        facts = first
    else:
        first = [float(recall.ids[0] in question.gold_ids) for question, recall in pairs]
        facts = [
            float(recall.ids[0] in {*question.gold_ids, *question.more["stale_ids"]}) for question, recall in pairs
        ]
    marked = [float(any(hit.older_than is not None for hit in recall)) for recall in recalls]
    return {"newest@1": mean(first), "fact@1": mean(facts), "marked": mean(marked)}


if __name__ == "__main__":
    main()
