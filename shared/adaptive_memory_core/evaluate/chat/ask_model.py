"""How is a chat model asked in an experiment? Once for each request ever, paced, and again where its server is busy."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from importlib.resources import files
from typing import Any

from adaptive_memory_core.errors import JudgeError
from adaptive_memory_core.evaluate.chat.pace import Pace
from adaptive_memory_core.evaluate.chat.replies import Replies, Reply, key_of
from adaptive_memory_core.evaluate.plan import ModelPlan
from adaptive_memory_core.models.extras import load, require
from adaptive_memory_core.models.openai_client import openai_client
from adaptive_memory_core.models.openai_reader import material

PROMPT = files("adaptive_memory_core.models") / "prompts" / "answer_from_page.md"
LONGEST_WAIT = 60.0  # seconds before a request is tried again, unless the server asks for more
Sleep = Callable[[float], object]


class ChatModel:
    """A model that answers from a page. What is in the file of replies costs nothing and is as it was."""

    def __init__(self, plan: ModelPlan, replies: Replies, *, sleep: Sleep = time.sleep) -> None:
        require(["openai"], extra="openai")
        self.plan, self._replies, self._sleep = plan, replies, sleep
        self._pace = Pace(plan.requests_per_minute, sleep=sleep)
        self._client: Any = None  # made for the first reply that is not known, so that known ones need no key

    def answer(self, question: str, page: str) -> Reply:
        """The reply to a question from a page, or a JudgeError after so many attempts."""
        request = self._request(question, page)
        key = key_of(request, self.plan.base_url)
        known = self._replies.get(key)
        if known is not None:
            return known
        reply = self._asked(request)
        self._replies.keep(key, reply)
        return reply

    def _request(self, question: str, page: str) -> dict[str, Any]:
        messages = [
            {"role": "system", "content": PROMPT.read_text(encoding="utf-8")},
            {"role": "user", "content": material(question, page.splitlines())},
        ]
        options = self.plan.options
        most = {} if "max_completion_tokens" in options else {"max_tokens": self.plan.max_tokens}
        return {"model": self.plan.model, "messages": messages, **most, **options}

    def _asked(self, request: Mapping[str, Any]) -> Reply:
        openai = load("openai")
        client = self._client = self._client or self._new_client()
        for attempt in range(self.plan.retries + 1):
            self._pace.wait()
            begun = time.perf_counter()
            try:
                told = client.chat.completions.create(**request)
                return _reply(told, time.perf_counter() - begun)
            except openai.OpenAIError as error:
                if attempt == self.plan.retries or not _passing(openai, error):
                    raise self._failed(error, attempt + 1) from error
                self._sleep(_wait(error, attempt))
        raise AssertionError("unreachable: the last attempt returns or raises")

    def _new_client(self) -> Any:
        key = os.environ.get(self.plan.api_key_env) or (None if self.plan.base_url is None else "none is needed")
        limits: dict[str, Any] = {"max_retries": 0, "timeout_seconds": self.plan.timeout_seconds}
        return openai_client(JudgeError, api_key=key, base_url=self.plan.base_url, **limits)

    def _failed(self, error: Exception, attempts: int) -> JudgeError:
        return JudgeError(
            f"The model {self.plan.name!r} failed after {attempts} attempts with {type(error).__name__}: {error} "
            f"{len(self._replies)} replies are kept: run the same experiment again, and it goes on from there. Check "
            f"model, base_url, the key in {self.plan.api_key_env} and requests_per_minute."
        )


def _reply(told: Any, seconds: float) -> Reply:
    used = getattr(told, "usage", None)
    counts = (getattr(used, "prompt_tokens", 0) or 0, getattr(used, "completion_tokens", 0) or 0)
    return Reply((told.choices[0].message.content if told.choices else None) or "", seconds, *counts)


def _passing(openai: Any, error: Exception) -> bool:
    """Whether it may go well the next time: too many requests, a server's own fault, no connection, no answer."""
    return isinstance(error, openai.RateLimitError | openai.InternalServerError | openai.APIConnectionError)


def _wait(error: Exception, attempt: int) -> float:
    """Seconds before the next attempt: what the server asks for, else twice as many each time."""
    told = getattr(getattr(error, "response", None), "headers", {}).get("retry-after")
    try:
        return max(0.0, float(told)) if told is not None else min(LONGEST_WAIT, 2.0**attempt)
    except ValueError:  # a date
        return LONGEST_WAIT
