"""Can a stored text or a cue break anything? Whatever they say, recalls answer and are shown."""

from __future__ import annotations

from datetime import timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive_memory_core import AdaptiveMemory, Cue, Policy, Recall, Record, Scored, UserMemory
from adaptive_memory_core.context.clean import estimated_tokens, extract
from adaptive_memory_core.context.entries import age, resolved
from adaptive_memory_core.context.render import render
from adaptive_memory_core.context.styles import STYLES
from adaptive_memory_core.cue.time.english import English
from adaptive_memory_core.policy import Advanced
from adaptive_memory_core.records import Hit, Scope
from tests.behaviour.time_phrases import texts
from tests.suites import at_most

ZONES = (timezone.utc, timezone(timedelta(hours=14)), ZoneInfo("America/New_York"))
MOMENTS = (1.68e9, 0.0, -2.7e10, 3.2e10, 1e300)  # now, the epoch, the year 1114, the year 2984, beyond any year
SEVERAL = 60


def show(recall: Recall) -> None:
    """Every way to see a recall."""
    assert recall.explain()
    for style in STYLES:
        shown: Any = recall.render(style=style, ids=True)  # type: ignore[call-overload]
        assert bool(shown) == bool(recall)
        recall.render(max_tokens=60, style=style, resolve=False)  # type: ignore[call-overload]


@pytest.mark.parametrize(
    "said",
    [
        "The rock formed 999 decades ago.",
        "In 999 decades it is gone.",
        "over the last 999 decades",
        "\u017fix weeks ago",
    ],
)
def test_a_number_or_letter_that_no_calendar_knows_costs_no_prompt(alice: UserMemory, said: str) -> None:
    alice.remember(said)
    show(alice.recall("the rock"))
    assert said in alice.recall(said).render()


def test_no_phrase_about_time_breaks_what_is_made_of_it() -> None:
    english = [English(zone, day_first) for zone in ZONES for day_first in (False, True)]
    for number, said in enumerate(texts(3_000)):
        zone, moment = ZONES[number % len(ZONES)], MOMENTS[number % len(MOMENTS)]
        shown = resolved(said, moment, zone)
        assert len(shown) >= len(said)
        for sign in english[number % len(english)](said, moment):
            assert sign.window is not None or sign.lean is not None


def test_recalls_of_odd_texts_by_odd_cues_can_all_be_seen(memory: AdaptiveMemory) -> None:
    alice, said = memory.for_user("alice"), texts(2 * SEVERAL, seed=3)
    odd = [
        "\u202e\u0000\x1b[31m",
        "```\n# now",
        "\uff49\uff44\uff09 (id 3)",
        "\u3000\ufeff.",
        "e\u0301" * 300,
        "\U0001f9d1\u200d\U0001f680",
    ]
    metadata = [
        {"speaker": one[:40], "session": one[:9], "seq": number, "source": one} for number, one in enumerate(said)
    ]
    times = [MOMENTS[number % 4] for number in range(len(said))]
    alice.remember_many(
        {"text": text, "created_at": time, "metadata": more, "kind": text[:20] or "event"}
        for text, time, more in zip([*said[:SEVERAL], *odd], times, metadata, strict=False)
    )
    policy = Policy(
        channels=("dense", "lexical"),
        advanced=Advanced(neighbours=True, same_share=0.8, unrelated_answered=0.0),
        time_words="rank",
    )
    for number, cue in enumerate([*said[SEVERAL:], *odd]):
        asked = Cue(cue, words=f"{cue} {said[number % SEVERAL]}")
        found = alice.recall(asked, policy=policy, reinforce=not number % 3, now=MOMENTS[number % 4])
        assert not any("failed" in note or "not understood" in note for note in found.trace)
        show(found)


@at_most(150)
@given(
    said=st.text(max_size=200),
    name=st.text(max_size=30),
    when=st.none() | st.floats(allow_nan=True),
    now=st.none() | st.floats(allow_nan=False),
    room=st.none() | st.integers(1, 200),
)
def test_any_text_any_name_and_any_time_can_be_rendered(
    said: str, name: str, when: float | None, now: float | None, room: int | None
) -> None:
    metadata = {"speaker": name, "session": "s", "source": name, "confidence": 0.5}
    records = [Record(f"{name}{n}", said, kind=name, created_at=when, metadata=metadata) for n in range(3)]
    hits = [Scored(Hit(one, 0.5, one.id, shared=name or None), 0.5, {}, {}) for one in records]
    for style in STYLES:
        render(hits, style=style, now=now, ids=True, max_tokens=room)
    assert Recall("r", Scope("u"), Cue(said), 3, 0.0, Policy(), tuple(hits)).explain()
    extract([said, name], 40, estimated_tokens)


def test_an_age_of_no_number_is_unknown() -> None:
    assert age(float("inf"), now=0.0) == age(float("nan"), now=0.0) == "at a time unknown"
