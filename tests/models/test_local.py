"""Are the directly read WordLlama files the same embedder as the package they come in?"""

from __future__ import annotations

import importlib
import logging
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from adaptive_memory_core.errors import EmbedderError, MissingExtraError
from adaptive_memory_core.models import local
from adaptive_memory_core.models.embedder import as_embedder
from adaptive_memory_core.models.extras import folder_of, tensors
from adaptive_memory_core.models.local import LocalEmbedder

TEXTS = [
    "a",
    "What database does Alice like?",
    "PostgreSQL, since the migration of 2024-03-01; before that MySQL.",
    "日本語のテキスト、そして émigré naïve 🙂",
    "\n\t \x00",
    "def f(x): return x ** 2",
    "long " * 3000,
]


@pytest.fixture
def root_logger() -> Iterator[None]:
    """Importing wordllama configures the root logger; this puts it back."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:], root.level = handlers, level


@pytest.mark.usefixtures("root_logger")
def test_the_vectors_are_those_of_the_package() -> None:
    wordllama = importlib.import_module("wordllama")

    folder = Path(str(wordllama.__file__)).parent
    reference = wordllama.WordLlama.load(cache_dir=folder, disable_download=True)
    ours = LocalEmbedder()(TEXTS * 80)
    theirs = reference.embed(TEXTS * 80, norm=True, batch_size=1)
    assert np.abs(ours - theirs).max() < 1e-6


def test_vectors_are_unit_float32_and_alone_as_in_a_batch() -> None:
    embed = LocalEmbedder()
    together = embed(TEXTS)
    assert together.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1.0, atol=1e-6)
    assert np.array_equal(together, np.concatenate([embed([text]) for text in TEXTS]))


def test_an_empty_text_is_near_nothing() -> None:
    vectors = LocalEmbedder()(["", *TEXTS[1:4]])
    assert np.isfinite(vectors).all()
    assert (vectors[1:] @ vectors[0] < 0.3).all()


def test_it_declares_what_it_is() -> None:
    embedder = as_embedder(LocalEmbedder())
    assert (embedder.name, embedder.dimension) == ("wordllama-l2-supercat-256", 256)
    assert embedder.embed_query("hello").shape == (256,)
    assert embedder.embed_documents([]).shape == (0, 256)


def test_threads_share_one_set_of_weights() -> None:
    local._load.cache_clear()
    with ThreadPoolExecutor(8) as pool:
        seen = list(pool.map(lambda _: local._loaded()[1], range(8)))
    assert all(table is seen[0] for table in seen)


def test_a_memory_with_it_works_without_onnxruntime_and_kubernetes(tmp_path: Path) -> None:
    """docs/guides/deployment.md says how to leave them out, though Chroma requires them. wordllama is not imported."""
    code = (
        "sys.modules.update(dict.fromkeys(['onnxruntime', 'kubernetes']));"
        "from adaptive_memory_core import AdaptiveMemory; memory = AdaptiveMemory.open('memory');"
        "ana = memory.for_user('ana'); ana.remember('Ana prefers tea.'); recall = ana.recall('Which drink?');"
        "assert 'wordllama' not in sys.modules;"
        "print(recall.ids == recall.ids[:1] != (), ana.feedback(recall, helpful=recall.ids)); memory.close()"
    )
    start = f"import sys; sys.path[:] = {sys.path!r}; {code}"
    assert subprocess.check_output([sys.executable, "-c", start], cwd=tmp_path, text=True) == "True 1\n"


@pytest.mark.parametrize("package", ["wordllama", "safetensors", "tokenizers"])
def test_without_its_packages_it_names_the_extra_and_the_alternatives(
    package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=rf"{package} is not installed.*\[local\].*MiniLMEmbedder.*callable"):
        LocalEmbedder()


def test_other_weights_are_refused(tmp_path: Path) -> None:
    folder = folder_of("wordllama")
    assert folder is not None
    original = next(folder.rglob("l2_supercat_256.safetensors"))
    changed = bytearray(original.read_bytes())
    changed[-1] ^= 1
    (tmp_path / original.name).write_bytes(changed)
    with pytest.raises(EmbedderError, match=r"l2_supercat_256.safetensors has the sha256 .*Allowed is only 64b47a2d"):
        tensors(tmp_path / original.name, sha256=local.SHA256)
