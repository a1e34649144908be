"""Is what stands alone in the company of others that do, as far as words are believed, and nothing else changed?"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from adaptive_memory_core.channels.conversation.standing_alone import by_kind, company_of_alone

shares = st.floats(0.0, 1.0)
rows = st.lists(st.tuples(shares, shares, st.booleans()), max_size=20)


@given(rows, shares)
def test_turns_keep_their_company_and_notes_come_near_the_best_note(
    found: list[tuple[float, float, bool]], chance: float
) -> None:
    company, close, alone = ([row[place] for row in found] for place in range(3))
    own = [like if by_itself else best for best, like, by_itself in found]  # a note has only itself before
    best = max((like for _, like, by_itself in found if by_itself), default=0.0)
    for before, now, by_itself in zip(own, company_of_alone(own, close, alone, chance), alone, strict=True):
        assert now == before if not by_itself else before - 1e-9 <= now <= best + 1e-9
    assert company_of_alone(company, close, [False] * len(found), chance) == company


@given(st.lists(st.tuples(shares, st.booleans())), shares)
def test_only_what_stands_alone_has_the_other_chance(found: list[tuple[float, bool]], other: float) -> None:
    chances = by_kind([one for one, _ in found], other, [alone for _, alone in found])
    assert chances == [other if alone else one for one, alone in found]
