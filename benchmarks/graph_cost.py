"""What does the graph cost? Sentences a second when it is made, and milliseconds of its part of a recall, by size.

    python -m benchmarks.graph_cost --data DIR
    python -m benchmarks.graph_cost --data DIR --times 1 --names-alike 0.8

The passages of the sets of multi_hop, merged, and so many times those, under other titles and ids. They are made into
the graph in a ledger's file, embedding apart, and each question is asked of each size in turn, starting from the
passages that answer it (which other channels would have to find). All times are of the processor, of one thread.

With --names-alike all names are embedded and compared as well, and each question is asked once more with names taken
for others that are so much like them. Where a question has names that the graph does not know, embedding these and
looking for known ones that are like them counts, too: `n unknown` questions, whose times stand by themselves.
"""

from __future__ import annotations

import argparse
import sqlite3
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from adaptive_memory_core import Fields, LocalEmbedder, SQLiteLedger
from adaptive_memory_core.flow.ports.graph import NO_LIFTS
from adaptive_memory_core.graph.alike_names import unknown_names
from adaptive_memory_core.policy.advanced import Graphs
from adaptive_memory_core.records import Scope
from adaptive_memory_core.store.graph.graph_building import COMPARED, EMBEDDED, AddedRecord, graph_entries
from adaptive_memory_core.store.graph.graph_lookup import linked, look_up_graph
from benchmarks.data import Item, Question, add_data_argument, load
from benchmarks.multi_hop import SETS, merged, untitled
from benchmarks.report import percentiles, print_table, write_json

PAGE, SEEDS = 200, 5
LEDGER = "ledger.sqlite3"
USER = Scope("user")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_data_argument(parser)
    parser.add_argument("--sets", nargs="+", default=list(SETS))
    parser.add_argument("--times", nargs="+", type=int, default=[1, 6], help="how many times the passages")
    parser.add_argument("--names-alike", type=float, default=0.0)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    corpus, questions = merged([load(arguments.data, name) for name in arguments.sets])
    asked = [one for own in questions.values() for one in own]
    with ExitStack() as stack:
        made = [stack.enter_context(_made(_times(corpus.items, times), arguments)) for times in arguments.times]
        rows = [row for one in _asked(made, asked, arguments) for row in one.rows()]
    print_table(rows, title="What the graph costs")
    if arguments.json:
        write_json(arguments.json, rows, command=sys.argv, settings=vars(arguments))


@dataclass
class _Made:
    """A graph, what it took to make it, and how long each question took."""

    ledger: SQLiteLedger
    size: dict[str, Any]
    plain: list[float] = field(default_factory=list)
    alike: list[float] = field(default_factory=list)
    unknown: list[float] = field(default_factory=list)

    def rows(self) -> Iterator[dict[str, Any]]:
        each = {"": self.plain, "alike": self.alike, "n unknown": self.unknown}
        for name, taken in each.items():
            if taken:
                part = {f"a recall's part, ms, {one}": value for one, value in percentiles(taken).items()}
                yield {**self.size, "names": name, "questions": len(taken), **part}


@contextmanager
def _made(items: Sequence[Item], arguments: argparse.Namespace) -> Iterator[_Made]:
    with tempfile.TemporaryDirectory() as folder:
        ledger = SQLiteLedger(f"{folder}/{LEDGER}")
        ledger.attach("graph", "graph")
        spent = _put(ledger, items)
        with ledger.graph.view(USER) as graph:
            size: dict[str, Any] = {"passages": graph.passages, "sentences": graph.sentences}
        size |= {"sentences a second": round(size["sentences"] / spent), "MB": _megabytes(folder)}
        if arguments.names_alike > 0.0:
            began = time.thread_time()
            _compare(ledger)
            size |= {"s to compare": time.thread_time() - began, "MB compared": _megabytes(folder)}
        yield _Made(ledger, size)
        ledger.close()


def _put(ledger: SQLiteLedger, items: Sequence[Item]) -> float:
    """The seconds that it took, embedding apart."""
    embed, spent = LocalEmbedder(), 0.0
    for start in range(0, len(items), PAGE):
        page = items[start : start + PAGE]
        vectors = embed([item.text for item in page])
        began = time.thread_time()
        written = [
            AddedRecord(one.id, one.text, {"title": one.title}, row) for one, row in zip(page, vectors, strict=True)
        ]
        ledger.graph.put(USER, graph_entries(ledger.graph, USER, written, Fields(), None))
        spent += time.thread_time() - began
    return spent


def _megabytes(folder: str) -> float:
    """Of the ledger's file, with what is still in the log beside it."""
    with closing(sqlite3.connect(Path(folder) / LEDGER)) as file:
        pages = [int(file.execute(f"PRAGMA {one}").fetchone()[0]) for one in ("page_count", "page_size")]
    return pages[0] * pages[1] / 1e6


def _compare(ledger: SQLiteLedger) -> None:
    """Every name with all others, as it is done in the background."""
    embed, rows, after = LocalEmbedder(), ledger.graph.alike, 0
    while names := rows.unembedded(after, EMBEDDED):
        rows.keep(None, names, embed([one.name for one in names]))
        after = names[-1].key
    while rows.compare(COMPARED):
        pass


def _asked(made: Sequence[_Made], questions: Sequence[Question], arguments: argparse.Namespace) -> Sequence[_Made]:
    embed, settings = LocalEmbedder(), Graphs(names_alike=arguments.names_alike)
    for question in questions:
        vector, seeds = np.asarray(embed([question.query]))[0], dict.fromkeys(question.gold_ids[:SEEDS], 0.5)
        for one in made:
            one.plain.append(_took(one.ledger, question.query, vector, seeds, Graphs(), embed)[0])
            if arguments.names_alike > 0.0:
                taken, unknown = _took(one.ledger, question.query, vector, seeds, settings, embed)
                (one.unknown if unknown else one.alike).append(taken)
    return made


def _took(
    ledger: SQLiteLedger, cue: str, vector: Any, seeds: dict[str, float], settings: Graphs, embed: LocalEmbedder
) -> tuple[float, bool]:
    """The milliseconds of a question, and whether it has names that the graph does not know."""
    began = time.thread_time()
    names: Sequence[str] = ()
    if settings.names_alike > 0.0:
        with ledger.graph.view(USER) as graph:
            names = unknown_names(cue, linked(graph, cue))
    unknown = dict(zip(names, embed(names), strict=True)) if names else {}
    with ledger.graph.view(USER) as graph:
        look_up_graph(graph, cue, vector, settings, seeds, NO_LIFTS, unknown)
    return 1000.0 * (time.thread_time() - began), bool(names)


def _times(items: Sequence[Item], times: int) -> list[Item]:
    return [item if number == 0 else _again(item, number) for number in range(times) for item in items]


def _again(item: Item, number: int) -> Item:
    """The same passage under another title and id; what it mentions stays."""
    return replace(untitled(item), id=f"{item.id}+{number}", title=f"{item.title} {number}")


if __name__ == "__main__":
    main()
