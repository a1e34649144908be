"""Does a conversation read as one? Blocks in the order of what was said, within the budget, and nothing forged."""

from __future__ import annotations

import re
from collections.abc import Callable
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive_memory_core import Cue, Fields, Policy, Recall, Record, Scope, Scored
from adaptive_memory_core.context.blocks import session_blocks
from adaptive_memory_core.context.clean import clean
from adaptive_memory_core.context.render import render
from adaptive_memory_core.context.styles import STYLES
from adaptive_memory_core.reports import Hit, Neighbour
from tests.context.test_render import ATTACKS, COUNTS, DAY, NASTY, NOW, accounted

TURNS = [
    ("Ana", "How was your week?"),
    ("Ben", "I adopted a puppy."),
    ("Ana", "What breed is he?"),
    ("Ben", "He is a collie."),
    ("Ana", "How sweet."),
]


def record(seq: int, session: str = "s", text: str | None = None, **metadata: object) -> Record:
    speaker, words = TURNS[seq % len(TURNS)]
    told = {"speaker": speaker, "session": session, "seq": seq, **metadata}
    return Record(f"{session}{seq}", words if text is None else text, "event", created_at=NOW - 21 * DAY, metadata=told)


def hit(one: Record, score: float = 0.5) -> Scored:
    return Scored(Hit(one, 0.5, one.id), score, {}, {})


def lines(text: str) -> list[str]:
    return text.split("\n")[1:]


def test_hits_of_one_conversation_are_one_block_in_the_order_of_what_was_said() -> None:
    text = render([hit(record(3)), hit(record(7, "t")), hit(record(2)), hit(record(1))], now=NOW)
    assert lines(text) == [
        "- [event, 2025-09-18, 3 weeks ago]",
        "  - [by Ben] I adopted a puppy.",
        "  - [by Ana] What breed is he?",
        "  - [by Ben] He is a collie.",
        "- [event, 2025-09-18, 3 weeks ago, said by Ana] What breed is he?",
    ]


def test_what_a_turn_does_not_share_stands_in_its_line() -> None:
    guess = Record(
        "g", "He may like sheep.", "reflection", created_at=NOW - 20 * DAY, metadata={"session": "s", "source": "call"}
    )
    text = render([hit(record(3)), hit(guess)], now=NOW)
    assert lines(text) == [
        "- [conversation]",
        "  - [by Ben, event, 2025-09-18, 3 weeks ago] He is a collie.",
        "  - [reflection, 2025-09-19, 2 weeks ago, from call, previously inferred] He may like sheep.",
    ]


def test_a_much_weaker_hit_of_the_same_conversation_stands_apart() -> None:
    hits = [hit(record(3), 0.9), hit(record(1), 0.8), hit(record(0), 0.2)]
    assert len(lines(render(hits))) == 4
    assert lines(render(hits))[-1].startswith("- [event, 2025-09-18, said by Ana] How was")
    assert len(lines(render(hits, merge=0.0))) == 4
    assert lines(render(hits, merge=0.0))[1:] == [
        "  - [by Ana] How was your week?",
        "  - [by Ben] I adopted a puppy.",
        "  - [by Ben] He is a collie.",
    ]


def test_neighbours_are_shown_with_their_hit_and_marked() -> None:
    beside = [Neighbour(record(2), "s3", -1), Neighbour(record(4), "s3", 1)]
    text = render([hit(record(3))], neighbours=beside)
    assert lines(text)[1:] == [
        "  + [by Ana] What breed is he?",
        "  - [by Ben] He is a collie.",
        "  + [by Ana] How sweet.",
    ]
    root = ElementTree.fromstring(render([hit(record(3))], neighbours=beside, style="xml", ids=True))
    assert [(one.tag, one.get("id")) for one in root[0]] == [("neighbour", None), ("memory", "s3"), ("neighbour", None)]


def test_neighbours_without_a_session_or_a_place_stand_around_their_hit() -> None:
    before, own, after = (Record(name, name.upper()) for name in ("before", "own", "after"))
    text = render([hit(own)], neighbours=[Neighbour(after, "own", 1), Neighbour(before, "own", -1)])
    assert [line.partition("] ")[2] for line in lines(text)[1:]] == ["BEFORE", "OWN", "AFTER"]


def test_a_neighbour_that_is_a_hit_itself_is_shown_once_and_as_a_hit() -> None:
    text = render([hit(record(3), 0.9), hit(record(2), 0.1)], neighbours=[Neighbour(record(2), "s3", -1)])
    assert lines(text)[1:] == ["  - [by Ana] What breed is he?", "  - [by Ben] He is a collie."]


def test_below_400_tokens_hits_come_without_their_neighbours() -> None:
    beside = [Neighbour(record(2), "s3", -1)]
    assert "+ [by Ana]" in render([hit(record(3))], neighbours=beside, max_tokens=400)
    assert "What breed" not in render([hit(record(3))], neighbours=beside, max_tokens=399)


def test_a_neighbour_that_does_not_fit_does_not_keep_its_hit_out() -> None:
    long = Neighbour(record(2, text="well " * 3_000), "s3", -1)
    text = render([hit(record(3)), hit(record(8, "t"))], neighbours=[long], max_tokens=500)
    assert [line.partition("] ")[2] for line in lines(text)] == ["He is a collie."] * 2


@pytest.mark.parametrize(("characters", "asked_first"), [(160, False), (1_900, True)])
def test_short_hits_come_before_what_stands_beside_them_and_a_long_reply_with_its_question(
    characters: int, asked_first: bool
) -> None:
    replies = [hit(record(4 * n + 1, f"s{n}", f"{n} " + "x" * characters)) for n in range(9)]
    asked = [Neighbour(record(4 * n, f"s{n}", f"asked {n}?"), one.id, -1) for n, one in enumerate(replies[:5])]
    whole = session_blocks(replies, asked, merge=0.5, fields=Fields())
    texts = [[whole.lines[number].record.text[:7] for number in unit] for unit in whole.by_worth]
    assert ("asked 0" in texts[0]) is asked_first
    places = [texts.index(one) for one in texts if len(one) > 1]
    assert places == ([0, 1, 2, 3, 4] if asked_first else [9, 10, 11, 12, 13])


def test_other_names_of_speaker_session_and_order_are_understood() -> None:
    fields = Fields(speaker="who", session="thread", seq="n")
    told = [{"who": "Ben", "thread": 7, "n": 2}, {"who": "Ana", "thread": 7, "n": 1}]
    hits = tuple(hit(Record(str(n), f"text {n}", metadata=one)) for n, one in enumerate(told))
    answer = Recall("r", Scope("alice"), Cue("?"), 5, NOW, Policy(), hits, fields=fields)
    assert lines(answer.render())[1:] == ["  - [by Ana] text 1", "  - [by Ben] text 0"]


def test_messages_hold_the_block_too() -> None:
    answer = Recall("r", Scope("alice"), Cue("?"), 5, NOW, Policy(), (hit(record(3)), hit(record(2))))
    (message,) = answer.render(style="messages")
    assert "<conversation" in message["content"]


TALK = st.lists(st.tuples(st.integers(0, 6), st.sampled_from("st"), NASTY, NASTY), min_size=2, max_size=6)


def talk(turns: list[tuple[int, str, str, str]]) -> list[Scored]:
    return [
        hit(Record(str(n), text, "event", metadata={"session": session, "seq": seq, "speaker": name, "source": name}))
        for n, (seq, session, text, name) in enumerate(turns)
    ]


@given(TALK)
def test_xml_holds_one_element_for_each_turn_whatever_their_words(turns: list[tuple[int, str, str, str]]) -> None:
    hits = talk(turns)
    beside = [Neighbour(Record("n", turns[0][2], metadata={"speaker": turns[0][3]}), "0", -1)]
    root = ElementTree.fromstring(render(hits, neighbours=beside, style="xml", ids=True, resolve=False, merge=0.0))
    found = [one for one in root.iter() if one.tag in ("memory", "neighbour")]
    assert {one.tag for one in root.iter()} <= {root.tag, "conversation", "memory", "neighbour"}
    assert sorted(one.text or "" for one in found) == sorted(
        clean(text) for text in [*(t for _, _, t, _ in turns), turns[0][2]]
    )
    assert [one.tag for one in found].count("neighbour") == 1


@given(TALK)
def test_text_holds_one_line_for_each_turn_whatever_their_words(turns: list[tuple[int, str, str, str]]) -> None:
    blocks = {session for _, session, _, _ in turns if sum(one[1] == session for one in turns) > 1}
    written = lines(render(talk(turns), merge=0.0, ids=True))
    assert len(written) == len(turns) + len(blocks)
    for line in written:
        assert re.match(r"(?:- |  - )\[[^\[\]]+\](?: |$)", line)


@given(TALK)
def test_markdown_leaves_no_sign_of_a_turn_in_force(turns: list[tuple[int, str, str, str]]) -> None:
    for line in render(talk(turns), merge=0.0, style="markdown").splitlines()[2:]:
        left = re.sub(r"\\[^\w\s]", "", re.sub(r"^> (?:  )?- ", "", line))
        assert left.count("*") == 2
        assert not set("`[]<>#!|&@") & set(left)


@given(TALK, st.integers(1, 600), st.sampled_from(COUNTS), st.sampled_from(["text", "xml", "markdown"]))
def test_blocks_keep_within_the_budget(
    turns: list[tuple[int, str, str, str]], budget: int, count: Callable[[str], int], style: str
) -> None:
    beside = [Neighbour(Record("n", "and then " * 20), "0", -1), Neighbour(Record("m", "so"), "1", -1)]
    text = render(talk(turns), neighbours=beside, max_tokens=budget, style=style, count=count)
    assert not text or count(text) <= budget


@given(st.lists(st.text("ab c.", min_size=1, max_size=600), min_size=1, max_size=12), st.integers(1, 900))
def test_no_turn_is_silently_left_out(texts: list[str], budget: int) -> None:
    hits = [hit(record(n, "st"[n % 2], text), 1 / (n + 1)) for n, text in enumerate(texts)]
    beside = [Neighbour(record(20, "s", "before"), "s0", -1)]
    text = render(hits, neighbours=beside, max_tokens=budget, style="xml")
    if text:
        root = ElementTree.fromstring(text)
        blocks = [one for one in root if one.tag == "conversation"]
        inside = sum(one.tag == "memory" for block in blocks for one in block)
        for block in blocks:
            root.remove(block)
        assert inside + accounted(ElementTree.tostring(root, encoding="unicode")) == len(texts)


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("style", list(STYLES))
def test_a_speakers_name_is_as_harmless_as_a_text(attack: str, style: str) -> None:
    hits = [hit(record(n, speaker=attack)) for n in (1, 2)]
    plain = [hit(record(n, speaker="x")) for n in (1, 2)]
    assert len(render(hits, style=style).split("\n")) == len(render(plain, style=style).split("\n"))


def test_thousands_of_turns_of_one_conversation_are_rendered() -> None:
    hits = [hit(record(n, text=f"turn number {n} about tea and other things")) for n in range(3_000)]
    assert "turn number 0" in render(hits, max_tokens=600)
