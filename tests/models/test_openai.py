"""Does the real client, against a server on this machine, keep order, batch, retry and report?"""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from adaptive_memory_core.errors import EmbedderError, InvalidInputError, MissingExtraError
from adaptive_memory_core.models.embedder import as_embedder
from adaptive_memory_core.models.openai import OpenAIEmbedder
from tests.models.chat_server import ModelServer, running


class FakeOpenAI(ModelServer):
    """Answers each text with [its number in the request, its length], in reverse order; or with what a test queued."""

    def __init__(self) -> None:
        super().__init__()
        self.failures: list[int] = []
        self.as_base64 = False
        self.lose = 0

    def answer(self, request: dict[str, Any]) -> tuple[int, bytes]:
        if self.failures:
            return self.failures.pop(0), json.dumps({"error": {"message": "said the server"}}).encode()
        data = [
            {"object": "embedding", "index": index, "embedding": self._vector([float(index), float(len(text))])}
            for index, text in enumerate(request["input"])
        ]
        reply = {"object": "list", "model": request["model"], "data": data[self.lose :][::-1], "usage": {}}
        return 200, json.dumps(reply).encode()

    def _vector(self, numbers: list[float]) -> Any:
        return base64.b64encode(np.array(numbers, dtype="<f4").tobytes()).decode() if self.as_base64 else numbers


@pytest.fixture
def server() -> Iterator[FakeOpenAI]:
    with running(FakeOpenAI()) as server:
        yield server


def test_texts_go_in_batches_and_vectors_come_back_in_order(server: FakeOpenAI) -> None:
    embedder = as_embedder(OpenAIEmbedder("m", api_key="secret", base_url=server.url, batch_size=2))
    vectors = embedder.embed_documents(["a", "bb", "ccc", "dddd", "eeeee"])
    assert vectors.tolist() == [[0, 1], [1, 2], [0, 3], [1, 4], [0, 5]]
    assert [request["input"] for request in server.requests] == [["a", "bb"], ["ccc", "dddd"], ["eeeee"]]
    assert {request["model"] for request in server.requests} == {"m"}
    assert {request["encoding_format"] for request in server.requests} == {"float"}
    assert "dimensions" not in server.requests[0]
    assert set(server.keys) == {"Bearer secret"}


def test_a_query_is_one_request(server: FakeOpenAI) -> None:
    embedder = as_embedder(OpenAIEmbedder("m", api_key="k", base_url=server.url))
    assert embedder.embed_query("four").tolist() == [0.0, 4.0]
    assert len(server.requests) == 1


def test_dimensions_are_asked_for_named_and_held(server: FakeOpenAI) -> None:
    embedder = as_embedder(OpenAIEmbedder("m", dimensions=2, api_key="k", base_url=server.url))
    embedder.embed_query("a")
    assert server.requests[0]["dimensions"] == 2
    assert (embedder.name, embedder.dimension) == ("openai:m:2", 2)
    with pytest.raises(EmbedderError, match="dimension 2, not 3"):
        as_embedder(OpenAIEmbedder("m", dimensions=3, api_key="k", base_url=server.url)).embed_query("a")


def test_a_server_that_answers_in_base64_is_understood(server: FakeOpenAI) -> None:
    server.as_base64 = True
    vectors = OpenAIEmbedder("m", api_key="k", base_url=server.url)(["a", "bb"])
    assert vectors.tolist() == [[0, 1], [1, 2]]


def test_what_can_be_retried_is_retried(server: FakeOpenAI) -> None:
    server.failures = [500, 429]
    assert OpenAIEmbedder("m", api_key="k", base_url=server.url)(["a"]).tolist() == [[0, 1]]
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("status", "kind"), [(401, "AuthenticationError"), (404, "NotFoundError"), (400, "BadRequest")]
)
def test_what_cannot_be_retried_says_why_at_once(server: FakeOpenAI, status: int, kind: str) -> None:
    server.failures = [status]
    with pytest.raises(
        EmbedderError, match=rf"openai:m failed on 1 texts with {kind}.*said the server.*Check"
    ) as caught:
        as_embedder(OpenAIEmbedder("m", api_key="very-secret", base_url=server.url)).embed_query("a")
    assert len(server.requests) == 1
    assert "very-secret" not in str(caught.value)
    assert caught.value.__cause__ is not None


def test_retries_end(server: FakeOpenAI) -> None:
    server.failures = [500] * 9
    with pytest.raises(EmbedderError, match="InternalServerError"):
        OpenAIEmbedder("m", api_key="k", base_url=server.url, max_retries=1)(["a"])
    assert len(server.requests) == 2


def test_no_server_is_an_embedder_error() -> None:
    with pytest.raises(EmbedderError, match="APIConnectionError"):
        OpenAIEmbedder("m", api_key="k", base_url="http://127.0.0.1:9/v1", max_retries=0)(["a"])


def test_a_vector_too_few_is_noticed(server: FakeOpenAI) -> None:
    server.lose = 1
    with pytest.raises(EmbedderError, match="returned 1 vectors for 2 texts"):
        OpenAIEmbedder("m", api_key="k", base_url=server.url)(["a", "b"])


def test_a_client_of_ones_own_is_used(server: FakeOpenAI) -> None:
    import openai

    client = openai.OpenAI(api_key="own", base_url=server.url)
    OpenAIEmbedder("m", client=client)(["a"])
    assert server.keys == ["Bearer own"]


def test_without_a_key_it_says_where_to_put_one(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY"):
        monkeypatch.delenv(variable, raising=False)
    with pytest.raises(EmbedderError, match="Set OPENAI_API_KEY"):
        OpenAIEmbedder()


def test_without_the_package_it_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(MissingExtraError, match=r"\[openai\]"):
        OpenAIEmbedder(api_key="k")


@pytest.mark.parametrize("size", [0, -1, 2049])
def test_a_batch_size_the_protocol_does_not_have_is_refused(size: int) -> None:
    with pytest.raises(InvalidInputError, match=r"Allowed: 1 to 2048"):
        OpenAIEmbedder(api_key="k", batch_size=size)
