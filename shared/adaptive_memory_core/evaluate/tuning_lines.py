"""How is a tuning told? Its lines for a reader, its values for programs, and why it was refused."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from adaptive_memory_core.evaluate.intervals import Interval

if TYPE_CHECKING:
    from adaptive_memory_core.evaluate.tune import Tuning


def too_thin(tuning: int, held_out: int, fewest: int) -> str:
    """
    >>> too_thin(7, 5, 20)
    'too thin: 7 different questions to tune on and 5 to judge by, of each at least 20 are needed'
    """
    return (
        f"too thin: {tuning} different questions to tune on and {held_out} to judge by, of each at least {fewest} "
        "are needed"
    )


def noise(measure: str, gain: Interval, chance: float) -> str:
    """
    >>> noise("NDCG@10", Interval(mean=-0.1, low=-0.2, high=0.0, confidence=0.95, clusters=9), 0.9)
    'no gain on the held-out questions: NDCG@10 -0.100 [-0.200, 0.000]'
    >>> noise("NDCG@10", Interval(mean=0.1, low=0.01, high=0.2, confidence=0.95, clusters=9), 0.0625)
    'within the noise on the held-out questions: NDCG@10 +0.100 [0.010, 0.200], and in 6 % of cases by mere chance'
    """
    what = "within the noise" if gain.mean > 0.0 else "no gain"
    by_chance = f", and in {100 * chance:.0f} % of cases by mere chance" if gain.low > 0.0 else ""
    return f"{what} on the held-out questions: {measure} {gain.mean:+.3f} [{gain.low:.3f}, {gain.high:.3f}]{by_chance}"


def lines(tuning: Tuning) -> list[str]:
    found = [
        f"{tuning.questions} questions to tune on, {tuning.judged} held out, measure {tuning.measure}",
        "tuned" if tuning.refused is None else f"refused, the policy stays as it is: {tuning.refused}",
    ]
    if tuning.gain is not None and tuning.refused is None:
        found.append(f"held out: {tuning.before:.3f} before, {tuning.after:.3f} tuned, difference {tuning.gain}")
    if tuning.unnormalised not in (None, tuning.gain):
        found.append(f"by plain inverse propensities: difference {tuning.unnormalised}")
    if tuning.changes:
        found.append(f"{100 * tuning.share:.0f} % of the way to what ranked best on the questions to tune on:")
    found += [f"  {place}: {before:.3g} -> {after:.3g}" for place, (before, after) in tuning.changes.items()]
    found += [f"assumes: {one}" for one in tuning.assumes]
    found += [f"note: {one}" for one in tuning.notes]
    for name, own in tuning.users.items():
        found.append(f"{name}: {'tuned' if own.refused is None else own.refused}")
    return found


def plain(tuning: Tuning) -> dict[str, Any]:
    gains = {name: getattr(tuning, name) for name in ("gain", "unnormalised")}
    names = ("measure", "refused", "before", "after", "questions", "judged", "share", "assumes", "notes")
    return {
        **{name: getattr(tuning, name) for name in names},
        **{name: one and {"mean": one.mean, "low": one.low, "high": one.high} for name, one in gains.items()},
        "changes": {place: list(pair) for place, pair in tuning.changes.items()},
        "policy": json.loads(tuning.policy.to_json()),
        "users": {str(name): plain(own) for name, own in tuning.users.items()},
    }
