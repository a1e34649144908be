"""Are words of Chinese, Japanese, Korean and Thai found inside of what is written without spaces?"""

from __future__ import annotations

import pytest

from adaptive_memory_core.channels.words.words_of_text import character_pairs, script_runs, words


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        ("我的猫喜欢睡觉", "猫"),
        ("他住在北京市", "北京"),
        ("下周使用Kubernetes部署服务", "kubernetes"),
        ("部署到k8s-prod-1集群", "k8s-prod-1"),
        ("犬が昨日吠えた", "犬"),
        ("ラーメンを食べた", "ラーメン"),
        ("ｶﾞﾗｽの皿", "ガラス"),
        ("집에서 책을 읽었다", "책"),
        ("도서관에서 만나요", "도서관은"),
        ("ฉันแพ้ถั่วลิสง", "ถั่ว"),
        ("น้ำในแก้ว", "น้ำ"),
        ("ຂ້ອຍມັກກາເຟ", "ກາເຟ"),
        ("हिन्दी की किताब", "हिन्दी"),
        ("كتابٌ جديد", "كتابٌ"),
    ],
)
def test_what_is_asked_for_is_among_the_words_that_were_stored(stored: str, asked: str) -> None:
    assert set(words(asked)) & set(words(stored))


@pytest.mark.parametrize("text", ["什么是你的", "何ですか", "은 는 이 가", "ที่ไหน"])
def test_what_only_asks_says_nothing(text: str) -> None:
    assert words(text) == []


def test_scripts_are_parted_wherever_they_change() -> None:
    assert script_runs("abc") == [("abc", False)]
    assert "".join(part for part, _ in script_runs("把v2的文档OK发给Ana")) == "把v2的文档OK发给Ana"
    assert list(character_pairs("")) == []
