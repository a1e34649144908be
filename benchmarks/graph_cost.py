"""What does the graph cost? Sentences a second when it is made, and milliseconds of its part of a recall, by size.

    python -m benchmarks.graph_cost --data DIR

The passages of the sets of multi_hop, merged, and so many times those, under other titles and ids. They are made into
the graph in a ledger's file, embedding apart, and each question is asked of it, starting from the passages that answer
it (which other channels would have to find). All times are of the processor, of one thread.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from adaptive_memory_core import Fields, LocalEmbedder, SQLiteLedger
from adaptive_memory_core.flow.ports.graph import NO_LIFTS
from adaptive_memory_core.policy.graph import Graphs
from adaptive_memory_core.records import Scope
from adaptive_memory_core.store.graph.entries import Written, entries
from adaptive_memory_core.store.graph.look import look
from benchmarks.data import Item, Question, add_data_argument, load
from benchmarks.multi_hop import SETS, merged, untitled
from benchmarks.report import percentiles, print_table, write_json

PAGE, SEEDS = 200, 5
USER = Scope("user")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_data_argument(parser)
    parser.add_argument("--sets", nargs="+", default=list(SETS))
    parser.add_argument("--times", nargs="+", type=int, default=[1, 5], help="how many times the passages")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    corpus, questions = merged([load(arguments.data, name) for name in arguments.sets])
    asked = [one for own in questions.values() for one in own]
    rows = [cost(_times(corpus.items, times), asked) for times in arguments.times]
    print_table(rows, title="What the graph costs")
    if arguments.json:
        write_json(arguments.json, rows, command=sys.argv, settings=vars(arguments))


def cost(items: Sequence[Item], questions: Sequence[Question]) -> dict[str, Any]:
    """A row for one size."""
    embed = LocalEmbedder()
    with tempfile.TemporaryDirectory() as folder:
        ledger = SQLiteLedger(f"{folder}/ledger.sqlite3")
        ledger.attach("graph", "graph")
        spent = 0.0
        for start in range(0, len(items), PAGE):
            page = items[start : start + PAGE]
            vectors = embed([item.text for item in page])
            began = time.thread_time()
            written = [
                Written(one.id, one.text, {"title": one.title}, row) for one, row in zip(page, vectors, strict=True)
            ]
            ledger.graph.put(USER, entries(ledger.graph, USER, written, Fields(), None))
            spent += time.thread_time() - began
        row = _asked(ledger, questions, embed)
        ledger.close()
        size = Path(f"{folder}/ledger.sqlite3").stat().st_size
    return {**row, "sentences a second": round(row["sentences"] / spent), "MB in the file": size / 1e6}


def _asked(ledger: SQLiteLedger, questions: Sequence[Question], embed: LocalEmbedder) -> dict[str, Any]:
    taken = []
    for question in questions:
        vector, seeds = np.asarray(embed([question.query]))[0], dict.fromkeys(question.gold_ids[:SEEDS], 0.5)
        began = time.thread_time()
        with ledger.graph.view(USER) as graph:
            look(graph, question.query, vector, Graphs(), seeds, NO_LIFTS)
        taken.append(1000.0 * (time.thread_time() - began))
    with ledger.graph.view(USER) as graph:
        size = {"passages": graph.passages, "sentences": graph.sentences}
    return {**size, **{f"a recall's part, ms, {name}": one for name, one in percentiles(taken).items()}}


def _times(items: Sequence[Item], times: int) -> list[Item]:
    return [item if number == 0 else _again(item, number) for number in range(times) for item in items]


def _again(item: Item, number: int) -> Item:
    """The same passage under another title and id; what it mentions stays."""
    return replace(untitled(item), id=f"{item.id}+{number}", title=f"{item.title} {number}")


if __name__ == "__main__":
    main()
