"""What came of a comparison? Each system's measures, how much each differs from the baseline, and on what it was run.

`Comparison.to_json` writes one object, and `Comparison.from_json` reads it. Its keys, all of them always there:

- `format`: "adaptive-memory comparison 1"; `title`: a line of text; `confidence`: of all intervals, e.g. 0.95
- `command`, `seconds` (of the whole run), `machine`, `versions`, `notes` (a list of sentences on what to make of it)
- `data`: a list of {name, items, users, questions}; `questions` is how many were asked
- `baseline`: the name of the system that the others are compared with
- `systems`: a list of {name, about, axis, value, model}. `axis` names the one setting that a system of an ablation
  varies ("theta"), and `value` is its number there; `model` is the chat model that answers. null where there is none
- `measures`: a list of {name, unit, better, about}; `unit` is "share" (0 to 1), "ms", "s", "words", "tokens", "blocks"
  or "ratio"; `better` is "higher", "lower" or null
- `results`: a list of {data, system, measure, mean, low, high, median, p95, deviation, questions, clusters}; `low` and
  `high` bound the mean, null where fewer than two clusters leave no interval. A measure that is not known of every
  question has fewer `questions`
- `differences`: a list of {data, system, measure, mean, low, high, questions, settled}: the system's value less that of
  the baseline, question by question; `settled` says whether the interval excludes 0

Every (data, system, measure) stands in `results` at most once, and in `differences` at most once.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.pages.experiment.page import experiment_page
from adaptive_memory_core.whole_file import write_whole

FORMAT = "adaptive-memory comparison 1"


@dataclass(frozen=True, slots=True)
class DataAbout:
    name: str
    items: int
    users: int
    questions: int


@dataclass(frozen=True, slots=True)
class SystemAbout:
    name: str
    about: str = ""
    axis: str | None = None
    value: float | None = None
    model: str | None = None


@dataclass(frozen=True, slots=True)
class MeasureAbout:
    name: str
    unit: str = "share"
    better: str | None = "higher"
    about: str = ""


@dataclass(frozen=True, slots=True)
class Result:
    """One measure of one system on one set of data."""

    data: str
    system: str
    measure: str
    mean: float
    low: float | None
    high: float | None
    median: float
    p95: float
    deviation: float
    questions: int
    clusters: int


@dataclass(frozen=True, slots=True)
class Difference:
    """By how much one system's measure is above the baseline's on the same questions."""

    data: str
    system: str
    measure: str
    mean: float
    low: float | None
    high: float | None
    questions: int
    settled: bool


@dataclass(frozen=True, slots=True)
class Comparison:
    """All that came of one run; the head of this file says what each part holds."""

    title: str
    baseline: str
    data: tuple[DataAbout, ...]
    systems: tuple[SystemAbout, ...]
    measures: tuple[MeasureAbout, ...]
    results: tuple[Result, ...]
    differences: tuple[Difference, ...]
    confidence: float = 0.95
    seconds: float = 0.0
    command: str = ""
    notes: tuple[str, ...] = ()
    machine: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, Any] = field(default_factory=dict)

    def of(self, system: str, measure: str, data: str | None = None) -> Result:
        """One result; of the first set of data, unless one is named."""
        data = self.data[0].name if data is None else data
        for one in self.results:
            if (one.data, one.system, one.measure) == (data, system, measure):
                return one
        raise InvalidInputError(
            f"There is no {measure!r} of {system!r} on {data!r}. There are the systems "
            f"{[one.name for one in self.systems]} and the measures {[one.name for one in self.measures]}."
        )

    def to_json(self) -> str:
        return json.dumps({"format": FORMAT, **asdict(self)}, ensure_ascii=False, allow_nan=False)

    @staticmethod
    def from_json(text: str) -> Comparison:
        """The comparison that `to_json` wrote."""
        try:
            return _read(json.loads(text))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise InvalidInputError(
                f"This is no comparison: {type(error).__name__}: {error}. Give what `adaptive-memory compare --json` "
                "or Comparison.to_json wrote."
            ) from error

    def html(self) -> str:
        """A page with all of it as tables and pictures: one file that loads nothing from anywhere."""
        try:
            return experiment_page(self)
        except (TypeError, ValueError) as error:
            raise InvalidInputError(
                f"This comparison cannot be drawn: {error}. Give numbers where Comparison.to_json writes numbers."
            ) from error

    def save(self, path: Path) -> None:
        """Write it to a file, whole or not at all."""
        write_whole(path, self.to_json() + "\n")


def _read(told: Mapping[str, Any]) -> Comparison:
    if told.get("format") != FORMAT:
        raise InvalidInputError(f"its format is {told.get('format')!r}, not {FORMAT!r}")
    kinds: dict[str, Any] = {"data": DataAbout, "systems": SystemAbout, "measures": MeasureAbout}
    kinds |= {"results": Result, "differences": Difference}
    own: dict[str, Any] = {name: one for name, one in told.items() if name != "format"}
    for name, kind in kinds.items():
        rows: Sequence[Any] = own[name]
        own[name] = tuple(kind(**row) for row in rows)
    return Comparison(**{**own, "notes": tuple(own.get("notes", ()))})
