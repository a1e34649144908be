"""What will an experiment cost at most? Requests and tokens of its chat models and embedders, before any is asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from adaptive_memory_core.evaluate.labelled import Dataset, Question
from adaptive_memory_core.evaluate.plan import Experiment, ModelPlan

AROUND = 250  # tokens of the instructions and of the form of a request
MILLION = 1_000_000
Asked = Sequence[tuple[Dataset, Sequence[Question]]]


@dataclass(frozen=True, slots=True)
class Line:
    """What one model is asked, at most; `cost` is in the currency of the prices, None where there are none."""

    model: str
    requests: int
    input_tokens: int
    output_tokens: int
    cost: float | None


@dataclass(frozen=True, slots=True)
class Estimate:
    """The most that a run may ask of others; replies that are kept from before cost nothing."""

    lines: tuple[Line, ...]
    kept: int = 0  # replies that the file holds already

    @property
    def cost(self) -> float | None:
        """The sum, if every line has a price."""
        known = [line.cost for line in self.lines if line.cost is not None]
        return sum(known) if len(known) == len(self.lines) else None

    def __str__(self) -> str:
        told = [f"{one.model}: {_told(one)}" for one in self.lines]
        total = "unknown: give input_price and output_price" if self.cost is None else f"{self.cost:.2f}"
        kept = [f"{self.kept} replies are kept from before; of those asked for again, none costs anything."]
        return "\n".join([*told, f"at most, in all: {total}", *(kept if self.kept else [])])


def estimate(plan: Experiment, asked: Asked, *, kept: int = 0) -> Estimate:
    """At most, since pages may be shorter than their budget and replies than theirs."""
    return Estimate((*_chats(plan, asked), *_embedders(plan, asked)), kept)


def _chats(plan: Experiment, asked: Asked) -> Iterator[Line]:
    answering = sum(one.answers for one in plan.systems)
    for model in plan.models:
        questions = [question for _, own in asked for question in own]
        around = sum(plan.page_tokens + AROUND + len(question.query) // 4 for question in questions)
        requests, given = answering * len(questions), answering * around
        yield Line(model.name, requests, given, requests * model.max_tokens, _cost(model, given, requests))


def _embedders(plan: Experiment, asked: Asked) -> Iterator[Line]:
    """Of those that are a server's: each text once, each question once for each system."""
    for name in dict.fromkeys(one.embedder for one in plan.systems if one.embedder.startswith("openai:")):
        texts = sum(len(item.said) for data, _ in asked for item in data.items)
        systems = sum(one.embedder == name for one in plan.systems)
        questions = systems * sum(len(question.query) for _, own in asked for question in own)
        requests = systems * sum(len(own) for _, own in asked) + len(asked)
        yield Line(name, requests, (texts + questions) // 4, 0, None)


def _cost(model: ModelPlan, given: int, requests: int) -> float | None:
    if model.input_price is None or model.output_price is None:
        return None
    return (given * model.input_price + requests * model.max_tokens * model.output_price) / MILLION


def _told(line: Line) -> str:
    cost = "" if line.cost is None else f", {line.cost:.2f}"
    return f"{line.requests} requests, {line.input_tokens} tokens in, {line.output_tokens} out{cost}"
