"""How does one policy fare on one workload? Each question to a real memory, and beside it to the naive algorithm."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from adaptive_memory_core import AdaptiveMemory, Keeping, LocalEmbedder, Policy, UserMemory, Weights
from adaptive_memory_core.evaluate.metrics import ndcg_at, precision_at, recall_at
from adaptive_memory_core.policy import Decay
from adaptive_memory_core.reports import Stats
from benchmarks.arm_shadow import DAY, Shadow, same
from benchmarks.arm_workload import Asked, Workload

ARRIVALS = ("start", "drift")
START = 1_760_000_000.0  # October 2025
APART = DAY / 48  # seconds between two questions
K = 5
FIXED = 20  # candidates of a search that does not look further
PRUNE_BELOW = 0.05  # strength
BY_SIMILARITY = Policy(weights=Weights(0, 0, 1), channels=("dense",), decay=Decay(strength_weight=0.0))


@dataclass(frozen=True, slots=True)
class Answer:
    """One question of the stream: how good its answer was, what it took, and what others would have answered."""

    need: str
    ndcg: float
    precision: float
    recall: float
    seconds: float
    exact: bool  # ours is the answer over all records
    fixed_same: bool  # so is that of a fixed number of nearest records
    fixed_ndcg: float  # what that one would have been worth


@dataclass(slots=True)
class Outcome:
    """All that was measured of one policy on one workload."""

    workload: Workload
    stats: Stats
    answers: list[Answer] = field(default_factory=list)
    probes: list[float] = field(default_factory=list)
    kept: float = 1.0
    pruned: list[float] = field(default_factory=list)
    pruned_by_similarity: list[float] = field(default_factory=list)

    def stream(self, part: str) -> list[float]:
        """NDCG@5 of a part: "all", "first", "second", "right after" the drift, or the "probes"."""
        return self.probes if part == "probes" else [self.answers[at].ndcg for at in self._at(part)]

    def needs(self, part: str) -> list[str]:
        if part == "probes":
            return [asked.need for asked in self.workload.probes]
        return [self.answers[at].need for at in self._at(part)]

    def probed(self, group: str) -> list[float]:
        groups = self.workload.groups()
        pairs = zip(self.workload.probes, self.probes, strict=True)
        return [score for asked, score in pairs if groups[asked.need] == group]

    def _at(self, part: str) -> range:
        drift, end = len(self.workload.first), len(self.answers)
        parts = {"all": range(end), "first": range(drift), "second": range(drift, end)}
        return self.workload.right_after if part == "right after" else parts[part]


class Clock:
    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> float:
        return self.now


def run(load: Workload, policy: Policy, *, arrival: str) -> Outcome:
    """The stream, the probes, and the probes again after pruning, on a memory of its own."""
    clock = Clock()
    keeping = Keeping(log=False, lag_seconds=3600)  # nothing is written back in between
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory"
        with AdaptiveMemory.open(path, embedder=LocalEmbedder(), policy=policy, clock=clock, keeping=keeping) as memory:
            user = memory.for_user("reader")
            answers = streamed(load, user, Shadow(policy, LocalEmbedder.dimension), clock, late=arrival == "drift")
            outcome = Outcome(load, user.stats(), answers, probed(load, user))
            records = outcome.stats.records
            outcome.kept = (records - len(user.prune(PRUNE_BELOW))) / records
            outcome.pruned = probed(load, user)
            outcome.pruned_by_similarity = probed(load, user, policy=BY_SIMILARITY)
    return outcome


def streamed(load: Workload, user: UserMemory, shadow: Shadow, clock: Clock, *, late: bool) -> list[Answer]:
    """Both halves; items that come late come before the first question of the second."""
    waiting = load.newcomers if late else frozenset[str]()
    fill(load, user, shadow, [need for need in load.items if need not in waiting], now=clock.now)
    answers = [ask(load, user, shadow, clock, asked) for asked in load.first]
    fill(load, user, shadow, [need for need in load.items if need in waiting], now=clock.now)
    return answers + [ask(load, user, shadow, clock, asked) for asked in load.second]


def fill(load: Workload, user: UserMemory, shadow: Shadow, needs: Sequence[str], *, now: float) -> None:
    items = [item for need in needs for item in load.items[need]]
    if items:
        user.remember_many([{"id": item.id, "text": item.text, "created_at": now} for item in items])
        shadow.add([item.id for item in items], LocalEmbedder()([item.text for item in items]), now=now)


def ask(load: Workload, user: UserMemory, shadow: Shadow, clock: Clock, asked: Asked) -> Answer:
    """One question, scored on what it was given; what it read counts for the next."""
    clock.now += APART
    vector, gold = LocalEmbedder()([asked.cue])[0], load.gold(asked.need)
    best = shadow.best(vector, K, now=clock.now)
    fixed = shadow.best(vector, K, now=clock.now, nearest=FIXED)
    begun = time.perf_counter()
    recall = user.recall(asked.cue, k=K)
    seconds = time.perf_counter() - begun
    shadow.read(recall.ids, now=clock.now)
    return Answer(
        need=asked.need,
        ndcg=ndcg_at(recall.ids, gold, k=K),
        precision=precision_at(recall.ids, gold, k=K),
        recall=recall_at(recall.ids, gold, k=K),
        seconds=seconds,
        exact=same([hit.score for hit in recall], best.scores),
        fixed_same=same(list(fixed.scores), best.scores),
        fixed_ndcg=ndcg_at(fixed.ids, gold, k=K),
    )


def probed(load: Workload, user: UserMemory, *, policy: Policy | None = None) -> list[float]:
    """NDCG@5 of every probe; nothing is read."""
    return [
        ndcg_at(user.recall(asked.cue, k=K, reinforce=False, policy=policy).ids, load.gold(asked.need), k=K)
        for asked in load.probes
    ]
