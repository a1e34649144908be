"""Does the benchmark of names that are alike ask for what it says?"""

from __future__ import annotations

from adaptive_memory_core import as_embedder
from benchmarks.embedders import trigrams
from benchmarks.names_alike import OTHER, SAME, made_up, measured, pairs


def test_each_question_needs_two_records_and_no_name_is_in_both_lists() -> None:
    records, questions = made_up()
    ids = {one.id for one in records}
    assert len(ids) == len(records)
    assert all(ids.issuperset(one.gold) for one in questions)
    assert not set(pairs(SAME)) & set(pairs(OTHER))


def test_off_nothing_is_taken_and_on_more_is_found() -> None:
    off, on = measured(as_embedder(trigrams, name="trigrams"), [0.0, 0.75])
    assert off["same taken"].startswith("0 of")
    assert not on["same taken"].startswith("0 of")
    assert float(on["recall@5 in the question"]) > float(off["recall@5 in the question"])
