"""How do learned weights change the channels' shares? Each is multiplied by what was learned of it; the sum stays."""

from __future__ import annotations

from collections.abc import Mapping


def tilted(shares: Mapping[str, float], learned: Mapping[str, float]) -> Mapping[str, float]:
    """The shares as verdicts have moved them.

    >>> tilted({"similarity": 0.5, "words": 0.5}, {"words": 3.0})
    {'similarity': 0.25, 'words': 0.75}
    >>> tilted({"similarity": 1.0}, {})
    {'similarity': 1.0}
    """
    if not learned:
        return shares
    moved = {name: share * learned.get(name, 1.0) for name, share in shares.items()}
    total, before = sum(moved.values()), sum(shares.values())
    return moved if total <= 0.0 else {name: value * before / total for name, value in moved.items()}
