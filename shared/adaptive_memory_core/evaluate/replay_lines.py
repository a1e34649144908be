"""How is a replay told? Its lines for a reader, and its values for programs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from adaptive_memory_core.records import Verdict

if TYPE_CHECKING:
    from adaptive_memory_core.evaluate.replay import Compared, Replay, ReplayedRecall


def counts(replay: Replay) -> str:
    dropped, promoted = (
        sum(map(len, lists)) for lists in ([one.dropped for one in replay], [one.promoted for one in replay])
    )
    again = sum(one.reproduced for one in replay)
    return (
        f"{len(replay)} recalls, {len(replay.changed)} would have returned something else: {dropped} hits dropped, "
        f"{promoted} promoted. Their own policies reproduce {again} of them."
    )


def measure(one: Compared) -> str:
    line = f"{one.name}: {one.before:.3f} then, {one.after:.3f} under this policy"
    if one.difference is None:
        return f"{line} (one judged recall: no interval)"
    sure = "" if one.difference.excludes_zero else ", which is within the noise"
    return f"{line}, difference {one.difference}{sure}"


def unhelpful(recalls: Iterable[ReplayedRecall], *, after: bool) -> int:
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


def plain_measure(one: Compared) -> dict[str, Any]:
    sure = one.difference
    interval = None if sure is None else {"mean": sure.mean, "low": sure.low, "high": sure.high}
    return {"name": one.name, "before": one.before, "after": one.after, "difference": interval}
