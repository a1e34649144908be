"""Chat models in an experiment: pacing, retries, replies stored on disk, and a cost estimate before the run."""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from adaptive_memory_core.errors import InvalidInputError, JudgeError
from adaptive_memory_core.evaluate.datasets import Dataset, Question
from adaptive_memory_core.evaluate.plan import Experiment, ModelPlan
from adaptive_memory_core.models.chat import prompt_json
from adaptive_memory_core.models.extras import load, require
from adaptive_memory_core.models.judges import prompt
from adaptive_memory_core.models.openai import openai_client, reader_material


@dataclass(frozen=True, slots=True)
class StoredReply:
    """A model's reply, the seconds it took, and the tokens as the server counted them."""

    text: str
    seconds: float
    input_tokens: int
    output_tokens: int


class StoredReplies:
    """The replies in a file of JSON lines. An incomplete line, left by a killed run, is skipped."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: dict[str, StoredReply] = {}
        try:
            text = path.read_text(encoding="utf-8") if path.exists() else ""
        except (OSError, UnicodeError) as error:
            raise InvalidInputError(f"The replies in {path} cannot be read: {error}. Name another `cache`.") from error
        self._before = "" if not text or text.endswith("\n") else "\n"  # ends an incomplete line of a killed run
        for line in text.split("\n"):
            self._take(line)

    def __len__(self) -> int:
        return len(self._known)

    def get(self, key: str) -> StoredReply | None:
        return self._known.get(key)

    def keep(self, key: str, reply: StoredReply) -> None:
        """Append the reply to the file, so that it is stored before the next request."""
        self._known[key] = reply
        self._path.parent.mkdir(parents=True, exist_ok=True)
        line = json.dumps({"key": key, **asdict(reply)})
        with self._path.open("a", encoding="utf-8") as file:
            file.write(f"{self._before}{line}\n")
        self._before = ""

    def _take(self, line: str) -> None:
        try:
            row = json.loads(line)
            key = row.pop("key")
            self._known[key] = StoredReply(**row)
        except (ValueError, TypeError, KeyError, AttributeError):
            return  # an incomplete line


def request_key(request: Mapping[str, Any], server: str | None) -> str:
    """A hash of the request and the server.

    >>> request_key({"model": "m"}, None) == request_key({"model": "m"}, "http://localhost:8000/v1")
    False
    """
    text = json.dumps({"server": server, **request}, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


VERDICT = re.compile(r'"correct"\s*:\s*"(yes|no)"', re.IGNORECASE)


class ChatModel:
    """A model that answers from a page. A reply already in the file is reused at no cost."""

    def __init__(self, plan: ModelPlan, replies: StoredReplies) -> None:
        require(["openai"], extra="openai")
        self.plan, self._replies = plan, replies
        self._pace = RequestPace(plan.requests_per_minute)
        self._client: Any = None  # created for the first reply that is not stored, so stored replies need no key

    def answer(self, question: str, page: str) -> StoredReply:
        """The reply to a question from a page."""
        return self.ask(prompt("answer_from_page"), reader_material(question, page.splitlines()))

    def judge_answer(self, question: str, right: Sequence[str], reply: str) -> bool | None:
        """Whether the judge finds the reply correct; None if the judge's own reply cannot be parsed."""
        material = prompt_json({"question": question, "right_answers": list(right), "reply": reply})
        found = VERDICT.search(self.ask(prompt("judge_answer"), material).text)
        return None if found is None else found[1].lower() == "yes"

    def ask(self, instructions: str, material: str) -> StoredReply:
        """The reply to one request. Raises JudgeError once all attempts have failed."""
        request = self._request(instructions, material)
        key = request_key(request, self.plan.base_url)
        known = self._replies.get(key)
        if known is not None:
            return known
        reply = self._asked(request)
        self._replies.keep(key, reply)
        return reply

    def _request(self, instructions: str, material: str) -> dict[str, Any]:
        messages = [{"role": "system", "content": instructions}, {"role": "user", "content": material}]
        options = self.plan.options
        most = {} if "max_completion_tokens" in options else {"max_tokens": self.plan.max_tokens}
        return {"model": self.plan.model, "messages": messages, **most, **options}

    def _asked(self, request: Mapping[str, Any]) -> StoredReply:
        openai = load("openai")
        client = self._client = self._client or self._new_client()
        self._pace.wait()
        try:
            answer = client.chat.completions.with_raw_response.create(**request)  # the client retries by itself
        except openai.OpenAIError as error:
            raise self._failed(error) from error
        return _reply(answer.parse(), answer.elapsed.total_seconds())

    def _new_client(self) -> Any:
        key = os.environ.get(self.plan.api_key_env) or (None if self.plan.base_url is None else "none is needed")
        limits: dict[str, Any] = {"max_retries": self.plan.retries, "timeout_seconds": self.plan.timeout_seconds}
        return openai_client(JudgeError, api_key=key, base_url=self.plan.base_url, **limits)

    def _failed(self, error: Exception) -> JudgeError:
        return JudgeError(
            f"The model {self.plan.name!r} failed with {type(error).__name__}: {error} "
            f"{len(self._replies)} replies are stored: run the same experiment again to continue from there. Check "
            f"model, base_url, the key in {self.plan.api_key_env} and requests_per_minute."
        )


def _reply(completion: Any, seconds: float) -> StoredReply:
    used = getattr(completion, "usage", None)
    counts = (getattr(used, "prompt_tokens", 0) or 0, getattr(used, "completion_tokens", 0) or 0)
    return StoredReply((completion.choices[0].message.content if completion.choices else None) or "", seconds, *counts)


class RequestPace:
    """Limits requests per minute. `wait` blocks until the next request may be sent; the first is sent at once.

    >>> waited = []
    >>> pace = RequestPace(per_minute=30, clock=lambda: 0.0, sleep=waited.append)
    >>> pace.wait(); pace.wait(); pace.wait(); waited
    [2.0, 4.0]
    """

    def __init__(
        self,
        per_minute: float,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._seconds, self._clock, self._sleep = 60.0 / per_minute, clock, sleep
        self._next: float | None = None

    def wait(self) -> None:
        now = self._clock()
        at = now if self._next is None else max(now, self._next)
        self._next = at + self._seconds
        if at > now:
            self._sleep(at - now)


AROUND = 250  # tokens of a request's instructions and format
MILLION = 1_000_000
QuestionsAsked = Sequence[tuple[Dataset, Sequence[Question]]]


@dataclass(frozen=True, slots=True)
class CostLine:
    """Upper limits for one model; `cost` is in the currency of the prices, None without prices."""

    model: str
    requests: int
    input_tokens: int
    output_tokens: int
    cost: float | None


@dataclass(frozen=True, slots=True)
class Estimate:
    """An upper limit for the requests and cost of a run; stored replies cost nothing."""

    lines: tuple[CostLine, ...]
    kept: int = 0  # replies already in the file

    @property
    def cost(self) -> float | None:
        """The sum, if every line has a price."""
        known = [line.cost for line in self.lines if line.cost is not None]
        return sum(known) if len(known) == len(self.lines) else None

    def __str__(self) -> str:
        models = [f"{one.model}: {_cost_text(one)}" for one in self.lines]
        total = "unknown: give input_price and output_price" if self.cost is None else f"{self.cost:.2f}"
        stored = [f"{self.kept} replies are stored from earlier runs; a request for one of them costs nothing."]
        return "\n".join([*models, f"at most, in all: {total}", *(stored if self.kept else [])])


def estimate(plan: Experiment, asked: QuestionsAsked, *, kept: int = 0) -> Estimate:
    """Estimate an upper limit: pages and replies may be shorter than their budgets."""
    return Estimate((*_chats(plan, asked), *_embedders(plan, asked)), kept)


def _chats(plan: Experiment, asked: QuestionsAsked) -> Iterator[CostLine]:
    answering = sum(one.answers for one in plan.systems)
    for model in plan.models:
        questions = [question for _, own in asked for question in own]
        around = sum(plan.page_tokens + AROUND + len(question.query) // 4 for question in questions)
        requests, given = answering * len(questions), answering * around
        yield CostLine(model.name, requests, given, requests * model.max_tokens, _cost(model, given, requests))
    if plan.judge is not None:
        judged = [(model, question) for model in plan.models for _, own in asked for question in own if question.answer]
        given = answering * sum(AROUND + model.max_tokens + len(f"{q.query}{q.answer}") // 4 for model, q in judged)
        requests, judge = answering * len(judged), plan.judge
        yield CostLine(
            f"{judge.name} (judge)", requests, given, requests * judge.max_tokens, _cost(judge, given, requests)
        )


def _embedders(plan: Experiment, asked: QuestionsAsked) -> Iterator[CostLine]:
    """The cost of embedders behind a server: each text is embedded once, each question once per system."""
    for name in dict.fromkeys(one.embedder for one in plan.systems if one.embedder.startswith("openai:")):
        texts = sum(len(item.labelled_text) for data, _ in asked for item in data.items)
        systems = sum(one.embedder == name for one in plan.systems)
        questions = systems * sum(len(question.query) for _, own in asked for question in own)
        requests = systems * sum(len(own) for _, own in asked) + len(asked)
        yield CostLine(name, requests, (texts + questions) // 4, 0, None)


def _cost(model: ModelPlan, given: int, requests: int) -> float | None:
    if model.input_price is None or model.output_price is None:
        return None
    return (given * model.input_price + requests * model.max_tokens * model.output_price) / MILLION


def _cost_text(line: CostLine) -> str:
    cost = "" if line.cost is None else f", {line.cost:.2f}"
    return f"{line.requests} requests, {line.input_tokens} tokens in, {line.output_tokens} out{cost}"
