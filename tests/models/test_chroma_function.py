"""Whose embedder is used when the user names none: the collection's own, or an error, but never one nobody chose."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import chromadb
import httpx
import numpy as np
import pytest
from chromadb.api.types import DefaultEmbeddingFunction, EmbeddingFunction
from chromadb.utils.embedding_functions import known_embedding_functions, register_embedding_function
from chromadb.utils.embedding_functions.onnx_mini_lm_l6_v2 import ONNXMiniLM_L6_V2

from adaptive_memory_core.errors import EmbedderError
from adaptive_memory_core.models.embedder import as_embedder, of_collection

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


class Scaled(EmbeddingFunction[Any]):
    """Chroma can store this one, and build it again."""

    def __init__(self, scale: float = 1.0) -> None:
        self.scale = scale

    def __call__(self, input: Any) -> Any:  # noqa: A002 - Chroma's word
        return [[self.scale, float(len(text))] for text in input]

    @staticmethod
    def name() -> str:
        return "scaled_for_tests"

    def get_config(self) -> dict[str, Any]:
        return {"scale": self.scale}

    @staticmethod
    def build_from_config(config: dict[str, Any]) -> Scaled:
        return Scaled(**config)


class Unstorable(EmbeddingFunction[Any]):
    """Chroma cannot: it has no name and no configuration."""

    def __init__(self) -> None:
        pass

    def __call__(self, input: Any) -> Any:  # noqa: A002
        return [[7.0, float(len(text))] for text in input]


@pytest.fixture
def client(tmp_path: Path) -> Any:
    return chromadb.PersistentClient(str(tmp_path / "chroma"))


@pytest.fixture
def known() -> Iterator[None]:
    register_embedding_function(Scaled)  # type: ignore[no-untyped-call]
    yield
    known_embedding_functions.pop("scaled_for_tests", None)


@pytest.fixture
def no_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Chroma's cache is an empty folder, and its download goes to a closed port of this machine."""
    monkeypatch.setattr(ONNXMiniLM_L6_V2, "DOWNLOAD_PATH", tmp_path / "cache")
    monkeypatch.setattr(ONNXMiniLM_L6_V2, "MODEL_DOWNLOAD_URL", "http://127.0.0.1:9/onnx.tar.gz")
    return tmp_path / "cache"


@pytest.mark.usefixtures("known")
def test_the_stored_function_is_used_however_the_collection_was_opened(client: Any) -> None:
    created = client.create_collection("notes", embedding_function=Scaled(3.0))
    reopened = [client.get_collection("notes"), client.get_collection("notes", embedding_function=None)]
    for collection in [created, *reopened, client.get_or_create_collection("notes")]:
        embedder = of_collection(collection)
        assert embedder.embed_query("ab").tolist() == [3.0, 2.0]
        assert embedder.name == "scaled_for_tests"


def test_the_function_in_the_callers_hand_is_used_even_if_chroma_could_not_store_it(client: Any) -> None:
    client.create_collection("notes", embedding_function=Unstorable())
    collection = client.get_collection("notes", embedding_function=Unstorable())
    assert of_collection(collection).embed_query("ab").tolist() == [7.0, 2.0]


@pytest.mark.parametrize("made_with", [None, Unstorable()])
def test_chromas_default_never_stands_in_for_an_unknown_embedder(client: Any, made_with: Any) -> None:
    client.create_collection("notes", embedding_function=made_with)
    opened = [client.get_collection("notes"), client.get_collection("notes", embedding_function=None)]
    for collection in [*opened, client.get_or_create_collection("notes")]:
        with pytest.raises(EmbedderError, match=r"'notes' does not record its embedder.*embedder="):
            of_collection(collection)


def test_chroma_itself_would_have_put_its_default_there(client: Any, no_model: Path) -> None:
    """The trap we refuse: this is Chroma 1.5 on a collection of somebody's own vectors. If it stops, so may we."""
    client.create_collection("notes", embedding_function=None).add(ids=["a"], embeddings=[[1.0] * 384], documents=["a"])
    with pytest.raises(httpx.ConnectError):  # it was about to fetch all-MiniLM-L6-v2
        client.get_collection("notes").query(query_texts=["a"])


def test_a_function_that_cannot_be_built_here_is_named(client: Any) -> None:
    client.create_collection("notes", embedding_function=Scaled(3.0))
    known_embedding_functions.pop("scaled_for_tests")
    with pytest.raises(EmbedderError, match="'scaled_for_tests' of the collection 'notes' cannot be built") as caught:
        of_collection(client.get_collection("notes"))
    assert isinstance(caught.value.__cause__, ValueError)


def test_a_default_that_was_chosen_is_used_and_says_what_it_could_not_download(client: Any, no_model: Path) -> None:
    embedder = of_collection(client.create_collection("notes"))
    assert embedder.name == "default"
    with pytest.raises(EmbedderError, match=r"http://127\.0\.0\.1:9/onnx\.tar\.gz") as caught:
        embedder.embed_documents(["a"])
    for part in (str(no_model), "ConnectError", "LocalEmbedder", "[local]", "MiniLMEmbedder(), name=", "any callable"):
        assert part in str(caught.value)
    assert isinstance(caught.value.__cause__, httpx.ConnectError)
    with pytest.raises(EmbedderError, match="could not fetch"):
        embedder.embed_query("a")


@pytest.mark.parametrize("thing", [DefaultEmbeddingFunction, ONNXMiniLM_L6_V2])
def test_chromas_default_works_once_its_model_is_there(
    thing: Any, no_model: Path, tiny_minilm: Callable[..., Path], word_vectors: np.ndarray
) -> None:
    tiny_minilm(no_model / "onnx")
    for name in ("config.json", "special_tokens_map.json", "tokenizer_config.json", "vocab.txt"):
        (no_model / "onnx" / name).touch()
    embedder = as_embedder(thing())
    expected = word_vectors[2] / np.linalg.norm(word_vectors[2])
    np.testing.assert_allclose(embedder.embed_query("cat"), expected, atol=1e-6)
    np.testing.assert_allclose(embedder.embed_documents(["cat", "dog"])[0], expected, atol=1e-6)
