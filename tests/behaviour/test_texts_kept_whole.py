"""Is every text and every id kept whole, however long it is and whatever its characters?"""

from __future__ import annotations

import unicodedata

import pytest

from adaptive_memory_core import AdaptiveMemory, UserMemory
from tests.behaviour.refused_input import alice

__all__ = ["alice"]  # fixtures


def test_a_megabyte_of_text_is_kept_whole(alice: UserMemory) -> None:
    text = "tea and cake " * 80_000
    assert len(text) > 1_000_000
    alice.remember(text, id="large")
    assert alice.get("large").text == text
    answer = alice.recall("tea and cake", k=1)
    assert answer[0].id == "large"
    assert len(answer.explain()) < 2_000


PLANES = [chr(plane * 0x10000 + offset) for plane in range(17) for offset in (0x20, 0x1F31, 0xFFFF)]
CONTROLS = [chr(code) for code in range(0xA0) if unicodedata.category(chr(code)) == "Cc"]


def test_every_plane_of_unicode_and_every_control_character_is_kept(alice: UserMemory) -> None:
    texts = [f"tea {one} cake" for one in (*PLANES, *CONTROLS, "\ufeff", "\u202e", "e\u0301")]
    ids = alice.remember_many({"text": text, "id": f"id{text}", "metadata": {f"key{text}": text}} for text in texts)
    for one, text in zip(ids, texts, strict=True):
        record = alice.get(one)
        assert (record.id, record.text, record.metadata) == (f"id{text}", text, {f"key{text}": text})
    answer = alice.recall(f"tea {PLANES[-1]} cake", k=200)
    assert answer.explain()
    assert answer.render()
    assert len(answer.render().split("\n")) == len(answer) + 1


@pytest.mark.parametrize("character", [*CONTROLS, "\u2028"], ids=ascii)
def test_an_id_of_control_characters_can_be_forgotten(memory: AdaptiveMemory, character: str) -> None:
    alice, one = memory.for_user("alice"), f"id{character}x"
    alice.remember("tea", id=one)
    alice.recall("tea")
    receipt = alice.forget(one)
    assert (receipt.collection, receipt.ledger, receipt.log_entries) == (True, True, 1)
    assert alice.recalls()[0].candidates == ()
