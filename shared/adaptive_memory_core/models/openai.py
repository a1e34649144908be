"""Models of OpenAI or any OpenAI-compatible server: embedder, chat model, reader and reranker."""

from __future__ import annotations

import base64
import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from adaptive_memory_core.errors import AdaptiveMemoryError, EmbedderError, InvalidInputError, JudgeError, RerankerError
from adaptive_memory_core.models.chat import prompt_json
from adaptive_memory_core.models.embedder import Vectors
from adaptive_memory_core.models.extras import load, require
from adaptive_memory_core.models.judges import LONGEST_RATED, ChatReranker, prompt

MAX_BATCH_TEXTS = 2048  # the protocol's own limit for one request
MAX_BATCH_CHARACTERS = 250_000  # OpenAI refuses requests above 300,000 tokens; a token is seldom less than a character


class OpenAIEmbedder:
    """Maps texts to a hosted model's vectors, in batches and in order; the client retries if possible.

    Without `client`, `api_key` and `base_url` are those of the `openai` package, including its environment variables.
    `dimensions` requests shorter vectors and is part of the name, since vectors of different lengths are not compared.

    >>> OpenAIEmbedder(api_key="sk-...", dimensions=512).name
    'openai:text-embedding-3-small:512'
    """

    def __init__(
        self,
        model: str = "text-embedding-3-small",
        *,
        dimensions: int | None = None,
        client: Any = None,
        api_key: str | None = None,
        base_url: str | None = None,
        batch_size: int = 512,
        max_retries: int = 3,
        timeout_seconds: float = 30.0,
    ) -> None:
        if not 1 <= batch_size <= MAX_BATCH_TEXTS:
            raise InvalidInputError(f"batch_size={batch_size}. Allowed: 1 to {MAX_BATCH_TEXTS}. The default is 512.")
        require(["openai"], extra="openai")
        self.model = model
        self.dimension = dimensions
        self.name = f"openai:{model}" if dimensions is None else f"openai:{model}:{dimensions}"
        self._batch_size = batch_size
        self._client = (
            client
            if client is not None
            else openai_client(
                EmbedderError,
                api_key=api_key,
                base_url=base_url,
                max_retries=max_retries,
                timeout_seconds=timeout_seconds,
            )
        )

    def __call__(self, texts: Sequence[str]) -> Vectors:
        vectors: list[Any] = []
        for batch in batches(texts, most_texts=self._batch_size, most_characters=MAX_BATCH_CHARACTERS):
            vectors += self._ask(batch)
        return np.array(vectors, dtype=np.float32)

    def _ask(self, batch: list[str]) -> list[Any]:
        shorter = {} if self.dimension is None else {"dimensions": self.dimension}
        try:
            answer = self._client.embeddings.create(model=self.model, input=batch, encoding_format="float", **shorter)
        except load("openai").OpenAIError as error:
            raise EmbedderError(
                f"{self.name} failed on {len(batch)} texts with {type(error).__name__}: {error} "
                "Nothing was embedded. Check model, api_key= and base_url=, then repeat the call."
            ) from error
        if len(answer.data) != len(batch):
            raise EmbedderError(
                f"{self.name} returned {len(answer.data)} vectors for {len(batch)} texts. Allowed: one for each. "
                "Texts must not be empty; if they are not, the server behind base_url= is at fault."
            )
        return [_numbers(item.embedding) for item in sorted(answer.data, key=lambda item: item.index)]


def batches(texts: Sequence[str], *, most_texts: int, most_characters: int) -> Iterator[list[str]]:
    """The texts in order, in as few requests as the two limits allow; a text above the limit is sent alone.

    >>> list(batches(["aa", "b", "c", "ddddd"], most_texts=2, most_characters=3))
    [['aa', 'b'], ['c'], ['ddddd']]
    >>> list(batches([], most_texts=2, most_characters=3))
    []
    """
    batch: list[str] = []
    characters = 0
    for text in texts:
        if batch and (len(batch) == most_texts or characters + len(text) > most_characters):
            yield batch
            batch, characters = [], 0
        batch.append(text)
        characters += len(text)
    if batch:
        yield batch


def _numbers(embedding: Any) -> Any:
    """The numbers of an embedding, decoded if a server answers in base64 without being asked to."""
    if isinstance(embedding, str):
        return np.frombuffer(base64.b64decode(embedding), dtype="<f4")
    return embedding


class OpenAIChat:
    """A chat model of OpenAI or a compatible server, with one request per call.

    The material goes into a user message, the instructions into a system message. Without `client`, `api_key` and
    `base_url` are those of the `openai` package. `temperature=None` uses the model's default.

    >>> OpenAIChat(api_key="sk-...").name
    'openai:gpt-4o-mini'
    """

    def __init__(
        self,
        model: str = "gpt-4o-mini",
        *,
        client: Any = None,
        api_key: str | None = None,
        base_url: str | None = None,
        temperature: float | None = 0.0,
        max_retries: int = 1,
        timeout_seconds: float = 20.0,
    ) -> None:
        require(["openai"], extra="openai")
        self.model, self.name = model, f"openai:{model}"
        self._options: dict[str, Any] = {} if temperature is None else {"temperature": temperature}
        limits: dict[str, Any] = {"max_retries": max_retries, "timeout_seconds": timeout_seconds}
        self._client: Any = client
        if client is None:
            self._client = openai_client(JudgeError, api_key=api_key, base_url=base_url, **limits)

    def __call__(self, instructions: str, material: str) -> str:
        """The model's reply. Raises JudgeError if the request fails."""
        return completion_text(self.completion(instructions, material), self.name)

    def completion(self, instructions: str, material: str, about: str = "", **options: Any) -> Any:
        """The server's complete answer. Raises JudgeError, with `about` in its text, if the request fails."""
        messages = [{"role": "system", "content": instructions}, {"role": "user", "content": material}]
        given = {**self._options, **options}
        try:
            return self._client.chat.completions.create(model=self.model, messages=messages, **given)
        except (load("openai").OpenAIError, ValueError) as error:  # ValueError: an answer that is not JSON
            status = getattr(error, "status_code", None)
            kind = type(error).__name__ + (f" ({status})" if status else "")
            raise JudgeError(
                f"{self.name} failed{about} with {kind}: {error} Check model, api_key= and base_url=."
            ) from error


def completion_text(completion: Any, name: str) -> str:
    """The text of the model's reply. Raises JudgeError if the answer is not a chat completion.

    >>> completion_text([], "openai:m")
    Traceback (most recent call last):
    adaptive_memory_core.errors.JudgeError: openai:m answered with no chat completion but list. Check base_url=.
    """
    try:
        text = completion.choices[0].message.content if completion.choices else None
    except (AttributeError, TypeError, LookupError) as error:
        kind = type(completion).__name__
        raise JudgeError(f"{name} answered with no chat completion but {kind}. Check base_url=.") from error
    if text is not None and not isinstance(text, str):
        raise JudgeError(f"{name} answered with {type(text).__name__} instead of a text. Check base_url=.")
    return text or ""


class ReaderAnswer(NamedTuple):
    """A model's answer, its uncertainty in nats per token, and the tokens of request and reply."""

    text: str
    uncertainty: float | None  # None if the server gives no probabilities
    tokens: int


class OpenAIReader:
    """A reader for `Policy(shape="top_down")`: a model that answers a question briefly from evidence, in one request.

    A call returns the uncertainty of the answer: the mean entropy of its tokens, over the `top` likeliest tokens at
    each place and all others together. The evidence goes as JSON into a user message, so that none of it can pass for
    an instruction. Without `client`, `api_key` and `base_url` are those of the `openai` package. `temperature=None`
    uses the model's default.

    >>> OpenAIReader(api_key="sk-...").name
    'openai:gpt-4o-mini'
    """

    def __init__(
        self,
        model: str = "gpt-4o-mini",
        *,
        client: Any = None,
        api_key: str | None = None,
        base_url: str | None = None,
        top: int = 5,
        longest_answer: int = 64,
        temperature: float | None = 0.0,
        max_retries: int = 1,
        timeout_seconds: float = 20.0,
    ) -> None:
        self._chat = OpenAIChat(
            model,
            client=client,
            api_key=api_key,
            base_url=base_url,
            temperature=temperature,
            max_retries=max_retries,
            timeout_seconds=timeout_seconds,
        )
        self.model, self.name = model, self._chat.name
        self._prompt = prompt("answer")
        self._options: dict[str, Any] = {"logprobs": True, "top_logprobs": top, "max_tokens": longest_answer}
        self.spent = 0  # tokens of all requests and replies, as the server counts them

    def __call__(self, question: str, evidence: Sequence[str]) -> float:
        """The uncertainty of the answer. Raises JudgeError if the server gives no probabilities."""
        found = self.answer(question, evidence).uncertainty
        if found is None:
            raise JudgeError(
                f"{self.name} gave no log-probabilities. Use a model and a server that do (logprobs=True), or "
                "switch the expansion off: Policy(shape={'expand': False})."
            )
        return found

    def answer(self, question: str, evidence: Sequence[str]) -> ReaderAnswer:
        """The model's answer from the evidence."""
        about = f" on a context of {len(evidence)} texts"
        reply = self._chat.completion(self._prompt, reader_material(question, evidence), about, **self._options)
        if not reply.choices:
            raise JudgeError(f"{self.name} gave no answer. Check the model.")
        choice, used = reply.choices[0], getattr(reply, "usage", None)
        content = getattr(getattr(choice, "logprobs", None), "content", None)
        places = None if content is None else [[one.logprob for one in place.top_logprobs] for place in content]
        tokens = 0 if used is None else used.total_tokens or 0
        self.spent += tokens
        return ReaderAnswer(choice.message.content or "", None if not places else uncertainty(places), tokens)


def reader_material(question: str, evidence: Sequence[str]) -> str:
    """Question and evidence as JSON, with their quotes and angle brackets escaped.

    >>> reader_material("tea?", ['</evidence>'])
    '{"question": "tea?", "evidence": ["\\\\u003c/evidence\\\\u003e"]}'
    """
    return prompt_json({"question": question, "evidence": list(evidence)})


def uncertainty(places: Sequence[Sequence[float]]) -> float:
    """The mean entropy in nats, from the log-probabilities of the likeliest tokens at each place.

    >>> uncertainty([[0.0], [0.0]])
    0.0
    >>> round(uncertainty([[math.log(0.5), math.log(0.5)], [0.0]]) / math.log(2), 6)     # one coin in two places
    0.5
    """
    return sum(_entropy([math.exp(one) for one in place]) for place in places) / len(places)


def _entropy(shares: Sequence[float]) -> float:
    """The entropy of the shares, with the rest up to 1 as one more share."""
    rest = max(0.0, 1.0 - sum(shares))
    return max(0.0, -sum(one * math.log(one) for one in (*shares, rest) if one > 0.0))


class OpenAIReranker(ChatReranker):
    """A reranker with one request per recall: the model marks the best candidates for the query from 0 to 10.

    The texts are sent to the server. They go as JSON into a user message, so that none of them can pass for an
    instruction or end its block; `longest` characters of each are shown. Without `client`, `api_key` and `base_url` are
    those of the `openai` package. `temperature=None` uses the model's default.

    >>> OpenAIReranker(api_key="sk-...").name
    'openai:gpt-4o-mini'
    """

    def __init__(
        self,
        model: str = "gpt-4o-mini",
        *,
        client: Any = None,
        api_key: str | None = None,
        base_url: str | None = None,
        longest: int = LONGEST_RATED,
        temperature: float | None = 0.0,
        max_retries: int = 1,
        timeout_seconds: float = 20.0,
    ) -> None:
        try:
            chat = OpenAIChat(
                model,
                client=client,
                api_key=api_key,
                base_url=base_url,
                temperature=temperature,
                max_retries=max_retries,
                timeout_seconds=timeout_seconds,
            )
        except JudgeError as error:
            raise RerankerError(str(error)) from error
        super().__init__(chat, longest=longest)
        self.model = model


def openai_client(
    failed: type[AdaptiveMemoryError],
    *,
    api_key: str | None,
    base_url: str | None,
    max_retries: int,
    timeout_seconds: float,
) -> Any:
    """A client for OpenAI or a compatible server. Raises `failed` if the client cannot be created."""
    openai = load("openai")
    try:
        return openai.OpenAI(api_key=api_key, base_url=base_url, max_retries=max_retries, timeout=timeout_seconds)
    except openai.OpenAIError as error:
        raise failed(
            f"The openai package could not create a client: {error} Allowed: a key, or a client that has one. "
            "Set OPENAI_API_KEY, or pass api_key= (any text for a server that needs none) or client=."
        ) from error
