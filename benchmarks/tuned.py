"""Does tuning gain anything on public questions? Numbers found on one half of them, judged on the other.

    python -m benchmarks.tuned --data DIR
    python -m benchmarks.tuned --data DIR --sets locomo --each

All users of a set get one policy; with `--each` every user's own questions are tried from there on. The search begins
at the default, which is itself measured on some of these sets. The rows are NDCG@10 on the questions that took no part
in the search, with the interval of the paired difference; a gain whose interval holds 0, or which comes by chance too
often, is refused.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from adaptive_memory_core.evaluate.datasets import Question
from adaptive_memory_core.evaluate.tune import Tuning
from adaptive_memory_core.verbs.tuning import PRIOR
from benchmarks.data import add_data_argument, load
from benchmarks.recall_quality import asked, ends, opened, turn
from benchmarks.report import print_table, write_json
from benchmarks.rot import user_of

SETS = ("locomo", "assistant_chats", "timeqa_human")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_data_argument(parser)
    parser.add_argument("--sets", nargs="+", default=list(SETS))
    parser.add_argument("--questions", type=int, default=800, help="at most so many of a set; LoCoMo has all of them")
    parser.add_argument("--every", type=int, default=1, help="take every so-manieth question only")
    parser.add_argument("--each", action="store_true", help="also every user apart")
    parser.add_argument("--prior", type=float, default=PRIOR)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0], help="each draws other halves")
    parser.add_argument("--kept", type=Path, help="a directory for the memories, so that the next run has them at once")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    rows = [row for name in arguments.sets for row in rows_of(name, arguments)]
    print_table(rows, title="NDCG@10 of held-out questions, tuned from the default policy")
    if arguments.json:
        write_json(arguments.json, rows, command=sys.argv, settings=vars(arguments))


def rows_of(name: str, arguments: argparse.Namespace) -> Iterator[dict[str, Any]]:
    data = load(arguments.data, name)
    at = ends(data)
    pairs: dict[str, list[Any]] = {}
    for one in asked(data, arguments.questions, seed=0)[:: arguments.every]:
        pairs.setdefault(user_of(one.tenant), []).append(_pair(one, at.get(one.tenant)))
    with opened("ours", data, turn, kept=arguments.kept) as memory:
        for seed in arguments.seeds:
            began = time.thread_time()
            found = memory.tune(pairs, each=arguments.each, prior=arguments.prior, seed=seed)
            seconds = round(time.thread_time() - began)
            print(f"\n{name}, seed {seed}\n{found}", file=sys.stderr)
            yield {"set": name, "user": "all", "seed": seed, **row_of(found), "CPU s": seconds}
            for user, own in found.users.items():
                yield {"set": name, "user": user, "seed": seed, **row_of(own), "CPU s": ""}


def _pair(question: Question, now: float | None) -> dict[str, Any]:
    return {"question": question.query, "answers": list(question.gold_ids), "now": now}


def row_of(found: Tuning) -> dict[str, Any]:
    gain = found.gain
    return {
        "tuned on": found.questions,
        "held out": found.judged,
        "before": "" if found.before is None else f"{found.before:.3f}",
        "tuned": "" if found.after is None else f"{found.after:.3f}",
        "gain": "" if gain is None else f"{gain.mean:+.4f}",
        "95 %": "" if gain is None else f"{gain.low:+.4f} to {gain.high:+.4f}",
        "kept": "no" if found.refused else "yes",
    }


if __name__ == "__main__":
    main()
