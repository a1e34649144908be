"""What does it cost to tell what is true? Thread CPU of a default recall, less that of one without each step.

    python -m benchmarks.truth_cost
    python -m benchmarks.truth_cost --records 1000 --rounds 400

The steps are those that decide which channel is believed, which statement is the newest, in which language a time is
asked, and what is noted of odd values. Each is left out in turn, the calls of all variants one after another for every
cue, so that whatever else the machine does falls on all of them. `ms` is the median of a recall, `saved` the median of
what the same cue takes less without the step, in ms of thread CPU. "all of them" is the number that counts.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from adaptive_memory_core import AdaptiveMemory, Policy
from adaptive_memory_core.channels import fuse
from adaptive_memory_core.channels.told_apart import AS_GIVEN
from adaptive_memory_core.channels.words import bm25, worth_of_word
from adaptive_memory_core.cue.time import asks_when
from adaptive_memory_core.flow.candidates import gather
from adaptive_memory_core.flow.ports import words
from adaptive_memory_core.languages import English
from benchmarks.report import print_table, write_json
from benchmarks.speed import clustered
from benchmarks.speed_words import LENGTH, USER, opened, spoken

WARM, START, APART = 30, 1_700_000_000.0, 3_600.0  # cues; POSIX seconds of the first record, and between two
WHOLE, ALL = "default", "all of them"


class Without(NamedTuple):
    """A recall without a step: what is put in the place of what does it, and the policy."""

    instead: Sequence[tuple[Any, str, Any]] = ()
    policy: Policy = Policy()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    rows = list(rows_of(arguments.records, arguments.rounds))
    print_table(rows, title=f"Thread CPU of a default recall, {arguments.records:,} records")
    if arguments.json:
        write_json(arguments.json, rows, command=sys.argv, settings=vars(arguments))


def rows_of(records: int, rounds: int) -> Iterator[dict[str, Any]]:
    """A row for each step that is left out."""
    texts, cues = spoken(records, LENGTH, seed=0), spoken(rounds + WARM, 6, seed=1)
    vectors = dict(zip([*texts, *cues], clustered(records + len(cues)).values(), strict=True))
    with tempfile.TemporaryDirectory() as folder, closing(opened(Path(folder), vectors, Policy())) as memory:
        told = [{"text": text, "created_at": START + APART * number} for number, text in enumerate(texts)]
        memory.for_user(USER).remember_many(told)
        variants = {WHOLE: Without(), **steps(memory)}
        spent: dict[str, list[float]] = {name: [] for name in variants}
        for turn, cue in enumerate(cues):
            names = [*variants][turn % len(variants) :] + [*variants][: turn % len(variants)]
            for name in names:
                spent[name].append(_milliseconds(memory, cue, variants[name]))
    for name, own in spent.items():
        saved = [whole - one for whole, one in zip(spent[WHOLE][WARM:], own[WARM:], strict=True)]
        yield {"without": name, "ms": statistics.median(own[WARM:]), "saved": statistics.median(saved)}


def steps(memory: AdaptiveMemory) -> Mapping[str, Without]:
    """Each step and what stands in its place; the last one is without any."""
    apart: dict[str, Without] = {
        "words by accident": Without(
            [
                (bm25, "by_accident", lambda *_: 0.1),
                (bm25, "Asked", _Meant),
                (worth_of_word, "saturated", _saturated_alone),
            ]
        ),
        "lengths of texts": Without([(words, "as_many_texts", lambda *_: 1.0)]),
        "how similarities tell apart": Without([(fuse, "told_apart", lambda *_: AS_GIVEN)]),
        "learned shares": Without([(fuse, "tilted", lambda shares, _: shares)]),
        "the newest first": Without(policy=Policy().replace(updates={"newest_first": False})),
        "times in four more languages": Without([(memory.ports(), "languages", (English(),))]),
        "asking when in them": Without([(asks_when, "asks_when", lambda cue: asks_when._ASKS.search(cue) is not None)]),
        "odd importance": Without([(gather, "odd_importance", lambda *_: None)]),
    }
    every = [one for without in apart.values() for one in without.instead]
    return {**apart, ALL: Without(every, apart["the newest first"].policy)}


class _Meant:
    """The words of a cue of which nothing is reckoned."""

    def __init__(self, *_: Any) -> None:
        self.chance = lambda *_, **__: 0.1


def _saturated_alone(counts: Any, held_back: Any, by_chance: Any) -> Any:  # noqa: ARG001 - what it stands for takes it
    return (1.0 + worth_of_word.TERM_SATURATION) * counts / (counts + held_back)


def _milliseconds(memory: AdaptiveMemory, cue: str, without: Without) -> float:
    user = memory.for_user(USER)
    with _instead(without.instead):
        start = time.thread_time()
        user.recall(cue, k=5, policy=without.policy, reinforce=False)
        return 1_000.0 * (time.thread_time() - start)


@contextmanager
def _instead(given: Sequence[tuple[Any, str, Any]]) -> Iterator[None]:
    """With these in the place of what there is; a frozen value is no obstacle."""
    before = [(owner, name, getattr(owner, name)) for owner, name, _ in given]
    try:
        for owner, name, one in given:
            object.__setattr__(owner, name, one)
        yield
    finally:
        for owner, name, one in before:
            object.__setattr__(owner, name, one)


if __name__ == "__main__":
    main()
