"""Replays past recalls under another policy: what it would have returned, and what that is worth."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, overload

from adaptive_memory_core.evaluate.intervals import Interval, paired_difference
from adaptive_memory_core.evaluate.metrics import mean, ndcg_at, recall_at, reciprocal_rank
from adaptive_memory_core.flow.rank_again import RankedAgain
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import Verdict
from adaptive_memory_core.reports import PROPENSITY

SEED = 18  # of the intervals: one log gives one answer
FEWEST = 2  # judged recalls below which there is no interval
ReplayMeasure = Callable[[Sequence[str], frozenset[str], int], float]
REPLAY_MEASURES: Mapping[str, ReplayMeasure] = {
    "NDCG@k": lambda ranking, gold, k: ndcg_at(ranking, gold, k=k),
    "recall@k": lambda ranking, gold, k: recall_at(ranking, gold, k=k),
    "reciprocal rank": lambda ranking, gold, k: reciprocal_rank(ranking, gold, k=k),
}


@dataclass(frozen=True, slots=True)
class ReplayedRecall:
    """One past recall: the ids that it returned (`before`), and those that the policy would have (`after`), best first.

    `reasons` says why it would have dropped each of the others, `verdicts` what was said of hits then. `reproduced`:
    the recall's own policy, ranked in the same way, gives the recorded ranking again, so the log tells all that
    mattered. `propensities` are the chances with which candidates were to be returned, where places were drawn by lot.
    `unknown` is what it does not tell. `user` is the name that the caller gave, if any.
    """

    id: str
    at: float
    step: int
    cue: str
    k: int
    before: tuple[str, ...]
    after: tuple[str, ...]
    reasons: Mapping[str, str] = field(repr=False)
    verdicts: Mapping[str, Verdict]
    reproduced: bool
    unknown: tuple[str, ...] = ()
    user: str | int | None = None
    propensities: Mapping[str, float] = field(default_factory=dict, repr=False)  # by lot
    whose: int = field(default=0, repr=False)  # tells the users of one replay apart, without their names

    @property
    def same(self) -> bool:
        """Whether both return the same in the same order."""
        return self.before == self.after

    @property
    def kept(self) -> tuple[str, ...]:
        """What both return."""
        return tuple(one for one in self.before if one in self.after)

    @property
    def dropped(self) -> tuple[str, ...]:
        """What was returned then, and would not be."""
        return tuple(one for one in self.before if one not in self.after)

    @property
    def promoted(self) -> tuple[str, ...]:
        """What was not returned then, and would be."""
        return tuple(one for one in self.after if one not in self.before)

    @property
    def helpful(self) -> frozenset[str]:
        return frozenset(one for one, verdict in self.verdicts.items() if verdict is Verdict.HELPFUL)


@dataclass(frozen=True, slots=True)
class ReplayedMeasure:
    """One measure over the recalls with a helpful verdict: then, under the policy, and the difference with its
    interval (None: too few of them)."""

    name: str
    before: float
    after: float
    difference: Interval | None


@dataclass(frozen=True, slots=True)
class Replay(Sequence[ReplayedRecall]):
    """Past recalls under another policy, oldest first. Print it, or its `summary()`."""

    policy: Policy = field(repr=False)
    recalls: tuple[ReplayedRecall, ...]

    @overload
    def __getitem__(self, index: int) -> ReplayedRecall: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[ReplayedRecall]: ...
    def __getitem__(self, index: int | slice) -> ReplayedRecall | Sequence[ReplayedRecall]:
        return self.recalls[index]

    def __len__(self) -> int:
        return len(self.recalls)

    def __iter__(self) -> Iterator[ReplayedRecall]:
        return iter(self.recalls)

    @property
    def changed(self) -> tuple[ReplayedRecall, ...]:
        """The recalls that would have returned something else, or in another order."""
        return tuple(one for one in self.recalls if not one.same)

    @property
    def judged(self) -> tuple[ReplayedRecall, ...]:
        """The recalls of which a hit was called helpful: what is measured is measured on these."""
        return tuple(one for one in self.recalls if one.helpful)

    @property
    def unknown(self) -> Mapping[str, int]:
        """What the log does not tell, and of how many recalls."""
        return dict(Counter(note for one in self.recalls for note in one.unknown).most_common())

    def measures(self) -> tuple[ReplayedMeasure, ...]:
        """The rankings of then and the policy's against what was called helpful.

        Only what was returned could be judged. So what the policy would have promoted counts as no better than wrong,
        and it is measured too low rather than too high.
        """
        return (
            tuple(_compared(name, measure, self.judged) for name, measure in REPLAY_MEASURES.items())
            if self.judged
            else ()
        )

    def summary(self) -> str:
        """The comparison in a few lines of plain text."""
        lines = [replay_summary(self)]
        judged = self.judged
        lines += [measure(one) for one in self.measures()]
        unhelpful = [unhelpful_returned(self.recalls, after=after) for after in (False, True)]
        if judged or any(unhelpful):
            lines.append(f"hits that were called unhelpful: {unhelpful[0]} then, {unhelpful[1]} under this policy")
        if promoted := sum(len(one.promoted) for one in judged):
            lines.append(f"{promoted} hits of the judged recalls would be new ones, which nobody could judge")
        lines += [f"unknown of {count}: {note}" for note, count in self.unknown.items()]
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.summary()

    def to_json(self) -> str:
        """All of it as JSON, for programs."""
        return json.dumps(
            {
                "policy": json.loads(self.policy.to_json()),
                "recalls": [plain_recall(one) for one in self.recalls],
                "measures": [plain_measure(one) for one in self.measures()],
                "unknown": dict(self.unknown),
            }
        )

    @staticmethod
    def joined(parts: Sequence[tuple[str | int | None, Replay]], policy: Policy) -> Replay:
        """Those of several users as one, in the order of time, with the names that the caller gave."""
        found = [
            replace(one, user=user, whose=whose) for whose, (user, replay) in enumerate(parts) for one in replay.recalls
        ]
        return Replay(policy, tuple(sorted(found, key=lambda one: (one.at, one.whose, one.step))))


def replayed(ranked: Iterable[RankedAgain], policy: Policy) -> Replay:
    """What ranking the recalls of one scope again has shown."""
    return Replay(policy, tuple(_one(each, policy) for each in ranked))


def _one(each: RankedAgain, policy: Policy) -> ReplayedRecall:
    line = each.line
    return ReplayedRecall(
        id=line.id,
        at=line.at,
        step=line.step,
        cue=line.cue,
        k=line.k,
        before=tuple(one.id for one in line.kept),
        after=each.again.ids,
        reasons={one.id: one.reason for one in each.again.dropped},
        verdicts=each.verdicts,
        reproduced=each.reproduced,
        propensities={one.id: one.propensity for one in line.candidates if PROPENSITY in one.then},
        unknown=(*each.notes, *_not_asked(each, policy)),
    )


def _not_asked(each: RankedAgain, policy: Policy) -> Iterator[str]:
    """What the policy would have asked for, and the recall did not."""
    own, line = each.own, each.line
    if own is None or own == policy:
        return
    for name in policy.ways:
        if name not in own.ways:
            yield f"the channel {name!r} was not asked: what it would have found, or said of the candidates"
    if max(policy.recall_k, line.k) > max(own.recall_k, line.k):
        yield f"records beyond the candidates: {own.recall_k} were asked for, this policy asks for {policy.recall_k}"
    if policy.pace != own.pace:
        yield "what other decay would have left of the strengths: they are those of then"
    if policy.advanced.unrelated_answered > 0.0 and own.advanced.unrelated_answered == 0.0:
        yield "whether unrelated questions find as good: no relevance floor was measured"
    if policy.blending == "bounded" and own.blending != "bounded" and policy.learning.similar_questions > 0.0:
        yield "what verdicts on similar questions said: they were not asked"


def _compared(name: str, measure: ReplayMeasure, judged: Sequence[ReplayedRecall]) -> ReplayedMeasure:
    before = [measure(one.before, one.helpful, one.k) for one in judged]
    after = [measure(one.after, one.helpful, one.k) for one in judged]
    users = [one.whose for one in judged]
    clusters = users if len(set(users)) >= FEWEST else None
    enough = len(judged) >= FEWEST
    difference = paired_difference(after, before, seed=SEED, clusters=clusters) if enough else None
    return ReplayedMeasure(name, mean(before), mean(after), difference)


def replay_summary(replay: Replay) -> str:
    dropped, promoted = (
        sum(map(len, lists)) for lists in ([one.dropped for one in replay], [one.promoted for one in replay])
    )
    again = sum(one.reproduced for one in replay)
    return (
        f"{len(replay)} recalls, {len(replay.changed)} would have returned something else: {dropped} hits dropped, "
        f"{promoted} promoted. Their own policies reproduce {again} of them."
    )


def measure(one: ReplayedMeasure) -> str:
    line = f"{one.name}: {one.before:.3f} then, {one.after:.3f} under this policy"
    if one.difference is None:
        return f"{line} (one judged recall: no interval)"
    sure = "" if one.difference.excludes_zero else ", which is within the noise"
    return f"{line}, difference {one.difference}{sure}"


def unhelpful_returned(recalls: Iterable[ReplayedRecall], *, after: bool) -> int:
    return sum(
        one.verdicts.get(name) is Verdict.UNHELPFUL for one in recalls for name in (one.after if after else one.before)
    )


def plain_recall(one: ReplayedRecall) -> dict[str, Any]:
    plain = {
        **{name: getattr(one, name) for name in ("id", "at", "step", "cue", "k", "before", "after", "kept", "dropped")},
        **{name: getattr(one, name) for name in ("promoted", "reproduced", "unknown")},
        "reasons": {name: reason for name, reason in one.reasons.items() if name in one.before},
        "verdicts": {name: verdict.value for name, verdict in one.verdicts.items()},
    }
    return plain if one.user is None else {**plain, "user": one.user}


def plain_measure(one: ReplayedMeasure) -> dict[str, Any]:
    sure = one.difference
    interval = None if sure is None else {"mean": sure.mean, "low": sure.low, "high": sure.high}
    return {"name": one.name, "before": one.before, "after": one.after, "difference": interval}
