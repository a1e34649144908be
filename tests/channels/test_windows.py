"""Are the nats of records and of their surroundings those that a calculation one by one gives?"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive_memory_core.channels.matches import Asked, matches, posting
from adaptive_memory_core.channels.sessions import AROUND, Layout, conversation, surroundings_of
from adaptive_memory_core.channels.turns import Turns
from adaptive_memory_core.score.surprise import OTHER_RECORDS

RECORDS = st.lists(
    st.tuples(st.sampled_from(["a", "b", "c", None]), st.lists(st.sampled_from("uvwxyz"), max_size=6), st.booleans()),
    min_size=1,
    max_size=30,
)


def nats(holding: int, live: int, long: float, average: float) -> float:
    """Of a word that so many records have, found in a text of this length."""
    share = min(0.999, holding / (live + OTHER_RECORDS))
    return -math.log(max(1e-12, 1.0 - (1.0 - share) ** (long / average)))


def one_by_one(
    texts: Sequence[Sequence[str]], lengths: Sequence[float], layout: Layout, asked: str
) -> list[tuple[float, float]]:
    """For each record what its own words say and what its surroundings do, without any of what makes it quick."""
    live, order = layout.live, layout.order.tolist()
    average = sum(lengths) / live
    holding = {word: sum(word in text for text in texts) for word in asked}
    found = []
    for number, text in enumerate(texts):
        at = order.index(number)
        own = sum(nats(holding[word], live, lengths[number], average) for word in asked if word in text)
        around = 0.0
        for reach, counts_as in AROUND:
            reaches = len(order) if reach is None else reach
            window = order[max(int(layout.first[at]), at - reaches) : min(int(layout.last[at]), at + reaches + 1)]
            long = sum(lengths[one] for one in window)
            there = [word for word in asked if any(word in texts[one] for one in window)]
            around += counts_as * sum(nats(holding[word], live, long, average) for word in there)
        found.append((own, around))
    alone = [int(layout.last[at]) - int(layout.first[at]) == 1 for at in map(order.index, range(len(texts)))]
    reached = [sum(one) for one, by_itself in zip(found, alone, strict=True) if not by_itself]
    by_chance = (
        statistics.fmean(reached) + math.sqrt(2.0 * math.log(len(reached))) * statistics.pstdev(reached)
        if reached
        else 0.0
    )
    return [
        (own, around if not by_itself else by_chance if long > 0 else 0.0)
        for (own, around), by_itself, long in zip(found, alone, lengths, strict=True)
    ]


@given(records=RECORDS)
def test_any_scope_is_scored_as_if_it_were_worked_out_one_by_one(
    records: Sequence[tuple[str | None, list[str], bool]],
) -> None:
    size = len(records)
    texts = [text if alive else [] for _, text, alive in records]
    lengths = np.array([float(max(1, len(text))) if alive else 0.0 for _, text, alive in records])
    live = int((lengths > 0).sum())
    if not live:
        return
    turns = Turns([None] * size, [0] * size, [one for one, _, _ in records], [float(-n % 7) for n in range(size)])
    talk = conversation(turns, lengths, live)._replace(people=np.ones(size))
    if talk.layout.surroundings is None:
        layout = talk.layout
        places = surroundings_of(layout.lengths, layout.order, layout.first, layout.last)
        talk = talk._replace(layout=layout._replace(surroundings=places))
    docs = {word: [number for number, text in enumerate(texts) if word in text] for word in "uvw"}
    asked: Asked = {word: (1, posting(word, np.array(there, dtype=np.int64), talk)) for word, there in docs.items()}
    found = matches(asked, talk)
    assert found.around is not None
    for number, (own, around) in enumerate(one_by_one(texts, lengths.tolist(), talk.layout, "uvw")):
        assert float(found.own[number]) == pytest.approx(own, rel=1e-9, abs=1e-12)
        assert float(found.around[number]) == pytest.approx(around, rel=1e-9, abs=1e-12)
