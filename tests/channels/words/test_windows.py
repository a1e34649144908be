"""Are the scores of records and of their surroundings those of BM25 worked out one by one?"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive_memory_core.channels.conversation.sessions import conversation
from adaptive_memory_core.channels.conversation.turn_columns import Turns
from adaptive_memory_core.channels.words import bm25
from adaptive_memory_core.channels.words import worth_of_word as worth
from adaptive_memory_core.channels.words.bm25 import Layout, Posting, coverage, rarity

RECORDS = st.lists(
    st.tuples(st.sampled_from(["a", "b", "c", None]), st.lists(st.sampled_from("uvwxyz"), max_size=6), st.booleans()),
    min_size=1,
    max_size=30,
)


def saturated(count: float, long: float, average: float, by_chance: float) -> float:
    held_back = worth.TERM_SATURATION * (1 - worth.LENGTH_NORMALISATION + worth.LENGTH_NORMALISATION * long / average)
    return count * (1 + worth.TERM_SATURATION) / (count + held_back) * math.exp(-worth.BY_CHANCE * by_chance)


def one_by_one(
    texts: Sequence[Sequence[str]], lengths: Sequence[float], layout: Layout, asked: str
) -> list[list[float]]:
    """For each record its own score and those of its three surroundings, without any of what makes it quick."""
    live, told = layout.live, sum(lengths)
    weights = {word: rarity(sum(word in text for text in texts), live) for word in asked}
    most = (sum(weights.values()) or 1.0) * (1 + worth.TERM_SATURATION)
    order = layout.order.tolist()
    spans: list[list[list[int]]] = []
    for reach in (bm25.NEAR_TURNS, bm25.TURNS_AROUND, len(order)):
        bounds = [
            (max(int(layout.first[at]), at - reach), min(int(layout.last[at]), at + reach + 1))
            for at in range(len(order))
        ]
        spans.append([order[low:high] for low, high in bounds])
    found = []
    for number, text in enumerate(texts):
        at, row = order.index(number), []
        own = sum(
            weights[word]
            * saturated(
                text.count(word),
                lengths[number],
                told / live,
                lengths[number]
                * (sum(one.count(word) for one in texts) - text.count(word))
                / max(1.0, told - lengths[number]),
            )
            for word in asked
            if word in text
        )
        row.append(own / most)
        for windows in spans:
            average = sum(sum(lengths[one] for one in window) for window in windows) / live
            long = sum(lengths[one] for one in windows[at])
            score = 0.0
            for word in asked:
                count = sum(texts[one].count(word) for one in windows[at])
                said = sum(one.count(word) for one in texts)
                score += weights[word] * saturated(count, long, average, long * said / told) if count else 0.0
            row.append(score / most)
        found.append(row)
    return found


@pytest.mark.parametrize("known", [True, False])
@given(records=RECORDS)
def test_any_scope_is_scored_as_if_it_were_worked_out_one_by_one(
    known: bool, records: Sequence[tuple[str | None, list[str], bool]]
) -> None:
    size = len(records)
    texts = [text if alive else [] for _, text, alive in records]
    lengths = np.array([float(max(1, len(text))) if alive else 0.0 for _, text, alive in records])
    live = int((lengths > 0).sum())
    if not live:
        return
    turns = Turns([None] * size, [0] * size, [one for one, _, _ in records], [float(-n % 7) for n in range(size)])
    talk = conversation(turns, lengths, live)
    layout = talk.layout._replace(turns=1.0)
    layout = layout if known else layout._replace(surroundings=None)
    docs = {word: [number for number, text in enumerate(texts) if word in text] for word in "uvw"}
    postings = [
        Posting(1, np.array(there, dtype=np.int64), np.array([float(texts[one].count(word)) for one in there]))
        for word, there in docs.items()
    ]
    covered = coverage(postings, layout, in_sessions=True)
    for number, row in enumerate(one_by_one(texts, lengths.tolist(), layout, "uvw")):
        columns = (covered.words, covered.near, covered.around, covered.session)
        assert [float(np.asarray(column)[number]) for column in columns] == pytest.approx(row, rel=1e-9, abs=1e-12)
