"""How does it count who said a turn, and what kind of turn it is? It multiplies what the turn says of the cue.

That the only speaker whom the cue names said it makes any turn likelier, and a turn that says nothing of the cue no
answer. Added, it would count much where words and vectors tell little, and little where they tell much.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from adaptive_memory_core.policy.fusion import Fusion

OF_TURNS = ("speaker", "dated", "stated", "named")  # the leads that say nothing of what a record is about
EVEN = 0.08  # of the relevance, at which it comes to as much as if it were added; .07 to .1 is flat, docs/hierarchy.md
UNSAID = 0.001  # of the relevance, that has them count for a record of which nothing else is said; guess
Columns = Mapping[str, Sequence[float]]


def times_more(fusion: Fusion) -> dict[str, float]:
    """By how much of itself each of these leads raises the relevance, where it is 1.

    >>> round(times_more(Fusion(dense=0.5, words=0.5, near=0, around=0, session=0, speaker=0.08))["speaker"], 2)
    1.0
    """
    about = fusion.dense + fusion.words + fusion.near + fusion.around + fusion.session
    return {name: fusion.leads[name] / (EVEN * about) if about else 0.0 for name in OF_TURNS}


def multiplied(parts: Columns, leads: Columns, times: Mapping[str, float]) -> dict[str, list[float]]:
    """The parts of a relevance in [0, 1], with a further one for each of these leads that there is: what it adds to
    those before it. Where all of them are 1, the relevance is what it was, and less elsewhere.

    >>> found = multiplied({"words": [0.5, 0.5]}, {"speaker": [1.0, 0.0]}, {"speaker": 1.0})
    >>> {name: [round(one, 2) for one in column] for name, column in found.items()}
    {'words': [0.25, 0.25], 'speaker': [0.25, 0.0]}
    """
    counting = [name for name in OF_TURNS if name in leads and times.get(name, 0.0) > 0.0]
    left = 1.0
    for name in counting:
        left /= 1.0 + times[name]
    found = {name: [left * one for one in column] for name, column in parts.items()}
    whole = [left * max(UNSAID, sum(row)) for row in zip(*parts.values(), strict=True)]
    for name in counting:
        more = times[name]
        found[name] = [more * lead * one for lead, one in zip(leads[name], whole, strict=True)]
        whole = [one + added for one, added in zip(whole, found[name], strict=True)]
    return found
