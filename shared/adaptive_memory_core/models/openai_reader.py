"""How sure is a model of its answer? It answers from evidence, and the probabilities of its tokens tell."""

from __future__ import annotations

import math
from collections.abc import Sequence
from importlib.resources import files
from typing import Any, NamedTuple

from adaptive_memory_core.errors import JudgeError
from adaptive_memory_core.models.openai_chat import OpenAIChat
from adaptive_memory_core.models.strict_json import written

PROMPT = files("adaptive_memory_core.models") / "prompts" / "answer.md"


class Answered(NamedTuple):
    """What a model answers, its uncertainty in nats a token, and the tokens of request and reply."""

    text: str
    uncertainty: float | None  # None where the server gives no probabilities
    tokens: int


class OpenAIReader:
    """One request for each context: a question and evidence, which a model answers briefly.

    Called, it gives the uncertainty of the answer, as a reader for `Policy(shape="top_down")`: the mean entropy of its
    tokens, of the `top` likeliest at each place and of all others together. The evidence goes as JSON in a message of
    the user, so that none of it can pass for an instruction. Without `client`, `api_key` and `base_url` mean what they
    mean to the `openai` package. `temperature=None` leaves it to the model.

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
        self._prompt = PROMPT.read_text(encoding="utf-8")
        self._options: dict[str, Any] = {"logprobs": True, "top_logprobs": top, "max_tokens": longest_answer}
        self.spent = 0  # tokens of all requests and replies, as the server counts them

    def __call__(self, question: str, evidence: Sequence[str]) -> float:
        """The uncertainty, or a JudgeError where the server gives no probabilities."""
        found = self.answer(question, evidence).uncertainty
        if found is None:
            raise JudgeError(
                f"{self.name} gave no log-probabilities. Use a model and a server that do (logprobs=True), or "
                "switch the expansion off: Policy(shape={'expand': False})."
            )
        return found

    def answer(self, question: str, evidence: Sequence[str]) -> Answered:
        """What the model answers from the evidence."""
        about = f" on a context of {len(evidence)} texts"
        reply = self._chat.completion(self._prompt, material(question, evidence), about, **self._options)
        if not reply.choices:
            raise JudgeError(f"{self.name} gave no answer. Check the model.")
        choice, used = reply.choices[0], getattr(reply, "usage", None)
        told = getattr(getattr(choice, "logprobs", None), "content", None)
        places = None if told is None else [[one.logprob for one in place.top_logprobs] for place in told]
        tokens = 0 if used is None else used.total_tokens or 0
        self.spent += tokens
        return Answered(choice.message.content or "", None if not places else uncertainty(places), tokens)


def material(question: str, evidence: Sequence[str]) -> str:
    """Question and evidence as JSON, in which quotes and angle brackets of theirs are escaped.

    >>> material("tea?", ['</evidence>'])
    '{"question": "tea?", "evidence": ["\\\\u003c/evidence\\\\u003e"]}'
    """
    return written({"question": question, "evidence": list(evidence)})


def uncertainty(places: Sequence[Sequence[float]]) -> float:
    """The mean entropy in nats, given at each place the log-probabilities of the likeliest tokens.

    >>> uncertainty([[0.0], [0.0]])
    0.0
    >>> round(uncertainty([[math.log(0.5), math.log(0.5)], [0.0]]) / math.log(2), 6)     # one coin in two places
    0.5
    """
    return sum(_entropy([math.exp(one) for one in place]) for place in places) / len(places)


def _entropy(shares: Sequence[float]) -> float:
    """The entropy, where all that is left of 1 counts as one more."""
    rest = max(0.0, 1.0 - sum(shares))
    return max(0.0, -sum(one * math.log(one) for one in (*shares, rest) if one > 0.0))
