"""Records listed newest first: all of a scope, those that hold now, those that pass a filter, page by page."""

from __future__ import annotations

import pytest

from adaptive_memory_core import AdaptiveMemory, InvalidInputError
from adaptive_memory_core.errors import FilterError
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
    assert [one.id for one in ana.records(current=True)] == ["newer", "old"]
    assert [one.id for one in await ana.arecords(limit=1, current=True)] == ["newer"]
    clock.pass_days(2)
    assert [one.id for one in ana.records(limit=2, current=True)] == ["later", "begins"]
    assert ana.stats().reads == 0
    with pytest.raises(InvalidInputError, match="limit"):
        ana.records(limit=0, current=True)


def test_over_everyone_both_are_listed(memory: AdaptiveMemory, clock: Clock) -> None:
    memory.for_everyone().remember("a page", id="page")
    clock.pass_days(1)
    memory.for_user("ana").remember("a note", id="note")
    assert [one.id for one in memory.for_user("ana", over="everyone").records(current=True)] == ["note", "page"]
    assert [one.id for one in memory.for_user("ana").records(current=True)] == ["note"]
    assert [one.id for one in memory.for_everyone().records(current=True)] == ["page"]


def test_each_has_the_read_state_that_get_gives(memory: AdaptiveMemory) -> None:
    ana = memory.for_user("ana")
    ana.remember("Ana drinks green tea.", id="tea")
    recall = ana.recall("what does she drink?")
    ana.feedback(recall, helpful=["tea"])
    assert ana.records(current=True)[0].read.retrieval_count == ana.records(current=True)[0].read.helpful == 1
    assert ana.records(current=True) == [ana.get("tea")]


def test_a_record_of_ones_own_hides_everyones_of_its_id(memory: AdaptiveMemory) -> None:
    memory.for_everyone().remember("a page", id="page")
    ana = memory.for_user("ana", over="everyone")
    ana.remember("a page with notes", id="page")
    assert [one.text for one in ana.records(current=True)] == ["a page with notes"]


async def test_all_records_are_listed_a_page_at_a_time(memory: AdaptiveMemory, clock: Clock) -> None:
    ana = memory.for_user("ana")
    for number in range(25):
        ana.remember(f"note {number}", id=str(number), metadata={"even": number % 2 == 0}, kind="fact")
        clock.pass_seconds(1)
    ana.remember("note 24, as it is", id="new", supersedes="24")
    memory.for_user("ben").remember("another's", metadata={"even": True})
    newest = ["new", *(str(number) for number in reversed(range(25)))]
    assert [one.id for one in ana.records()] == newest
    pages = [[one.id for one in ana.records(limit=10, offset=start)] for start in range(0, 40, 10)]
    assert [len(page) for page in pages] == [10, 10, 6, 0]
    assert [one for page in pages for one in page] == newest
    assert [one.id for one in await ana.arecords({"even": True}, 2, 1)] == ["22", "20"]
    assert [one.id for one in ana.records({"$and": [{"kind": "fact"}, {"even": False}]}, limit=1)] == ["23"]
    assert [one.id for one in ana.records({"user_id": "ben"})] == []
    assert ana.stats().reads == 0
    with pytest.raises(InvalidInputError, match="offset"):
        ana.records(offset=-1)
    with pytest.raises(FilterError, match="The filter"):
        ana.records({"even": {"$foo": 1}})
