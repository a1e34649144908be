"""Does a question for a month, a quarter or the time before find what was then, and not what was shortly after?"""

from __future__ import annotations

from datetime import datetime, timezone

import pytest

from adaptive_memory_core import LocalEmbedder, UserMemory
from tests.conftest import Clock, Open

DIARY = (
    "Ana started a pottery class.",
    "Ana flew to Lisbon with Tom.",
    "Ana sold her old Vespa.",
    "Ana began a new job at the museum.",
    "Ana ran a half marathon in Graz.",
    "Ana painted the balcony green.",
    "Ana camped at lake Bohinj for a week.",
    "Ana adopted a cat called Miso.",
    "Ana broke her left wrist.",
    "Ana won a chess tournament.",
    "Ana moved into a new flat.",
)
MONTHS = "January February March April May June July August September October November".split()  # noqa: SIM905


@pytest.fixture
def ana(open_memory: Open) -> UserMemory:
    now = datetime(2026, 11, 23, 12, tzinfo=timezone.utc).timestamp()
    user = open_memory(embedder=LocalEmbedder(), clock=Clock(now)).for_user("ana")
    user.remember_many(
        {"id": name, "text": text, "created_at": datetime(2026, number, 12, 9, tzinfo=timezone.utc)}
        for number, (name, text) in enumerate(zip(MONTHS, DIARY, strict=True), start=1)
    )
    return user


def test_every_month_is_answered_with_its_own_entry(ana: UserMemory) -> None:
    asked = [ana.recall(f"what did Ana do in {month}?", k=1, reinforce=False).ids for month in MONTHS]
    assert asked == [(month,) for month in MONTHS]


@pytest.mark.parametrize(
    ("question", "months"),
    [
        ("what did Ana do last month?", {"October"}),
        ("what did Ana do in Q1?", {"January", "February", "March"}),
        ("what did Ana do before March?", {"January", "February"}),
        ("What has Ana been up to this month?", {"November"}),
    ],
)
def test_what_was_then_comes_before_what_was_soon_after(ana: UserMemory, question: str, months: set[str]) -> None:
    assert set(ana.recall(question, k=len(months), reinforce=False).ids) == months
