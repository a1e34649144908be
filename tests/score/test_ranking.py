"""Does a ranking in columns say what a list of hits said, whenever and however it is looked at?"""

from __future__ import annotations

import copy
import pickle
from collections.abc import Sequence

from adaptive_memory_core import Policy, Record
from adaptive_memory_core.fields import Fields
from adaptive_memory_core.record_metadata import hits_of
from adaptive_memory_core.records import Dropped, Hit, ReadState, Scope, Scored
from adaptive_memory_core.score.blend import score
from adaptive_memory_core.score.ranking import BEYOND_K, LeftOut, Ranking, as_candidates
from adaptive_memory_core.score.select import select
from adaptive_memory_core.store.ledger.recall_encoding import encode

NOW = 1_700_000_000.0


def hits(count: int = 6) -> list[Hit]:
    leads = [{"words": 1.0 / (2 + number), "chance": 0.25} for number in range(count)]
    return [
        Hit(
            Record(str(number), f"text {number}", created_at=float(number)),
            0.9 - 0.1 * number,
            str(number),
            leads[number],
        )
        for number in range(count)
    ]


def chosen(k: int = 2) -> tuple[Sequence[Scored], LeftOut]:
    kept, dropped = select(hits(), Policy(), k=k, now=NOW)
    assert isinstance(dropped, LeftOut)
    return kept, dropped


def test_what_is_left_out_reads_like_a_tuple_of_it() -> None:
    kept, dropped = chosen()
    assert [one.id for one in kept] == ["0", "1"]
    assert dropped == tuple(dropped)
    assert tuple(dropped) == dropped
    assert len(dropped) == 4
    assert [(one.id, one.reason) for one in dropped] == [(str(number), BEYOND_K) for number in range(2, 6)]
    assert dropped[-1].id == "5"
    assert [one.id for one in dropped[1:3]] == ["3", "4"]
    more = Dropped("x", "gone")
    assert (*dropped, more) == dropped.__add__((more,))
    assert (more, *dropped) == dropped.__radd__((more,))
    assert dropped[0] is dropped[0]  # made once


def test_a_copy_of_it_is_a_tuple_that_says_the_same() -> None:
    _, dropped = chosen()
    assert pickle.loads(pickle.dumps(dropped)) == copy.deepcopy(dropped) == tuple(dropped)


def test_the_hits_may_change_after_they_were_scored() -> None:
    given = hits()
    ranking = score(given, Policy(), now=NOW)
    before = [one.id for one in score(list(given), Policy(), now=NOW)]
    given.reverse()
    assert [one.id for one in ranking] == before


def test_the_parts_of_each_add_up_and_have_the_same_names() -> None:
    ranking = score(hits(), Policy(), now=NOW)
    assert isinstance(ranking, Ranking)
    assert all(abs(sum(one.parts.values()) - one.score) < 1e-12 for one in ranking)
    assert len({tuple(one.parts) for one in ranking}) == len({tuple(one.signals) for one in ranking}) == 1


def test_the_line_of_the_log_is_that_of_the_hits_one_by_one() -> None:
    kept, dropped = chosen()
    assert encode(kept, dropped, at=NOW) == encode(list(kept), list(dropped), at=NOW)


def test_of_no_hits_there_is_a_ranking_too() -> None:
    assert list(score([], Policy(), now=NOW)) == []
    assert select([], Policy(), k=3, now=NOW) == ((), ())


def test_the_columns_of_what_a_search_brought_are_those_of_its_hits() -> None:
    fields, read = Fields(importance_scale=10.0), ReadState(last_read=5.0, refreshed_at=5.0, warmth=1.0, boost=0.1)
    rows = [
        ("a", "tea", {"importance": 7, "created_at": 3.0, "kind": "fact"}, 0.5),
        ("b", None, None, 0.25),
        ("c", "tax", {"importance": "high", "created_at": "1970-01-02", "valid_from": 9.0, "topic": "x"}, 0.75),
        ("d", "due", {"created_at": float("inf"), "valid_until": 4.0, "superseded_by": "c"}, -0.5),
    ]
    found = as_candidates(hits_of(Scope("ana"), rows, {"a": read}, fields))
    one_by_one = as_candidates(list(found))
    assert [list(column) for column in found.columns[:-1]] == [list(column) for column in one_by_one.columns[:-1]]
    assert list(found.columns.gated) == [2, 3]


def test_a_part_of_the_candidates_has_their_columns_and_leads() -> None:
    these = as_candidates(hits())
    some = these.only([4, 1])
    assert [one.record.id for one in some] == some.columns.ids == ["4", "1"]
    assert [one.leads["words"] for one in some] == some.leads["words"]
    assert list(these[1:3]) == list(these)[1:3]
