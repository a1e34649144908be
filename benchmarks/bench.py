"""How good and how fast is it beside its peers, in one run? What `make bench` does.

    python -m benchmarks.bench --data DIR --json benchmarks/recorded/bench.json
    python -m benchmarks.bench                    # speed alone, on vectors made up here

Quality: recall@10 and NDCG@10 of plain Chroma, textbook BM25, the time-weighted retrievers of LangChain and LlamaIndex,
and the default of this project, all over the same texts and with the bundled embedder; nothing counts as read. Each
question is asked of all of them in turn, and how long each took, with embedding it, is in the same rows. Speed: a whole
recall with ledger and log beside the queries it replaces (benchmarks.fast_path), and beside retrievers of LangChain
(benchmarks.langchain_speed). The tables of the pages are made of a recorded run by `python -m benchmarks.page_tables`.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from adaptive_memory_core.evaluate.compare import compare
from adaptive_memory_core.evaluate.comparison import Comparison
from adaptive_memory_core.evaluate.plan import DataPlan, Experiment, SystemPlan
from benchmarks import fast_path, langchain_speed
from benchmarks.report import print_table, write_json

SYSTEMS = ("chroma", "bm25", "langchain_time_weighted", "llama_time_weighted", "adaptive")
SETS = ("locomo", "assistant_chats", "madial_en", "hotpotqa_200", "musique_100", "twowiki_101", "banking77", "clinc150")
MEASURES = ("recall@10", "NDCG@10")
K = 10
Row = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder of data folders (benchmarks/README.md); omitted: speed alone")
    parser.add_argument("--sets", nargs="+", default=list(SETS))
    parser.add_argument("--questions", type=int, default=150, help="at most so many of a set, drawn by the seed")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--records", type=int, nargs="*", default=[1_000, 10_000], help="of the comparison of speed")
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore", message="Relevance scores must be between 0 and 1")  # LangChain's, at each call
    rows = [*_quality(arguments), *_speed(arguments.records, arguments.rounds)]
    for part in dict.fromkeys(row["part"] for row in rows):
        print_table([row for row in rows if row["part"] == part], title=part)
    if arguments.json:
        write_json(arguments.json, rows, command=sys.argv, settings=vars(arguments))


def _quality(arguments: argparse.Namespace) -> Iterator[Row]:
    if arguments.data is None:
        return
    plan = Experiment(
        data=tuple(DataPlan(arguments.data / name, most=arguments.questions) for name in arguments.sets),
        systems=tuple(SystemPlan(name, name) for name in SYSTEMS),
        baseline="chroma",
        k=K,
        depth=K,
        seed=arguments.seed,
    )
    yield from quality_rows(compare(plan))


def quality_rows(found: Comparison) -> Iterator[Row]:
    """A row for each set and system: the means, NDCG@10 over plain Chroma's, and milliseconds a question."""
    for data in found.data:
        for system in SYSTEMS:
            row: Row = {"part": "quality", "set": data.name, "questions": data.questions, "system": system}
            row |= {name: round(found.of(system, name, data.name).mean, 3) for name in MEASURES}
            row |= _over_chroma(found, data.name, system)
            yield row | {"median ms": round(found.of(system, "recall ms", data.name).median, 2)}


def _over_chroma(found: Comparison, data: str, system: str) -> Row:
    for one in found.differences:
        if (one.data, one.system, one.measure) == (data, system, "NDCG@10"):
            bounds = [None if one.low is None else round(one.low, 3), None if one.high is None else round(one.high, 3)]
            return {"over Chroma": round(one.mean, 3), "95 %": bounds}
    return {}


def _speed(sizes: Sequence[int], rounds: int) -> Iterator[Row]:
    for size in sizes:
        yield {
            "part": "a recall beside the queries it replaces",
            **fast_path.measured(fast_path.Case(size, 1), rounds, None),
        }
    for size in sizes:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            for row in langchain_speed.measured(Path(folder), size, rounds):
                yield {"part": "inside LangChain", "records": size, **row}


if __name__ == "__main__":
    main()
