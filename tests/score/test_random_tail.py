"""Does each candidate of the pool come up as often as its propensity says?"""

from __future__ import annotations

from collections import Counter

from adaptive_memory_core.records import Dropped, Hit, Record, Scored
from adaptive_memory_core.score.diversity import with_random_tail
from adaptive_memory_core.score.ranking import BEYOND_K

DRAWS = 4_000


def hit(name: str) -> Scored:
    return Scored(Hit(Record(name, name), 0.5, name), 0.5, {}, {})


KEPT = tuple(map(hit, "abcde"))
DROPPED = [*(Dropped(one, BEYOND_K, hit(one)) for one in "fghijklm"), Dropped("x", "expired")]


def test_all_of_the_pool_come_up_as_often_as_the_log_says() -> None:
    drawn = [with_random_tail(KEPT, DROPPED, tail=2, recall_id=f"r{number}") for number in range(DRAWS)]
    assert all(one.propensities == drawn[0].propensities for one in drawn)
    assert drawn[0].propensities == {**dict.fromkeys("abc", 1.0), **dict.fromkeys("defghi"[:6], 2 / 6)}
    shown = Counter(one.id for each in drawn for one in each.kept)
    for name, chance in drawn[0].propensities.items():
        spread = (chance * (1 - chance) / DRAWS) ** 0.5
        assert abs(shown[name] / DRAWS - chance) <= 4 * spread
    together = Counter("".join(one.id for one in each.kept[3:]) for each in drawn)
    assert len(together) == 15  # every pair of six


def test_nobody_is_lost_and_the_certain_ones_stand_first() -> None:
    drawn = with_random_tail(KEPT, DROPPED, tail=2, recall_id="r")
    assert [one.id for one in drawn.kept[:3]] == ["a", "b", "c"]
    everyone = [*(one.id for one in drawn.kept), *(one.id for one in drawn.dropped)]
    assert sorted(everyone) == sorted("abcdefghijklmx")
    assert [one.reason for one in drawn.dropped].count("expired") == 1


def test_one_recall_is_drawn_in_one_way() -> None:
    one, other = (with_random_tail(KEPT, DROPPED, tail=3, recall_id="r") for _ in range(2))
    assert one == other


def test_where_there_is_nothing_to_draw_all_stays() -> None:
    for kept, dropped, tail in ((KEPT[:1], DROPPED, 3), (KEPT, [], 3), (KEPT, DROPPED[-1:], 3), (KEPT, DROPPED, 0)):
        drawn = with_random_tail(kept, dropped, tail=tail, recall_id="r")
        assert (drawn.kept, drawn.dropped, drawn.propensities) == (kept, dropped, {})
