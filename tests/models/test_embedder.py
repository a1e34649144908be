"""Does every kind of embedder, of functions, Chroma and frameworks, come out as the same checked thing?"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from chromadb.api.types import EmbeddingFunction
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from llama_index.core.base.embeddings.base import BaseEmbedding

from adaptive_memory_core import AdaptiveMemory
from adaptive_memory_core.errors import EmbedderError, InvalidInputError, MissingExtraError
from adaptive_memory_core.models.embedder import Embedder, as_embedder
from langchain_adaptive_memory import AdaptiveMemoryRetriever
from tests.conftest import Open, word_vectors


def lengths(texts: list[str]) -> list[list[float]]:
    return [[float(len(text)), 1.0] for text in texts]


class Registered(EmbeddingFunction[Any]):
    """A Chroma function that tells queries from documents."""

    def __init__(self) -> None:
        self.model_name = "small"

    def __call__(self, input: Any) -> Any:  # noqa: A002 - Chroma's word
        return [[float(len(text)), 0.0] for text in input]

    def embed_query(self, input: Any) -> Any:  # noqa: A002
        return [[float(len(text)), 9.0] for text in input]

    @staticmethod
    def name() -> str:
        return "registered"


class Nameless(EmbeddingFunction[Any]):
    def __call__(self, input: Any) -> Any:  # noqa: A002
        return [[1.0] for _ in input]


@pytest.mark.parametrize("kind", [list, tuple, np.array, lambda rows: np.array(rows, dtype=np.float64), iter])
def test_lists_tuples_and_arrays_become_float32(kind: Any) -> None:
    embedder = as_embedder(lambda texts: kind(lengths(texts)))
    if kind is iter:
        with pytest.raises(EmbedderError, match="not an array of numbers"):
            embedder.embed_documents(["a"])
        return
    vectors = embedder.embed_documents(("a", "bcd"))
    assert vectors.dtype == np.float32
    assert vectors.tolist() == [[1.0, 1.0], [3.0, 1.0]]
    assert embedder.embed_query("ab").tolist() == [2.0, 1.0]


def test_a_list_of_arrays_is_as_good_as_an_array() -> None:
    assert as_embedder(lambda texts: [np.ones(3) for _ in texts]).embed_documents(["a", "b"]).shape == (2, 3)


def test_chromas_functions_embed_queries_their_own_way() -> None:
    embedder = as_embedder(Registered())
    assert embedder.embed_documents(["abc"]).tolist() == [[3.0, 0.0]]
    assert embedder.embed_query("abc").tolist() == [3.0, 9.0]


def test_a_query_method_that_takes_the_text_is_called_with_the_text() -> None:
    class Bridge:
        def __call__(self, texts: list[str]) -> Any:
            return lengths(texts)

        def embed_query(self, query: str) -> list[float]:
            return [float(len(query)), 5.0]

    assert as_embedder(Bridge()).embed_query("abc").tolist() == [3.0, 5.0]


def test_an_embedder_is_returned_as_it_is() -> None:
    embedder = as_embedder(lengths)
    assert as_embedder(embedder) is embedder


def test_a_given_name_counts_more_than_its_own() -> None:
    first = as_embedder(Registered(), name="one")
    assert (first.name, as_embedder(first, name="two").name) == ("one", "two")
    assert as_embedder(first, name="two").embed_query("abc").tolist() == [3.0, 9.0]


def test_names() -> None:
    class Named:
        name = "mine"

        def __call__(self, texts: list[str]) -> Any:
            return lengths(texts)

    assert as_embedder(Named()).name == "mine"
    assert as_embedder(lengths).name == "lengths"
    assert as_embedder(functools.partial(lengths)).name == "lengths"
    assert as_embedder(Registered()).name == "registered:small"


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_chroma_function_without_a_name_goes_by_its_class() -> None:
    assert as_embedder(Nameless()).name == "Nameless"


def test_a_name_that_raises_falls_back_to_the_class() -> None:
    class Shy:
        def name(self) -> str:
            raise NotImplementedError

        def __call__(self, texts: list[str]) -> Any:
            return lengths(texts)

    assert as_embedder(Shy()).name.endswith("Shy")


def test_the_dimension_is_learned_and_then_held() -> None:
    width = [2]
    embedder = as_embedder(lambda texts: [[1.0] * width[0] for _ in texts])
    assert embedder.dimension is None
    embedder.embed_query("a")
    assert embedder.dimension == 2
    width[0] = 3
    with pytest.raises(EmbedderError, match="dimension 3, not 2"):
        embedder.embed_documents(["a"])


def test_a_declared_dimension_is_held_from_the_first_call() -> None:
    with pytest.raises(EmbedderError, match="dimension 2, not 3"):
        Embedder("short", lengths, lambda text: [1.0], dimension=3).embed_documents(["a"])


def test_no_texts_make_no_call() -> None:
    def refuse(_: Any) -> Any:
        raise AssertionError

    assert as_embedder(refuse).embed_documents([]).shape == (0, 0)
    assert Embedder("known", refuse, refuse, dimension=3).embed_documents([]).shape == (0, 3)


def test_what_the_embedder_raises_is_wrapped_with_its_cause() -> None:
    def fail(texts: list[str]) -> Any:
        raise KeyError("weights")

    with pytest.raises(EmbedderError, match=r"'.*fail' failed on 2 texts with KeyError.*Allowed.*embedder=") as caught:
        as_embedder(fail).embed_documents(["a", "b"])
    assert isinstance(caught.value.__cause__, KeyError)
    with pytest.raises(EmbedderError, match="failed on a query"):
        as_embedder(fail).embed_query("a")


def test_our_own_errors_pass_unchanged() -> None:
    error = MissingExtraError.of("openai", "openai")

    def fail(texts: list[str]) -> Any:
        raise error

    with pytest.raises(MissingExtraError) as caught:
        as_embedder(fail).embed_query("a")
    assert caught.value is error


@pytest.mark.parametrize("wrong", [None, 3, "all-MiniLM-L6-v2", Registered])
def test_what_cannot_embed_is_refused_at_once(wrong: Any) -> None:
    with pytest.raises(InvalidInputError, match="Allowed"):
        as_embedder(wrong)


finite = st.floats(width=32, allow_nan=False, allow_infinity=False)


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ([], "0 vectors"),
        ([[1.0], [2.0]], "2 vectors"),
        ([[]], "shape"),
        ([1.0], "shape"),
        ([[[1.0]]], "shape"),
        ([[math.inf]], "infinity"),
        ([[1e300]], "infinity"),
        ([["a"]], "not an array of numbers"),
        ([None], "shape"),
        (None, "failed on a query"),
        ({"a": 1, "b": 2}, "2 vectors"),
    ],
)
def test_a_query_gets_one_finite_vector_or_an_error(wrong: Any, why: str) -> None:
    with pytest.raises(EmbedderError, match=why):
        as_embedder(lambda texts: wrong).embed_query("a")


@pytest.mark.parametrize("wrong", [None, 3, "text", [1.0, 2.0], {"a": 1}, [[1.0]], [[1.0], [None]], [[1.0], [1j]]])
def test_two_texts_get_two_vectors_or_an_error(wrong: Any) -> None:
    with pytest.raises(EmbedderError, match="Allowed"):
        as_embedder(lambda texts: wrong).embed_documents(["a", "b"])


def rectangles(element: st.SearchStrategy[float]) -> st.SearchStrategy[list[list[float]]]:
    return st.integers(1, 5).flatmap(
        lambda width: st.lists(st.lists(element, min_size=width, max_size=width), min_size=1)
    )


@given(rectangles(finite), st.sampled_from([list, tuple, np.array]))
def test_any_finite_rectangle_is_accepted(rows: list[list[float]], kind: Any) -> None:
    vectors = as_embedder(lambda texts: kind(rows)).embed_documents(["x"] * len(rows))
    assert vectors.tolist() == rows


@given(rectangles(finite), st.integers(0, 8))
def test_any_other_number_of_vectors_is_refused(rows: list[list[float]], count: int) -> None:
    texts = ["x"] * (count if count != len(rows) else count + 1)
    if texts:
        with pytest.raises(EmbedderError):
            as_embedder(lambda _: rows).embed_documents(texts)


@given(rectangles(finite), st.data())
def test_a_single_broken_number_is_refused(rows: list[list[float]], data: st.DataObject) -> None:
    row = data.draw(st.integers(0, len(rows) - 1))
    column = data.draw(st.integers(0, len(rows[row]) - 1))
    rows[row][column] = data.draw(st.sampled_from([math.nan, math.inf, -math.inf]))
    with pytest.raises(EmbedderError, match=f"1 of {len(rows)} vectors .the first is number {row}"):
        as_embedder(lambda _: rows).embed_documents(["x"] * len(rows))


@given(st.lists(st.lists(finite, max_size=4), min_size=2, max_size=6).filter(lambda rows: len({*map(len, rows)}) > 1))
def test_ragged_vectors_are_refused(rows: Sequence[Sequence[float]]) -> None:
    with pytest.raises(EmbedderError):
        as_embedder(lambda _: rows).embed_documents(["x"] * len(rows))


class OfLangChain(Embeddings):
    """As langchain_openai's: a model's name, and nothing else that is special."""

    model = "words-1"

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        vectors: list[list[float]] = word_vectors(texts).tolist()
        return vectors

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]


class OnlyAsync(OfLangChain):
    """One whose blocking calls an async program must not make."""

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        return super().embed_documents(texts)

    async def aembed_query(self, text: str) -> list[float]:
        return super().embed_documents([text])[0]

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        raise AssertionError("the blocking call")


class OfLlamaIndex(BaseEmbedding):
    """As llama_index's: callable, though not with texts."""

    def _get_query_embedding(self, query: str) -> list[float]:
        vector: list[float] = word_vectors([query])[0].tolist()
        return vector

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_query_embedding(text)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_query_embedding(query)


MODELS: list[Any] = [OfLangChain, lambda: OfLlamaIndex(model_name="words-1")]


@pytest.mark.parametrize("model", MODELS)
def test_a_framework_s_model_opens_a_memory(tmp_path: Path, model: Any) -> None:
    for _ in range(2):  # and opens it again
        with AdaptiveMemory.open(tmp_path / "memory", embedder=model()) as memory:
            ana = memory.for_user("ana")
            ana.remember_many(["green tea", "red car"])
            assert ana.recall("green tea", k=1)[0].text == "green tea"
            assert memory.embedder_name.endswith(":words-1")


@pytest.mark.parametrize("model", MODELS)
def test_a_framework_s_model_serves_a_collection(over: Open, model: Any) -> None:
    memory = over(embedder=model())
    memory.for_everyone().remember("green tea")
    assert memory.for_everyone().recall("tea")[0].text == "green tea"


def test_a_class_is_no_model() -> None:
    for kind in (OfLangChain, OfLlamaIndex):
        with pytest.raises(ValueError, match="not an instance"):
            as_embedder(kind)


async def test_an_async_program_awaits_the_models_own_coroutines(over: Open) -> None:
    memory = over(embedder=OnlyAsync())
    ana = memory.for_user("ana")
    assert len(await ana.aremember_many(["green tea", "red car"])) == 2
    assert (await ana.arecall("green tea", k=1))[0].text == "green tea"
    retriever = AdaptiveMemoryRetriever(memory=memory, user_id="ana", k=1)
    assert await retriever.aadd_documents([Document("cold milk", id="milk")]) == ["milk"]
    assert [one.id for one in await retriever.ainvoke("cold milk")] == ["milk"]
    with pytest.raises(EmbedderError, match="the blocking call"):
        ana.remember("white snow")


async def test_a_coroutine_that_fails_is_an_error_of_ours_and_writes_nothing(over: Open) -> None:
    class Failing(OfLangChain):
        async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
            raise ConnectionError("no route")

    memory = over(embedder=Failing())
    with pytest.raises(EmbedderError, match="no route"):
        await memory.for_user("ana").aremember("tea")
    assert memory.for_user("ana").stats().records == 0
