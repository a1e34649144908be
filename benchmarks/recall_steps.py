"""Where does each microsecond of a recall go? Each step by itself, again and again, over one user's records.

    python -m benchmarks.recall_steps [--records 1000 10000] [--keep FOLDER]

Least and median microseconds of processor time. In a recall the steps come one after another and find the caches cold,
so that they take up to twice as long there; the last row is the whole recall, without and with its being counted.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from adaptive_memory_core import AdaptiveMemory, UserMemory
from adaptive_memory_core.cue.time.intent import NO_INTENT, signs
from adaptive_memory_core.record_metadata import hits_of
from adaptive_memory_core.score.blend import score
from adaptive_memory_core.score.newest_first import NewestFirstQuery, newest_first
from adaptive_memory_core.score.select import select
from adaptive_memory_core.store.ledger.recall_encoding import encode
from benchmarks.fast_path import CUES, WITH_WORDS, Case, fill, near, text_of, vectors_of
from benchmarks.report import print_table

ROUNDS, MICROSECONDS = 400, 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, nargs="+", default=[1_000, 10_000])
    parser.add_argument("--keep", type=Path)
    arguments = parser.parse_args()
    for records in arguments.records:
        print_table(measured(records, arguments.keep), title=f"The steps of a recall over {records:,} records")


def measured(records: int, keep: Path | None) -> list[dict[str, Any]]:
    case, vectors = Case(records, 1), vectors_of(records)
    with tempfile.TemporaryDirectory() as folder:
        place = (keep or Path(folder)) / f"{case.records}x{case.users}"
        if not place.exists():
            fill(place, case, vectors)
        cues = {f"{text_of(number)}?": near(vectors[number]) for number in range(CUES)}
        memory = AdaptiveMemory.open(place, embedder=lambda texts: [cues[text] for text in texts], policy=WITH_WORDS)
        with memory:
            memory.sync()
            steps = steps_of(memory, memory.for_user("user 0"), cues)
            return [{"step": name, **timed(step)} for name, step in steps.items()]


def steps_of(memory: AdaptiveMemory, user: UserMemory, cues: dict[str, Any]) -> dict[str, Callable[[], object]]:
    ports, scope, cue = memory.ports(), user.scope, next(iter(cues))
    vector, found = cues[cue], user.recall(cue)
    policy, now, scored = found.policy, found.now, [*found.kept, *(one.scored for one in found.dropped if one.scored)]
    hits = [one.hit for one in scored]
    near_ones = ports.search.nearest(scope, vector, 20, None)
    ids = [one.stored_id for one in near_ones]
    return {
        "words about time, five languages": lambda: [signs(cue, one, now=now) for one in ports.languages],
        "words: the records that have the cue's": lambda: ports.words.look(
            scope, cue, policy.advanced.fusion, 20, None
        ),
        "vectors: the 20 nearest, with texts": lambda: ports.search.nearest(scope, vector, 20, None),
        "vectors of what only words found": lambda: ports.search.among(scope, vector, ids, None),
        "what the ledger knows of 20": lambda: ports.ledger.states.known(scope, ids),
        "20 records and hits": lambda: hits_of(scope, near_ones, {}, memory.fields),
        f"scores of {len(hits)}": lambda: score(hits, policy, now=now),
        "newer versions of facts": lambda: newest_first(scored, NewestFirstQuery(cue, "speaker"), NO_INTENT),
        "scores, gates and choice": lambda: select(hits, policy, k=5, now=now),
        "the line of the log": lambda: encode(found.kept, found.dropped),
        "recall, not counted": lambda: user.recall(cue, reinforce=False),
        "recall": lambda: user.recall(cue),
    }


def timed(step: Callable[[], object]) -> dict[str, float]:
    taken: list[float] = []
    for _ in range(ROUNDS):
        began = time.thread_time()
        step()
        taken.append(MICROSECONDS * (time.thread_time() - began))
    return {"least us": round(min(taken)), "median us": round(statistics.median(taken))}


if __name__ == "__main__":
    main()
