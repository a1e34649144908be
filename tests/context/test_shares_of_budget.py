"""Is every hit shown with what answers where that fits, and the best ones with more?"""

from __future__ import annotations

import pytest

from adaptive_memory_core.context.clean import estimated_tokens
from adaptive_memory_core.context.render import render
from adaptive_memory_core.records import Hit, Record, Scored

LONG = " ".join(f"This is sentence {n} of a reply that goes on and on about nothing." for n in range(60))


def replies(number: int) -> list[Scored]:
    texts = [f"Reply {n} begins here. {LONG} The code of door {n} is 47{n:02d}. {LONG}" for n in range(number)]
    return [
        Scored(Hit(Record(f"id{n}", text, "event", created_at=0.0), 0.5, f"id{n}"), 0.9 - n / 100, {}, {})
        for n, text in enumerate(texts)
    ]


def test_all_hits_are_shown_by_what_answers_where_an_even_share_is_enough() -> None:
    shown = render(replies(10), max_tokens=2_000, cue="what is the code of the door?")
    assert [n for n in range(10) if f"The code of door {n} is 47{n:02d}." in shown] == [*range(10)]
    sizes = [len(line) for line in shown.split("\n") if "excerpt" in line]
    assert len(sizes) == 10
    assert max(sizes) < 2 * min(sizes)


def test_what_is_left_goes_to_the_best() -> None:
    short = [
        Scored(Hit(Record(f"s{n}", f"A note, number {n}.", "event", created_at=0.0), 0.5, f"s{n}"), 0.1, {}, {})
        for n in range(10)
    ]
    shown = render([*replies(5), *short], max_tokens=1_600, cue="what is the code of the door?")
    sizes = [len(line) for line in shown.split("\n") if "excerpt" in line]
    assert len(sizes) == 5
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > 2 * sizes[-1]
    assert all(f"A note, number {n}." in shown for n in range(10))


def test_where_an_even_share_is_too_little_the_last_ones_are_left_out() -> None:
    shown = render(replies(30), max_tokens=1_000, cue="what is the code of the door?")
    assert "The code of door 0 is 4700." in shown
    assert len([line for line in shown.split("\n") if "excerpt" in line]) < 30


@pytest.mark.parametrize("budget", [150, 400, 700, 1_000, 1_500, 3_000, 9_000])
@pytest.mark.parametrize("style", ["text", "xml"])
def test_no_budget_is_overrun(budget: int, style: str) -> None:
    shown = render(replies(7), max_tokens=budget, style=style, cue="what is the code of the door?")
    assert estimated_tokens(shown) <= budget
