"""Replays of past recalls under another policy: the hits it would have returned, and their value."""

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

SEED = 18  # of the intervals, so that the same log gives the same result
FEWEST = 2  # judged recalls needed for an interval
ReplayMeasure = Callable[[Sequence[str], frozenset[str], int], float]
REPLAY_MEASURES: Mapping[str, ReplayMeasure] = {
    "NDCG@k": lambda ranking, gold, k: ndcg_at(ranking, gold, k=k),
    "recall@k": lambda ranking, gold, k: recall_at(ranking, gold, k=k),
    "reciprocal rank": lambda ranking, gold, k: reciprocal_rank(ranking, gold, k=k),
}


@dataclass(frozen=True, slots=True)
class ReplayedRecall:
    """One past recall: the ids that it returned (`before`) and that the policy would return (`after`), best first.

    `reasons` gives the policy's reason for dropping each of the others, `verdicts` the feedback at the time.
    `reproduced` is true if ranking again under the recall's own policy gives the recorded ranking, so that the log
    contains everything that mattered. `propensities` are the candidates' chances of being returned, if places were
    drawn by lot. `unknown` lists what the log does not contain. `user` is the name that the caller gave, if any.
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
    whose: int = field(default=0, repr=False)  # the user's number within this replay, instead of a name

    @property
    def same(self) -> bool:
        """Whether both return the same in the same order."""
        return self.before == self.after

    @property
    def kept(self) -> tuple[str, ...]:
        """The ids that both return."""
        return tuple(one for one in self.before if one in self.after)

    @property
    def dropped(self) -> tuple[str, ...]:
        """The ids that were returned, and would not be."""
        return tuple(one for one in self.before if one not in self.after)

    @property
    def promoted(self) -> tuple[str, ...]:
        """The ids that were not returned, and would be."""
        return tuple(one for one in self.after if one not in self.before)

    @property
    def helpful(self) -> frozenset[str]:
        return frozenset(one for one, verdict in self.verdicts.items() if verdict is Verdict.HELPFUL)


@dataclass(frozen=True, slots=True)
class ReplayedMeasure:
    """One measure over the recalls with helpful feedback: before, under the policy, and the difference with its
    interval (None if there are too few recalls)."""

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
        """The recalls that would have returned other hits, or another order."""
        return tuple(one for one in self.recalls if not one.same)

    @property
    def judged(self) -> tuple[ReplayedRecall, ...]:
        """The recalls with at least one helpful hit. The measures are taken over these."""
        return tuple(one for one in self.recalls if one.helpful)

    @property
    def unknown(self) -> Mapping[str, int]:
        """Each thing that the log does not contain, with the number of recalls concerned."""
        return dict(Counter(note for one in self.recalls for note in one.unknown).most_common())

    def measures(self) -> tuple[ReplayedMeasure, ...]:
        """The recorded rankings and the policy's, measured against the helpful hits.

        Only returned hits could be judged. Hits that the policy would promote therefore count as wrong, so the policy
        is measured too low rather than too high.
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
            lines.append(f"unhelpful hits: {unhelpful[0]} before, {unhelpful[1]} under this policy")
        if promoted := sum(len(one.promoted) for one in judged):
            lines.append(f"{promoted} hits of the judged recalls would be new, so there is no feedback on them")
        lines += [f"unknown of {count}: {note}" for note, count in self.unknown.items()]
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.summary()

    def to_json(self) -> str:
        """The replay as JSON, for programs."""
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
        """Join the replays of several users, ordered by time, with the names that the caller gave."""
        found = [
            replace(one, user=user, whose=whose) for whose, (user, replay) in enumerate(parts) for one in replay.recalls
        ]
        return Replay(policy, tuple(sorted(found, key=lambda one: (one.at, one.whose, one.step))))


def replayed(ranked: Iterable[RankedAgain], policy: Policy) -> Replay:
    """The replay of one scope's recalls, which were ranked again."""
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
    """Notes on requests that the policy would have made and the recall did not."""
    own, line = each.own, each.line
    if own is None or own == policy:
        return
    for name in policy.ways:
        if name not in own.ways:
            yield f"the channel {name!r} was not asked, so its hits and scores are missing"
    if max(policy.recall_k, line.k) > max(own.recall_k, line.k):
        yield f"more candidates: the recall requested {own.recall_k}, this policy requests {policy.recall_k}"
    if policy.pace != own.pace:
        yield "strengths under another decay: the recorded strengths are used"
    if policy.advanced.unrelated_answered > 0.0 and own.advanced.unrelated_answered == 0.0:
        yield "scores of unrelated questions: no relevance floor was measured"
    if policy.blending == "bounded" and own.blending != "bounded" and policy.learning.similar_questions > 0.0:
        yield "feedback on similar questions: the recall did not look it up"


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
    line = f"{one.name}: {one.before:.3f} before, {one.after:.3f} under this policy"
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
