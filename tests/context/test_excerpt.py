"""Is a long text cut to what answers, with marks, and is every hit shown where that fits, the best ones with more?"""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive_memory_core.channels.words_of_text import words
from adaptive_memory_core.context.clean import MARK, clean_parts, estimated_tokens, excerpt
from adaptive_memory_core.context.render import render
from adaptive_memory_core.records import Hit, Record, Scored

FILLER = "The weather was mild and everybody stayed in the garden. "
LONG = f"{FILLER * 30}The code of the red door is 4711. {FILLER * 30}"
CUE = "what is the code of the door?"


def scored(name: str, text: str, **metadata: Any) -> Scored:
    return Scored(Hit(Record(name, text, "event", created_at=0.0, metadata=metadata), 0.5, name), 0.5, {}, {})


@pytest.mark.parametrize("style", ["text", "xml", "markdown"])
def test_a_long_hit_is_cut_before_it_crowds_out_the_others(style: str) -> None:
    hits = [scored("long", LONG), *(scored(f"s{n}", f"Short note number {n} is whole.") for n in range(5))]
    text = render(hits, max_tokens=300, style=style, cue=CUE)
    assert "The code of the red door is 4711." in text
    assert all(f"Short note number {n} is whole." in text for n in range(5))
    assert "excerpt" in text
    assert "..." in text
    assert estimated_tokens(text) <= 300
    assert hits[0].text == LONG


@pytest.mark.parametrize(
    ("filler", "answer", "cue"),
    [
        ("วันนี้อากาศดีมาก ", "กุญแจสำรองอยู่ในลิ้นชักที่สาม ", "กุญแจสำรองอยู่ที่ไหน"),
        ("आज मौसम बहुत अच्छा है। ", "चाबी नीली दराज में है। ", "चाबी कहाँ है?"),
        ("so then we talked about the weather and the garden ", "the code of the red door is 4711 ", CUE),
        ("今天天气很好我们去公园散步", "仓库的密码是四三二一", "仓库的密码是什么"),
    ],
)  # fmt: skip
def test_what_answers_is_found_where_no_full_stop_ends_a_sentence(filler: str, answer: str, cue: str) -> None:
    text = f"{filler * 60}{answer}{filler * 60}"
    assert answer.strip() in render([scored("long", text), scored("s", "Short.")], max_tokens=150, cue=cue)


def test_where_all_fits_nothing_is_cut() -> None:
    text = render([scored("long", LONG), scored("s", "Short.")], max_tokens=5_000, cue=CUE)
    assert " ".join(LONG.split()) in text
    assert "excerpt" not in text


def test_code_and_lists_stay_whole() -> None:
    code, items = "```python\ndoor = open('4711')\nprint(door)\n```", "- the code of the door\n- the red door\n- 4711"
    said = f"{FILLER * 20}\n{code}\n{FILLER * 20}\n{items}\n\n{FILLER * 20}"
    found = excerpt(said, words(CUE), 80, estimated_tokens)
    assert found is not None
    assert "door = open('4711') print(door)" in found
    assert "- the code of the door - the red door - 4711" in found
    assert [one for one in clean_parts(said) if "red door" in one] == ["- the code of the door - the red door - 4711"]


@given(text=st.text(max_size=400), room=st.integers(5, 60))
def test_an_excerpt_fits_and_is_of_whole_words_of_the_text(text: str, room: int) -> None:
    found = excerpt(text, words("tea"), room, estimated_tokens)
    if found is not None:
        assert estimated_tokens(found) <= room
        own = " ".join(clean_parts(text)).split()
        said = [word for word in found.replace(f" {MARK}", " ").replace(f"{MARK} ", " ").split() if word != MARK]
        cut = [word for word in said if word not in own]  # one that is too long alone is cut, since it must be
        too_long = [word for word in own if estimated_tokens(f"{word} {MARK}") > room]
        assert all(any(one.startswith(word) for one in too_long) for word in cut)


@pytest.mark.parametrize("name", ["ana", "Ana", "ANA"])
def test_no_speaker_is_named_twice(name: str) -> None:
    hits = [scored(f"a{n}", f"Ana: I like tea {n}.", speaker=name, session="s", seq=n) for n in range(2)]
    for some in (hits, hits[:1]):
        for style in ("text", "xml", "markdown"):
            text = render(some, style=style)
            assert len(re.findall("ana", text, re.IGNORECASE)) == len(some)
            assert "I like tea 0." in text


def test_a_speaker_whom_the_text_does_not_name_is_shown() -> None:
    assert "said by ana" in render([scored("a", "ben: I like tea", speaker="ana")])
    assert "said by ana" in render([scored("a", "I like tea", speaker="ana")])


ON_AND_ON = " ".join(f"This is sentence {n} of a reply that goes on and on about nothing." for n in range(60))


def replies(number: int) -> list[Scored]:
    texts = [
        f"Reply {n} begins here. {ON_AND_ON} The code of door {n} is 47{n:02d}. {ON_AND_ON}" for n in range(number)
    ]
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
