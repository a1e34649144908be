"""Is a real tokenizer used where one is at hand, and is the network left alone where none is?"""

from __future__ import annotations

from pathlib import Path

import pytest

from adaptive_memory_core import InvalidInputError, token_counter
from adaptive_memory_core.context.clean import estimated_tokens

UNSPACED = (
    "我去年在杭州买了一套小公寓。离西湖只有十分钟的路程。周末的时候我常常去湖边跑步。然后在附近的茶馆喝一杯龙井茶。",
    "昨年の秋に京都へ旅行に行きました。紅葉がとても美しくて、清水寺で写真をたくさん撮りました。",
    "지난주에 부산에서 친구를 만났습니다. 우리는 해운대에서 회를 먹고 바닷가를 산책했습니다.",
    "في العام الماضي سافرت إلى القاهرة مع أخي. أقمنا في فندق صغير قرب النيل وشربنا الشاي كل مساء.",
)
ENGLISH = (
    "Alice prefers PostgreSQL for new services, and she told the team so in the review last week. "
    "Her sister moved to Berlin in May; they talk every Sunday."
)


@pytest.fixture
def no_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    return tmp_path


def test_the_bundled_tokenizer_counts(no_cache: Path) -> None:
    count = token_counter("bundled")
    assert count("") == 0
    assert count("tea") < count("tea and cake")
    assert count("\ud800") >= 1
    assert token_counter()(ENGLISH) == count(ENGLISH)


def test_the_estimate_is_as_far_off_as_it_says() -> None:
    assert 0.75 < estimated_tokens(ENGLISH) / token_counter("bundled")(ENGLISH) < 1.15


def test_a_vocabulary_that_is_not_here_is_refused_and_not_fetched(no_cache: Path) -> None:
    with pytest.raises(InvalidInputError, match="TIKTOKEN_CACHE_DIR"):
        token_counter("o200k_base")
    assert list(no_cache.iterdir()) == []


def test_a_damaged_vocabulary_is_no_vocabulary_and_stays_where_it_is(no_cache: Path) -> None:
    damaged = no_cache / "9b5ad71b2ce5302211f9c61530b329a4922fc6a4"  # where tiktoken keeps cl100k_base
    damaged.write_bytes(b"not it")
    with pytest.raises(InvalidInputError, match="not on this machine"):
        token_counter("cl100k_base")
    assert damaged.read_bytes() == b"not it"


def test_the_cache_that_llama_index_brings_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    core = pytest.importorskip("llama_index.core")
    folder = Path(core.__file__).parent / "_static" / "tiktoken_cache"
    if not (folder / "9b5ad71b2ce5302211f9c61530b329a4922fc6a4").exists():
        pytest.skip("this version brings none")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(folder))
    count = token_counter("cl100k_base")
    assert count("tea and cake") == 3
    assert count("<|endoftext|>") > 1  # text like any other
    assert 0.95 < estimated_tokens(ENGLISH) / count(ENGLISH) < 1.25
    for text in UNSPACED:
        assert 0.95 < estimated_tokens(text) / count(text) < 1.4


def test_an_unknown_tokenizer_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="o200k_base"):
        token_counter("gpt")
