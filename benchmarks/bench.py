"""How good and how fast is it beside its peers? What `make bench` does.

    python -m benchmarks.bench --data DIR --json benchmarks/recorded/bench.json
    python -m benchmarks.bench --data DIR --parts quality --sets locomo --json benchmarks/recorded/bench.json
    python -m benchmarks.bench                    # speed alone, on vectors made up here

Quality: recall@10 and NDCG@10 of plain Chroma, textbook BM25, the time-weighted retrievers of LangChain and LlamaIndex,
the default of this project and the same with reciprocal rank fusion, all over the same texts and with the bundled
embedder; nothing counts as read. Each question is asked of all of them in turn, and how long each took, with embedding
it, is in the same rows. Sessions: LoCoMo once more, asked for 50 hits, of which sessions and 1,000 tokens are made.
Queries: a whole recall with ledger and log beside the queries it replaces (benchmarks.fast_path). LangChain: beside its
retrievers (benchmarks.langchain_speed).

Every set and every size is a part of its own. With --json it is recorded when it is done, and only a part of the same
name is replaced, so a run may be cut into pieces (benchmarks/recorded_parts.py). The tables of the pages are made of
what is recorded by `python -m benchmarks.page_tables`.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from adaptive_memory_core.evaluate.compare import compare
from adaptive_memory_core.evaluate.comparison import Comparison
from adaptive_memory_core.evaluate.plan import DEEP, DataPlan, Experiment, SystemPlan
from adaptive_memory_core.policy import Advanced, Fusion, Policy
from benchmarks import fast_path, langchain_speed
from benchmarks.recorded_parts import recorded
from benchmarks.report import print_table

SYSTEMS = ("chroma", "bm25", "langchain_time_weighted", "llama_time_weighted", "rrf", "adaptive")
OF_SESSIONS = ("chroma", "bm25", "langchain_time_weighted", "llama_time_weighted", "static", "adaptive")
RANK_FUSION = SystemPlan(
    name="rrf", use="adaptive", settings={"policy": Policy(advanced=Advanced(fusion=Fusion(method="rrf")))}
)
SETS = ("locomo", "assistant_chats", "madial_en", "hotpotqa_200", "musique_100", "twowiki_101", "banking77", "clinc150")
PARTS = ("quality", "sessions", "queries", "langchain")
NEED_DATA = ("quality", "sessions")
MEASURES = ("recall@10", "NDCG@10")
SESSION_MEASURES = (
    *("session R@5", "session R@10", "session NDCG@10", "session hit@1", "session all@5"),
    *("evidence in 1000 tokens", "tokens to cover"),
)
K = 10
Row = dict[str, Any]


def main() -> None:
    arguments = parsed()
    warnings.filterwarnings("ignore", message="Relevance scores must be between 0 and 1")  # LangChain's, at each call
    for name, measure in parts(arguments):
        print_table(recorded(arguments.json, name, measure, command=sys.argv, settings=vars(arguments)), title=name)


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder of data folders (benchmarks/README.md); omitted: speed alone")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--sets", nargs="+", default=list(SETS), help="of the quality")
    parser.add_argument(
        "--questions", type=int, default=1_600, help="at most so many of a set, drawn by the seed (LoCoMo has 1,536)"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--records", type=int, nargs="*", default=[1_000, 10_000], help="of the comparison of speed")
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


def parts(arguments: argparse.Namespace) -> Iterator[tuple[str, Callable[[], Iterable[Row]]]]:
    """The name of each part that is asked for, and what measures it."""
    wanted = [one for one in arguments.parts if arguments.data is not None or one not in NEED_DATA]
    if "quality" in wanted:
        for name in arguments.sets:
            yield f"quality: {name}", partial(_quality, arguments, name)
    if "sessions" in wanted:
        yield "sessions: locomo", partial(_sessions, arguments)
    for size in arguments.records:
        if "queries" in wanted:
            yield f"queries: {size}", partial(_queries, size, arguments.rounds)
        if "langchain" in wanted:
            yield f"langchain: {size}", partial(_langchain, size, arguments.rounds)


def _quality(arguments: argparse.Namespace, name: str) -> Iterable[Row]:
    return quality_rows(compare(_plan(arguments, name, SYSTEMS, depth=K)), SYSTEMS, MEASURES)


def _sessions(arguments: argparse.Namespace) -> Iterable[Row]:
    plan = _plan(arguments, "locomo", OF_SESSIONS, depth=DEEP)
    return quality_rows(compare(plan), OF_SESSIONS, (*MEASURES, *SESSION_MEASURES))


def _plan(arguments: argparse.Namespace, name: str, systems: Iterable[str], *, depth: int) -> Experiment:
    return Experiment(
        data=(DataPlan(path=arguments.data / name, most=arguments.questions),),
        systems=tuple(RANK_FUSION if one == "rrf" else SystemPlan(name=one, use=one) for one in systems),
        baseline="chroma",
        k=K,
        depth=depth,
        seed=arguments.seed,
    )


def quality_rows(found: Comparison, systems: Iterable[str], measures: Iterable[str]) -> Iterator[Row]:
    """A row for each set and system: the means, NDCG@10 over plain Chroma's, and milliseconds a question."""
    measures = tuple(measures)
    for data in found.data:
        for system in systems:
            row: Row = {"set": data.name, "questions": data.questions, "system": system}
            row |= {name: round(found.of(system, name, data.name).mean, 3) for name in measures}
            row |= _over_chroma(found, data.name, system)
            yield row | {"median ms": round(found.of(system, "recall ms", data.name).median, 2)}


def _over_chroma(found: Comparison, data: str, system: str) -> Row:
    for one in found.differences:
        if (one.data, one.system, one.measure) == (data, system, "NDCG@10"):
            bounds = [None if one.low is None else round(one.low, 3), None if one.high is None else round(one.high, 3)]
            return {"over Chroma": round(one.mean, 3), "95 %": bounds}
    return {}


def _queries(size: int, rounds: int) -> Iterator[Row]:
    yield fast_path.measured(fast_path.Case(size, 1), rounds, None)


def _langchain(size: int, rounds: int) -> Iterator[Row]:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        for row in langchain_speed.measured(Path(folder), size, rounds):
            yield {"records": size, **row}


if __name__ == "__main__":
    main()
