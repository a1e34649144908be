"""Which records are listed as the newest: what holds now, by when it happened, of the scope alone?"""

from __future__ import annotations

import pytest

from adaptive_memory_core import AdaptiveMemory, InvalidInputError
from tests.conftest import DAY, START, Clock


async def test_the_newest_that_hold_come_first_and_nothing_is_read(memory: AdaptiveMemory, clock: Clock) -> None:
    ana = memory.for_user("ana")
    ana.remember("long ago", id="old", created_at=START - 9 * DAY)
    ana.remember("now", id="now")
    ana.remember("tomorrow", id="later", created_at=START + DAY)
    ana.remember("not valid yet", id="begins", valid_from=START + DAY)
    ana.remember("not valid any more", id="ended", valid_until=START - DAY)
    ana.remember("now, as it is", id="newer", supersedes="now", created_at=START - 1)
    memory.for_user("ben").remember("another's", id="ben's")
    assert [one.id for one in ana.recent()] == ["newer", "old"]
    assert [one.id for one in await ana.arecent(limit=1)] == ["newer"]
    clock.pass_days(2)
    assert [one.id for one in ana.recent(2)] == ["later", "begins"]
    assert ana.stats().reads == 0
    with pytest.raises(InvalidInputError, match="limit"):
        ana.recent(0)


def test_over_everyone_both_are_listed(memory: AdaptiveMemory, clock: Clock) -> None:
    memory.for_everyone().remember("a page", id="page")
    clock.pass_days(1)
    memory.for_user("ana").remember("a note", id="note")
    assert [one.id for one in memory.for_user("ana", over="everyone").recent()] == ["note", "page"]
    assert [one.id for one in memory.for_user("ana").recent()] == ["note"]
    assert [one.id for one in memory.for_everyone().recent()] == ["page"]


def test_each_has_the_read_state_that_get_gives(memory: AdaptiveMemory) -> None:
    ana = memory.for_user("ana")
    ana.remember("Ana drinks green tea.", id="tea")
    recall = ana.recall("what does she drink?")
    ana.feedback(recall, helpful=["tea"])
    assert ana.recent()[0].read.retrieval_count == ana.recent()[0].read.helpful == 1
    assert ana.recent() == [ana.get("tea")]


def test_a_record_of_ones_own_hides_everyones_of_its_id(memory: AdaptiveMemory) -> None:
    memory.for_everyone().remember("a page", id="page")
    ana = memory.for_user("ana", over="everyone")
    ana.remember("a page with notes", id="page")
    assert [one.text for one in ana.recent()] == ["a page with notes"]
