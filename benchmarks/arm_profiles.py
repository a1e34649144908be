"""What do ARM's profiles do to retrieval, where needs recur and then change? Plain vector search beside each of them.

    python -m benchmarks.arm_profiles --data DIR

The workload is described in benchmarks/arm_workload.py. It comes in two forms: all items are there from the "start", or
those of the second half's needs come only with the "drift". Each question is scored on what it was given, before its
own reads count. At the end all needs are probed without being read: those asked in the second half ("now"), in the
first ("before"), a few times ("seldom") and "never" - and once more after `prune(below=0.05)`.

"exact" is the share of questions whose answer is that of the whole memory, searched by force; "fixed wrong" the share
that a search over the 20 nearest records would have answered with others, from the same state. It is the scores that
are compared, so records of one score may stand for each other. "NDCG@5, fixed" is what those answers are worth.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean, median
from typing import Any

from adaptive_memory_core import Policy, Weights
from adaptive_memory_core.evaluate.intervals import Interval, paired_difference
from benchmarks.arm_run import ARRIVALS, PRUNE_BELOW, Outcome, run
from benchmarks.arm_workload import GROUPS, workload
from benchmarks.data import Dataset, add_data_argument, load
from benchmarks.report import print_table, write_json

BALANCED = Policy.preset("balanced")
STATIC = "static"
POLICIES = {
    STATIC: Policy(weights=Weights(0, 0, 1), channels=("dense",)),
    **{
        name: Policy.preset(name)
        for name in ("balanced", "ultra_efficient", "broad_adaptation", "conservative", "aggressive")
    },
    "balanced, floor 0.5": BALANCED.replace(decay={"strength_floor": 0.5}),
    "balanced, floor 0.9": BALANCED.replace(decay={"strength_floor": 0.9}),
    "balanced, restore 1": BALANCED.replace(decay={"restore_on_read": 1.0}),
    "balanced, in days": BALANCED.replace(decay={"unit": "days"}),
}
NAMED = ("set", "items come", "policy")
TABLES = {
    "On the stream: NDCG@5 unless it says otherwise; `vs static` with its 95 % interval": (
        ["NDCG@5", "P@5", "R@5", "1st half", "2nd half", "after drift", "vs static", "vs static after drift"]
    ),
    "Probes at the end: NDCG@5 by when the need had been asked, and after pruning; `by sim` leaves strength out": (
        [*GROUPS, "all", "vs static all", "kept", "all, pruned", "all, pruned, by sim"]
    ),
    "The memory, and what it costs": (
        [
            "remembered",
            "size",
            "stale norm",
            "update ms",
            "recall ms",
            "exact",
            "fixed wrong",
            "NDCG@5, fixed",
            "questions",
        ]
    ),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_data_argument(parser)
    parser.add_argument("--sets", nargs="+", default=["banking77"], help="banking77, clinc150")
    parser.add_argument("--arrivals", nargs="+", default=list(ARRIVALS), choices=ARRIVALS)
    parser.add_argument("--policies", nargs="+", default=list(POLICIES), choices=list(POLICIES))
    parser.add_argument("--questions", type=int, default=400, help="in the stream, both halves together")
    parser.add_argument("--seeds", type=int, default=1, help="so many workloads, each drawn anew")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    rows = [row for name in arguments.sets for row in rows_of(load(arguments.data, name), arguments)]
    for title, columns in TABLES.items():
        print_table([{name: row[name] for name in (*NAMED, *columns)} for row in rows], title=title)
    if arguments.json:
        write_json(arguments.json, rows, command=sys.argv, settings=vars(arguments))


def rows_of(data: Dataset, arguments: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """A row for each form of the workload and each policy; plain search is run in any case, to compare with."""
    loads = [workload(data, questions=arguments.questions, seed=seed) for seed in range(arguments.seeds)]
    for arrival in arguments.arrivals:
        plain = [run(one, POLICIES[STATIC], arrival=arrival) for one in loads]
        for name in arguments.policies:
            ours = plain if name == STATIC else [run(one, POLICIES[name], arrival=arrival) for one in loads]
            yield {
                **dict(zip(NAMED, (data.name, arrival, name), strict=True)),
                **stream_columns(ours, plain),
                **probe_columns(ours, plain),
                **cost_columns(ours),
            }


def stream_columns(ours: Sequence[Outcome], plain: Sequence[Outcome]) -> dict[str, Any]:
    halves = {"1st half": "first", "2nd half": "second", "after drift": "right after"}
    return {
        "NDCG@5": fmean(one.ndcg for outcome in ours for one in outcome.answers),
        "P@5": fmean(one.precision for outcome in ours for one in outcome.answers),
        "R@5": fmean(one.recall for outcome in ours for one in outcome.answers),
        **{column: fmean(one for outcome in ours for one in outcome.stream(part)) for column, part in halves.items()},
        "vs static": difference(ours, plain, "all"),
        "vs static after drift": difference(ours, plain, "right after"),
    }


def probe_columns(ours: Sequence[Outcome], plain: Sequence[Outcome]) -> dict[str, Any]:
    return {
        **{group: _mean([one for outcome in ours for one in outcome.probed(group)]) for group in GROUPS},
        "all": fmean(one for outcome in ours for one in outcome.probes),
        "vs static all": difference(ours, plain, "probes"),
        "kept": fmean(outcome.kept for outcome in ours),
        "all, pruned": fmean(one for outcome in ours for one in outcome.pruned),
        "all, pruned, by sim": fmean(one for outcome in ours for one in outcome.pruned_by_similarity),
        "pruned below": PRUNE_BELOW,
    }


def cost_columns(ours: Sequence[Outcome]) -> dict[str, Any]:
    answers = [one for outcome in ours for one in outcome.answers]
    return {
        "remembered": fmean(outcome.stats.remembered_fraction for outcome in ours),
        "size": fmean(outcome.stats.strengths.size / outcome.stats.records for outcome in ours),
        "stale norm": fmean(outcome.stats.strengths.stale_norm for outcome in ours),
        "update ms": _mean([outcome.stats.update_ms for outcome in ours if outcome.stats.update_ms is not None]),
        "recall ms": 1_000 * median(one.seconds for one in answers),
        "fixed wrong": fmean(not one.fixed_same for one in answers),
        "NDCG@5, fixed": fmean(one.fixed_ndcg for one in answers),
        "exact": fmean(one.exact for one in answers),
        "questions": len(answers),
    }


def difference(ours: Sequence[Outcome], plain: Sequence[Outcome], part: str) -> Interval | None:
    """Question by question. Those of one need share its records, so whole needs are drawn for the interval; None where
    there is only one, or nothing to compare."""
    clusters = [(number, need) for number, outcome in enumerate(ours) for need in outcome.needs(part)]
    if ours is plain or len(set(clusters)) < 2:
        return None
    return paired_difference(
        [one for outcome in ours for one in outcome.stream(part)],
        [one for outcome in plain for one in outcome.stream(part)],
        clusters=clusters,
        seed=0,
    )


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None


if __name__ == "__main__":
    main()
