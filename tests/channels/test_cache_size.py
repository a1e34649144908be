"""How much of what was looked for stays in RAM? A few megabytes, whatever was looked for."""

from __future__ import annotations

import gc
import random
import tracemalloc
from collections.abc import Iterator

import pytest

from adaptive_memory_core.channels.words_of_text import words
from adaptive_memory_core.score.select import overlap
from adaptive_memory_core.store.words.frozen_lists import digest_of

LONG = 20_000


def of_letters(letters: str, count: int, size: int, joint: str = "") -> Iterator[str]:
    rng = random.Random(5)
    for _ in range(count):
        yield joint.join(rng.choices(letters, k=size))


HAN = "".join(map(chr, range(0x4E00, 0x6E00)))


@pytest.mark.parametrize(
    ("texts", "most"),
    [
        pytest.param(list(of_letters(HAN, 8, LONG)), 2_000_000, marks=pytest.mark.hard("large")),
        (list(of_letters("abcdefghijklmnopqrstuvwxyz", 8, LONG)), 2_000_000),
        pytest.param(list(of_letters("abcdefghij_", 8, LONG // 2, "_")), 2_000_000, marks=pytest.mark.hard("large")),
        pytest.param(list(of_letters("abcdefghijklm   ", 4, LONG)), 20_000_000, marks=pytest.mark.hard("large")),
    ],
    ids=["han", "one word", "parts", "words"],
)
def test_long_cues_leave_little_behind(texts: list[str], most: int) -> None:
    gc.collect()
    tracemalloc.start()
    try:
        for text in texts:
            words(text)
            overlap(text, text[1:])
        gc.collect()
        kept = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert kept < most


def test_digests_are_kept_of_so_many_words_only() -> None:
    kept = digest_of.cache_info().maxsize
    assert kept is not None
    assert kept * 500 <= 50_000_000  # bytes of an entry with a word of the longest kind, times their number
