"""Is each text embedded once, whatever was broken off before?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from adaptive_memory_core.errors import EmbedderError
from adaptive_memory_core.models.embedder import Embedder
from benchmarks.kept_vectors import AT_ONCE, KeptVectors


class Slow:
    """The length of each text, and which texts were asked for; it fails from the given one on."""

    def __init__(self, fails_at: str | None = None) -> None:
        self.asked: list[str] = []
        self.fails_at = fails_at

    def __call__(self, texts: Sequence[str]) -> list[list[float]]:
        if self.fails_at in texts:
            raise RuntimeError("switched off")
        self.asked += texts
        return [[float(len(text)), 1.0] for text in texts]

    def kept(self, folder: Path) -> Embedder:
        return KeptVectors(Embedder("slow", self, lambda text: self([text])[0], 2), folder).as_embedder()


def test_what_was_embedded_before_a_run_was_broken_off_is_kept(tmp_path: Path) -> None:
    texts = ["x" * number for number in range(1, 3 * AT_ONCE)]
    first, second = Slow(fails_at=texts[2 * AT_ONCE]), Slow()
    with pytest.raises(EmbedderError):
        first.kept(tmp_path).embed_documents(texts)
    found = second.kept(tmp_path).embed_documents(texts)
    assert first.asked + second.asked == texts
    assert found[:, 0].tolist() == [float(len(text)) for text in texts]


def test_a_text_that_comes_again_and_a_question_are_embedded_once(tmp_path: Path) -> None:
    slow = Slow()
    embed = slow.kept(tmp_path)
    assert embed.embed_documents(["tea", "rice", "tea"])[:, 0].tolist() == [3.0, 4.0, 3.0]
    assert [embed.embed_query("rice").tolist() for _ in range(2)] == [[4.0, 1.0]] * 2
    assert slow.asked == [
        "tea",
        "rice",
        "rice",
    ]  # once as a text, and once as a question, which a model may embed differently
    assert embed.name == "slow"
