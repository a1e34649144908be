"""Are ids short and still told apart, and are times understood as a model says them?"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive_memory_core import AdaptiveMemory, InvalidInputError
from adaptive_memory_core.mcp_server.inputs import SHOWN, named, narrowed, short_ids, time_since, with_short_ids

DAY = 86_400.0
UUID, TWIN = "3f2a9c1b-77aa-4b6f-bcc3-38e0e9134c89", "3f2a9c1b-77aa-4b6f-bcc3-38e0e9134c88"


MADE = st.builds("{}-{:024x}{}".format, st.sampled_from("hm"), st.integers(0, 3), st.sampled_from(["", "-2"]))


@given(st.lists(st.uuids().map(str) | MADE | st.text("0123456789abcdef-hm", min_size=1, max_size=50), max_size=8))
def test_short_ids_are_beginnings_that_differ(ids: list[str]) -> None:
    shown = short_ids([*ids, UUID])
    assert all(whole.startswith(short) for whole, short in shown.items())
    assert len(set(shown.values())) == len({*ids, UUID})
    for whole, short in shown.items():
        assert named(short, list(shown), what="memory", where="recall") == whole


def test_ids_that_begin_alike_are_shown_as_long_as_they_need() -> None:
    assert len(short_ids([UUID])[UUID]) == SHOWN
    assert short_ids([UUID, TWIN]) == {UUID: UUID, TWIN: TWIN}
    near, far = f"m-{'0' * 24}", f"m-{'0' * 9}{'1' * 15}"
    assert short_ids([near, far, UUID]) == {near: near[:14], far: far[:14], UUID: "3f2a9c1b"}
    assert with_short_ids(f"(id {UUID}) or (id tea)", [UUID, "tea"]) == "(id 3f2a9c1b) or (id tea)"


def test_an_id_that_is_whole_is_meant_even_if_others_begin_with_it() -> None:
    assert named("note-1", ["note-1", "note-12"], what="memory", where="recall") == "note-1"
    with pytest.raises(InvalidInputError, match=r"9 ids begin with 'note-1': .* and others. Give more characters"):
        named("note-1", [f"note-1{number}" for number in range(9)], what="memory", where="recall")


@pytest.mark.parametrize(
    ("said", "ago"),
    [
        ("30 minutes", 1_800.0),
        ("1 min", 60.0),
        ("12h", 43_200.0),
        ("7 days", 7 * DAY),
        ("7d", 7 * DAY),
        ("1.5 weeks ago", 10.5 * DAY),
        ("3 Months", 3 * 2_629_800.0),
        ("1 year", 100 * DAY),
        ("1970-04-11", 0.0),
        ("1970-04-10T12:00:00Z", DAY / 2),
        ("1970-04-11T01:00:00+01:00", 0.0),
    ],
)
def test_a_time_is_a_date_or_how_long_ago(said: str, ago: float) -> None:
    assert time_since(said, now=100 * DAY) == 100 * DAY - ago


@pytest.mark.parametrize("said", ["", "lately", "7", "days", "7 fortnights", "2026-13-01", "-7 days", "7 days!"])
def test_any_other_text_is_refused_with_what_to_give(said: str) -> None:
    with pytest.raises(InvalidInputError, match="Give a date such as 2026-11-01, or how long ago"):
        time_since(said, now=0.0)


def test_before_the_beginning_is_the_beginning() -> None:
    assert time_since("9" * 400 + " years", now=5.0) == 0.0


def test_the_filter_names_the_memorys_own_fields(memory: AdaptiveMemory) -> None:
    ana = memory.for_user("ana")
    since = {"created_at": {"$gte": memory.now() - DAY}}
    assert narrowed(ana, None, None) is None
    assert narrowed(ana, "fact", None) == {"kind": "fact"}
    assert narrowed(ana, None, "1 day") == since
    assert narrowed(ana, "fact", "1 day") == {"$and": [{"kind": "fact"}, since]}
