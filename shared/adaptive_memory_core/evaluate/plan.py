"""What is to be compared, on what? An experiment: data, systems, chat models, and how they are asked."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from adaptive_memory_core.arguments.values import LARGEST_K
from adaptive_memory_core.errors import InvalidInputError

LARGEST_NUMBERS = {"k": LARGEST_K, "depth": LARGEST_K} | dict.fromkeys(
    ("minutes_apart", "input_price", "output_price", "requests_per_minute", "timeout_seconds"), 1e9
)
DEEP = 50  # hits, of which ten sessions or 1,000 tokens of short turns can be made


@dataclass(frozen=True, slots=True)
class DataPlan:
    """Where labelled data lie, and which of their questions are asked."""

    path: Path
    kind: str = "folder"  # or "longmemeval", "locomo": the files that those sets publish
    name: str = ""
    most: int = 0  # questions, drawn by the seed; 0 = all
    every: int = 1  # ask every so-manieth question only
    users: int = 0  # ask only for the first so many users; 0 = for all
    records: str = "turn"  # or "session", "user": what one record holds of a published conversation
    adversarial: bool = False  # also questions that have gold and no answer: LoCoMo's category 5

    def __post_init__(self) -> None:
        _check(self, {"most": (int, 0), "every": (int, 1), "users": (int, 0)})


@dataclass(frozen=True, slots=True)
class SystemPlan:
    """One system: what it is, with which settings and embedder."""

    name: str
    use: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    embedder: str = "local"
    axis: str | None = None  # the setting that an ablation varies, and its value
    value: float | None = None
    parameters_millions: float | None = None  # of the embedder
    answers: bool = True  # whether chat models answer from what it finds


@dataclass(frozen=True, slots=True)
class ModelPlan:
    """One chat model behind a server of OpenAI's protocol. A price is of a million tokens."""

    name: str
    model: str
    base_url: str | None = None
    api_key_env: str = "OPENAI_API_KEY"
    requests_per_minute: float = 60.0
    input_price: float | None = None
    output_price: float | None = None
    max_tokens: int = 256
    options: Mapping[str, Any] = field(default_factory=lambda: {"temperature": 0.0})  # more of each request
    retries: int = 4
    timeout_seconds: float = 60.0

    def __post_init__(self) -> None:
        _check(self, {"max_tokens": (int, 1), "retries": (int, 0)})
        _check(self, {"input_price": (float, 0), "output_price": (float, 0)})
        _check(self, {"requests_per_minute": (float, 1e-3), "timeout_seconds": (float, 1e-3)})


@dataclass(frozen=True, slots=True)
class Experiment:
    """All of one comparison. `baseline` is the first system, unless it is named."""

    data: tuple[DataPlan, ...]
    systems: tuple[SystemPlan, ...]
    title: str = ""
    baseline: str = ""
    k: int = 10  # hits that the measures look at
    depth: int | None = None  # hits that are asked for; None: 50, for sessions and budgets, or k where hits are read
    reading: bool = False  # whether each question counts as a read for those that follow it
    minutes_apart: float = 30.0  # between two questions of one user, where they count as reads
    page_tokens: int = 1_000  # of what a chat model is shown
    models: tuple[ModelPlan, ...] = ()
    cache: Path = Path("answers.jsonl")  # replies of the models, which a second run takes from there
    seed: int = 18

    def __post_init__(self) -> None:
        _check(
            self,
            {"k": (int, 1), "depth": (int, 1), "page_tokens": (int, 1), "minutes_apart": (float, 0), "seed": (int, 0)},
        )
        if not self.data or not self.systems:
            raise InvalidInputError("The experiment has no data or no systems. Give at least one of each.")
        for what, names in (("systems", [one.name for one in self.systems]), ("models", [m.name for m in self.models])):
            if len(set(names)) < len(names):
                raise InvalidInputError(f"Two {what} have one name: {names}. Give each a `name` of its own.")
        if self.baseline and self.baseline not in [one.name for one in self.systems]:
            raise InvalidInputError(
                f"The baseline {self.baseline!r} is no system. There are {[one.name for one in self.systems]}."
            )

    @property
    def compared_with(self) -> str:
        return self.baseline or self.systems[0].name

    @property
    def how(self) -> str:
        """
        >>> Experiment((DataPlan(Path("notes")),), (SystemPlan("plain", "chroma"),)).how
        'Measures look at the first 10 of 50 hits. Nothing counts as read.'
        """
        read = "Each hit counts as read for the questions that follow." if self.reading else "Nothing counts as read."
        return f"Measures look at the first {self.k} of {self.hits} hits. {read}"

    @property
    def hits(self) -> int:
        """How many are asked for."""
        if self.depth is not None:
            return max(self.k, self.depth)
        return self.k if self.reading else max(self.k, DEEP)


def _check(plan: object, least: Mapping[str, tuple[type, float]]) -> None:
    """Refuse what is no number, no whole number where one is needed, or below its least; None is left alone."""
    for name, (kind, bound) in least.items():
        value = getattr(plan, name)
        kinds = (int,) if kind is int else (int, float)
        most = LARGEST_NUMBERS.get(name, math.inf)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, kinds) or not bound <= value <= most:
            number, up = (
                "a whole number" if kind is int else "a number",
                "up" if most == math.inf else f"to {most:,.0f}",
            )
            raise InvalidInputError(f"{name} is {value!r:.80}. It must be {number} from {bound:g} {up}.")
