"""Are dates looked for only where they can be, and missed nowhere?"""

from __future__ import annotations

from datetime import datetime, timezone

import pytest

from adaptive_memory_core.cue.time.english_phrases import AHEAD, DATE_PATTERNS, find_times, needs_in
from tests.behaviour.time_phrases import texts

TODAY = datetime(2023, 5, 12, tzinfo=timezone.utc)


def test_no_way_to_name_a_time_is_left_out_of_a_text_that_holds_it() -> None:
    ways, found = [*AHEAD, *DATE_PATTERNS[True]], 0
    for text in texts(3_000, seed=4):
        there = needs_in(text.lower())
        for way in ways:
            if way.needs and there.isdisjoint(way.needs) and text.isascii():
                assert way.pattern.search(text) is None, (way.pattern.pattern, text)
            found += way.pattern.search(text) is not None
    assert found > 3_000


@pytest.mark.parametrize("phrase", ["3 may ", "over the weekend ", "5 days ago ", "last march "])
def test_a_text_that_is_full_of_one_kind_of_date_is_read_up_to_some_number_of_them(phrase: str) -> None:
    assert len(find_times(f"we met {phrase}" * 1_000, TODAY)) <= 300
