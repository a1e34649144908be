"""What does twice as long a text cost? Twice as much, whatever it is made of and whatever is done with it."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime, timezone
from typing import Any

import pytest

from adaptive_memory_core import AdaptiveMemory, AgentState, Cue, Fields, Policy, Recall, Record, Scope, Scored
from adaptive_memory_core.channels.sessions import cue_without_names, named
from adaptive_memory_core.channels.turns import Turn, asks, turn_of
from adaptive_memory_core.channels.words_of_text import words
from adaptive_memory_core.context.clean import clean, estimated_tokens, excerpt, label
from adaptive_memory_core.context.entries import resolved
from adaptive_memory_core.context.styles import STYLES
from adaptive_memory_core.cue.question_kinds import asks_when, build_cue
from adaptive_memory_core.cue.time.english import English
from adaptive_memory_core.cue.time.english_phrases import find_times
from adaptive_memory_core.records import Hit
from adaptive_memory_core.score.refusals import refusal
from adaptive_memory_core.score.select import leaders
from adaptive_memory_core.store.words.frozen_lists import RecordText, row_of
from tests.context.hostile_texts import ALL_TOKENS

NOW = 1_683_849_600.0  # 12 May 2023
TODAY = datetime.fromtimestamp(NOW, timezone.utc)
LEAST, LARGEST = 500, 16_000  # characters of the shortest of three texts
ENOUGH_SECONDS = 0.001  # that the shortest should take
MOST = 9.0  # times as much for a text four times as long; 16 would be the square
TRIES = 4  # that must all say so: other work on the machine is heard in each

KINDS = {
    "dates": "3 may ", "weekdays": "on monday ", "counts": "5 days ago ", "leads": "from 1 between ",
    "months": "may ", "last": "last year in fall ", "weekends": "over the weekend ", "years": "2020 by ",
    "hyphens": "early-", "quotes": "'a ", "ed": "needed ", "quoted": '"', "dots": "a.", "digits": "1", "letters": "a",
    "spaces": " .", "lines": "\n.", "stops": "the ", "questions": "?", "underscores": "_a", "humps": "aA",
    "did": "did the is x y ", "brackets": "[id (", "angles": "</", "less": "<", "bars": "<|",
    "tokens": "".join(ALL_TOKENS), "headings": "### User: ", "backticks": "`", "periods": "ab ",
    "han": "\u6771\u4eac", "hangul": "\uac00\ub098 ", "emoji": "\U0001f600", "accents": "\u0301\u0316", "commas": ",",
    "ligatures": "\ufdfa", "hidden": "\u200b.", "turned": "\u202e.", "quarters": "q1 2020 h2 ", "entities": "&#60;",
    "words": " ".join(f"w{number}x" for number in range(300)) + " ",
}  # fmt: skip


def recall(text: str) -> Recall:
    record = Record("a", text, "event", created_at=NOW, metadata={"speaker": text, "source": text, "session": "s"})
    hits = [Scored(Hit(record, 0.5, "a"), 0.5, {}, {})] * 2
    return Recall("r", Scope("ana"), Cue(text), 2, NOW, Policy(), tuple(hits))


def shown(text: str) -> None:
    for style in STYLES:
        recall(text).render(style=style, ids=True, resolve=False)  # type: ignore[call-overload]


SURFACES: dict[str, Callable[[str], Any]] = {
    "shown": shown,
    "shown in brief": lambda text: recall(text).render(max_tokens=60, resolve=False),
    "an excerpt": lambda text: excerpt(text, words(text[:100]), 60, estimated_tokens),
    "an excerpt with a gap": lambda text: excerpt(f"a{' ' * len(text)}b", words(text[:100]), 60, estimated_tokens),
    "explained": lambda text: recall(text).explain(),
    "dates": lambda text: find_times(text, TODAY, ahead=True),
    "dates of a memory": lambda text: resolved(text, NOW),
    "time in a cue": lambda text: list(English()(text, NOW)),
    "names": lambda text: (label(text), clean(text)),
    "words": lambda text: row_of(RecordText("a", text, Turn())),
    "a turn": lambda text: (turn_of(text, {"speaker": text}, Fields(), created_at=NOW), asks(text)),
    "a cue": lambda text: (asks_when(text), build_cue(AgentState(goal=text, utterance=text, open_loops=(text,)))),
    "speakers": lambda text: cue_without_names(text, named(text, {"ana": None, "ab": None, text[:9]: None})),
    "copies": lambda text: leaders([text, text + "x", "x" + text, text], 0.8),
    "in context": lambda text: refusal(None, [text, text[1:]])(Record("b", text[: len(text) // 2], "event")),
}


def seconds(work: Callable[[str], object], piece: str, size: int) -> float:
    """What the work costs this thread on so long a text."""
    text = (piece * (size // len(piece) + 1))[:size]
    began = time.thread_time()
    work(text)
    return time.thread_time() - began


def too_much(work: Callable[[str], object], piece: str) -> bool:
    """Whether four times the text costs far more than four times as much, and twice the text more than twice."""
    size = LEAST
    while (once := seconds(work, piece, size)) < ENOUGH_SECONDS and size < LARGEST:
        size *= 2
    once = max(once, ENOUGH_SECONDS / 4)
    return seconds(work, piece, 4 * size) > MOST * once and seconds(work, piece, 2 * size) > MOST / 4 * once


@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.hard("large")
def test_four_times_the_text_costs_about_four_times_as_much(surface: str) -> None:
    work = SURFACES[surface]
    assert not [kind for kind, piece in KINDS.items() if all(too_much(work, piece) for _ in range(TRIES))]


def test_a_memory_of_long_texts_is_no_exception(memory: AdaptiveMemory) -> None:
    alice, policy = memory.for_user("alice"), Policy(channels=("dense", "lexical"))

    def remembered_and_recalled(text: str) -> None:
        alice.remember(text, id="long")
        alice.recall(text[:1_000], policy=policy).render()

    for kind in ("words", "han", "accents", "dates"):
        assert not all(too_much(remembered_and_recalled, KINDS[kind]) for _ in range(TRIES)), kind
