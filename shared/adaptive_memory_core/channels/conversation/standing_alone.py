"""How far are words believed of records that stand alone where there are conversations too, and what is their company?

A turn is also found by the words of the turns around it, and lifted by the best turn of its session. Neither says
anything of a note or a label beside the conversations: that turns match the cue does not tell that notes do.
"""

from __future__ import annotations

from collections.abc import Sequence


def by_kind(chances: Sequence[float], chance_alone: float, alone: Sequence[float]) -> list[float]:
    """For each record the chance that one of its kind matches the cue's words by accident as well as the best does.

    >>> by_kind([0.01, 0.01], 0.5, [False, True])
    [0.01, 0.5]
    """
    return [chance_alone if by_itself else chance for chance, by_itself in zip(chances, alone, strict=True)]


def company_of_alone(
    company: Sequence[float], similarities: Sequence[float], alone: Sequence[float], chance_alone: float
) -> list[float]:
    """The best similarity in the company of each: where words are believed, what stands alone is in that of all others
    that do, so that vectors put it behind no turn for having no session, and do not rank it among its own kind.

    >>> company_of_alone([0.5, 0.25, 0.75], [0.5, 0.25, 0.75], [False, True, True], chance_alone=0.0)
    [0.5, 0.75, 0.75]
    >>> company_of_alone([0.5, 0.25, 0.75], [0.5, 0.25, 0.75], [False, True, True], chance_alone=1.0)
    [0.5, 0.25, 0.75]
    """
    best = max((like for like, by_itself in zip(similarities, alone, strict=True) if by_itself), default=0.0)
    return [
        chance_alone * own + (1.0 - chance_alone) * best if by_itself else own
        for own, by_itself in zip(company, alone, strict=True)
    ]
