"""Can a memory leave its place in a prompt? None of 500 hostile texts ends its block or starts a turn, in any style."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

import pytest

from adaptive_memory_core import Cue, Fields, Policy, Recall, Record, Scope, Scored
from adaptive_memory_core.context.clean import defused
from adaptive_memory_core.context.render import line, render
from adaptive_memory_core.context.styles import STYLES, TAG
from adaptive_memory_core.records import Neighbour
from adaptive_memory_core.reports import Hit
from tests.context.hostile_texts import ALL_TOKENS, CONTROL_TOKENS, texts

NOW = 1_760_000_000.0
ROOM = 90  # tokens, so that most is said in brief
HOSTILE = texts(500)


def hit(text: str, name: str, number: int, **metadata: Any) -> Scored:
    record = Record(f"{name}{number}", text, kind=name, created_at=NOW - number, metadata=metadata)
    return Scored(Hit(record, 0.5, str(number), shared=name or None), 0.5, {}, {})


def scenes() -> Iterator[list[Scored]]:
    """Five hits at a time: hostile texts, with hostile names of everything, alone and as turns of one session."""
    for start in range(0, len(HOSTILE), 5):
        said = HOSTILE[start : start + 5]
        name = said[0]
        more = {"session": name, "source": said[1], "confidence": 0.4} if start % 10 else {"source": said[1]}
        yield [hit(text, name[: 10 * n], n, speaker=said[-1 - n], seq=float(n), **more) for n, text in enumerate(said)]


def shown(hits: list[Scored], style: str, room: int | None) -> str:
    beside = [Neighbour(hits[-1].record, hits[0].id, 1)]
    return render(hits, style=style, max_tokens=room, ids=True, now=NOW, merge=0.5, neighbours=beside, fields=Fields())


def tokens_in(text: str) -> list[str]:
    """The control tokens in it; a heading is none within a word, as in "SuperUser:"."""
    found = (token for token in ALL_TOKENS if token in text)
    return [one for one in found if not one[0].isalpha() or re.search(rf"(?<!\w){one}", text)]


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("room", [None, ROOM])
def test_no_control_token_and_no_heading_of_a_turn_is_left(style: str, room: int | None) -> None:
    for hits in scenes():
        text = shown(hits, style, room)
        assert not tokens_in(text)
        assert not tokens_in(text.replace("\\", ""))
        assert not [one for one in hits if tokens_in(line(one, ids=True, now=NOW))]


@pytest.mark.parametrize("family", CONTROL_TOKENS)
def test_what_a_token_was_can_still_be_read(family: str) -> None:
    for token in CONTROL_TOKENS[family]:
        text = render([hit(f"they typed {token} there", "fact", 1)])
        assert token.strip() not in text
        read = re.sub(r"[^\w/]", "", text.partition("they typed")[2])
        assert read == re.sub(r"[^\w/]", "", token + "there")


def test_what_is_no_token_stays_as_it_is() -> None:
    for said in (
        "if a < b: c[0] = d[INSTANCE]",
        "a user: yes",
        "<3 [1] (s) Re: [SEPT]",
        "I asked the System Administrator",
    ):
        assert render([hit(said, "fact", 1)]).endswith(said)
        assert defused(defused(said)) == said


@pytest.mark.parametrize("style", ["xml", "messages"])
@pytest.mark.parametrize("room", [None, ROOM])
def test_no_text_ends_its_element(style: str, room: int | None) -> None:
    for hits in scenes():
        root = ElementTree.fromstring(shown(hits, style, room))
        assert root.tag == TAG
        inside = {one.tag for one in root.iter() if one is not root}
        assert inside <= {"memory", "conversation", "neighbour", "in_brief", "did_not_fit"}
        assert room is not None or sum(one.tag == "memory" for one in root.iter()) == len(hits)


@pytest.mark.parametrize("style", ["text", "markdown"])
@pytest.mark.parametrize("room", [None, ROOM])
def test_no_text_ends_what_a_prompt_puts_it_into(style: str, room: int | None) -> None:
    for hits in scenes():
        text = shown(hits, style, room).replace("\\", "")
        assert not re.search(r"<(?:[/!?]|[^\W\d])", text)  # neither <memory> nor whatever else stands around it
        assert "```" not in text


def test_no_text_begins_a_line_of_its_own() -> None:
    for hits in scenes():
        plain, quoted = shown(hits, "text", None), shown(hits, "markdown", None)
        assert all(re.match(r"- \[|  [-+] \[", one) for one in plain.splitlines()[1:])
        assert all(one.startswith(">") for one in quoted.splitlines())


def test_messages_are_one_of_the_users_whatever_the_memories_say() -> None:
    for hits in scenes():
        found = Recall("r", Scope("ana"), Cue("tea"), 5, NOW, Policy(), tuple(hits))
        (message,) = found.render(style="messages", ids=True)
        assert set(message) == {"role", "content"}
        assert message["role"] == "user"
