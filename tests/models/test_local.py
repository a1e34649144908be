"""Are the WordLlama files that are read here the same embedder as their package, and is a real tokenizer used?"""

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

from adaptive_memory_core import InvalidInputError, token_counter
from adaptive_memory_core.context.clean import estimated_tokens
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
    with pytest.raises(EmbedderError, match=r"l2_supercat_256.safetensors has the sha256 .*Only 64b47a2d"):
        tensors(tmp_path / original.name, sha256=local.SHA256)


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
