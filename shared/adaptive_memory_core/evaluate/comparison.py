"""The result of a comparison of systems: measures, differences from the baseline, and tables for a terminal.

`Comparison.to_json` writes one object, and `Comparison.from_json` reads it. Its keys, all always present:

- `format`: "adaptive-memory comparison 1"; `title`: a line of text; `confidence`: for all intervals, e.g. 0.95
- `command`, `seconds` (of the whole run), `machine`, `versions`, `notes` (a list of sentences on how to read it)
- `data`: a list of {name, items, users, questions}; `questions` is how many were asked
- `baseline`: the name of the system that the others are compared with
- `systems`: a list of {name, about, axis, value, model}. In an ablation `axis` names the setting that varies ("theta")
  and `value` is its value; `model` is the chat model that answers. Each is null if there is none
- `measures`: a list of {name, unit, better, about}; `unit` is "share" (0 to 1), "ms", "s", "words", "tokens", "blocks"
  or "ratio"; `better` is "higher", "lower" or null
- `results`: a list of {data, system, measure, mean, low, high, median, p95, deviation, questions, clusters}; `low` and
  `high` bound the mean; both are null if there are fewer than two clusters. A measure that is not known for every
  question has fewer `questions`
- `differences`: a list of {data, system, measure, mean, low, high, questions, settled}: the system's value minus the
  baseline's, question by question; `settled` is true if the interval excludes 0

Every (data, system, measure) occurs in `results` at most once, and in `differences` at most once.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.pages.experiment import experiment_page
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
    """One system's measure minus the baseline's on the same questions."""

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
    """The result of one run; the module docstring describes each part."""

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
        """One result, for the first data set unless another is named."""
        data = self.data[0].name if data is None else data
        for one in self.results:
            if (one.data, one.system, one.measure) == (data, system, measure):
                return one
        raise InvalidInputError(
            f"There is no {measure!r} of {system!r} on {data!r}. The systems are "
            f"{[one.name for one in self.systems]}, the measures {[one.name for one in self.measures]}."
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
                f"This is not a comparison: {type(error).__name__}: {error}. Give the output of `adaptive-memory "
                "compare --json` or of Comparison.to_json."
            ) from error

    def html(self) -> str:
        """The comparison as a self-contained HTML page with tables and charts."""
        try:
            return experiment_page(self)
        except (TypeError, ValueError) as error:
            raise InvalidInputError(
                f"This comparison cannot be drawn: {error}. Use the value types that Comparison.to_json writes."
            ) from error

    def save(self, path: Path) -> None:
        """Write the comparison to a file, atomically."""
        write_whole(path, self.to_json() + "\n")


def _read(given: Mapping[str, Any]) -> Comparison:
    if given.get("format") != FORMAT:
        raise InvalidInputError(f"its format is {given.get('format')!r}, not {FORMAT!r}")
    kinds: dict[str, Any] = {"data": DataAbout, "systems": SystemAbout, "measures": MeasureAbout}
    kinds |= {"results": Result, "differences": Difference}
    own: dict[str, Any] = {name: one for name, one in given.items() if name != "format"}
    for name, kind in kinds.items():
        rows: Sequence[Any] = own[name]
        own[name] = tuple(kind(**row) for row in rows)
    return Comparison(**{**own, "notes": tuple(own.get("notes", ()))})


HEAD = 200  # bytes of a file that contain its format


def check_result_file(file: Path) -> None:
    """Raise InvalidInputError if the file has no directory, is not writable, or contains anything but a result."""
    try:
        if file.is_dir() or not file.parent.is_dir():
            what = "is a directory" if file.is_dir() else "is in a directory that does not exist"
        elif not os.access(file if file.exists() else file.parent, os.W_OK):
            what = "cannot be written"
        elif file.is_file() and not _is_result(file):
            what = "exists and is not the result of a comparison"
        else:
            return
    except (OSError, ValueError) as error:
        what = f"cannot be written: {error!s:.200}"
    raise InvalidInputError(f"{str(file)!r:.200} {what}. Name a new file, or an earlier result to write over.")


def _is_result(file: Path) -> bool:
    with file.open("rb") as content:
        head = content.read(HEAD)
    return not head.strip() or f'"format": "{FORMAT}"'.encode() in head


GROUPS = {  # the tables: each title with the first words of its measures
    "Rankings": ("NDCG@", "recall@", "precision@", "hit@1", "MRR@", "parameters", "NDCG per"),
    "Sessions, as others publish them": ("session R@5", "session R@10", "session NDCG@10", "session hit@1", "session"),
    "Text that is read": (
        "evidence",
        "answer covered",
        "tokens to",
        "blocks to",
        "redundancy",
        "contained",
        "terms",
        "page",
    ),
    "Replies of chat models": (
        "judged",
        "exact",
        "F1",
        "BLEU",
        "ROUGE",
        "contain-accuracy",
        "key-term",
        "input tokens",
        "output tokens",
    ),
    "The memory at the end": ("remembered", "memory size", "stale norm", "reads per", "update ms"),
}
SPREADS = ("recall ms", "response s", "response words")  # measures shown with median, p95 and deviation
COMPARED = (
    "NDCG@",
    "recall@",
    "session hit@1",
    "evidence in 1000",
    "recall ms",
    "judged",
    "F1",
    "key-term",
    "response s",
)


def comparison_text(found: Comparison) -> str:
    """All tables as plain text, followed by the differences from the baseline."""
    parts = [found.title] if found.title else []
    for one in found.data:
        parts.append(f"{one.name}: {one.items} items, {one.users} users, {one.questions} questions")
        parts += [f"{title}\n{text_table(rows)}" for title, rows in _tables(found, one.name) if rows]
        if rows := list(_differences(found, one.name)):
            title = f"Less {found.baseline}, question by question, {found.confidence:.0%} intervals; * excludes 0"
            parts.append(f"{title}\n{text_table(rows)}")
    return "\n\n".join([*parts, *found.notes])


def _tables(found: Comparison, data: str) -> Iterator[tuple[str, Sequence[TableRow]]]:
    names = [one.name for one in found.measures]
    for title, begins in GROUPS.items():
        yield title, list(_means(found, data, [one for one in names if one.startswith(begins)]))
    for name in [one for one in SPREADS if one in names]:
        yield name, list(_spreads(found, data, name))


def _means(found: Comparison, data: str, names: Sequence[str]) -> Iterator[TableRow]:
    means = {(one.system, one.measure): one.mean for one in found.results if one.data == data}
    for system in found.systems:
        own = {name: means.get((system.name, name)) for name in names}
        if any(value is not None for value in own.values()):
            yield {"system": system.name, **own}


def _spreads(found: Comparison, data: str, name: str) -> Iterator[TableRow]:
    for one in found.results:
        if (one.data, one.measure) == (data, name):
            values = {"mean": one.mean, "median": one.median, "p95": one.p95, "deviation": one.deviation}
            yield {"system": one.system, **values, "questions": one.questions}


def _differences(found: Comparison, data: str) -> Iterator[TableRow]:
    for system in found.systems:
        own = [one for one in found.differences if (one.data, one.system) == (data, system.name)]
        if shown := {one.measure: _difference_text(one) for one in own if one.measure.startswith(COMPARED)}:
            yield {"system": system.name, **shown}


def _difference_text(one: Difference) -> str:
    """
    >>> _difference_text(Difference("d", "s", "NDCG@10", 0.1, 0.05, 0.15, 10, True))
    '+0.100 [+0.050, +0.150]*'
    """
    interval = "" if one.low is None or one.high is None else f" [{one.low:+.3f}, {one.high:+.3f}]"
    return f"{one.mean:+.3f}{interval}{'*' if one.settled else ''}"


TableRow = Mapping[str, Any]


def text_table(rows: Sequence[TableRow]) -> str:
    """The rows as aligned plain text, numbers to the right, columns in order of first appearance.

    >>> print(text_table([{"system": "ours", "NDCG@10": 0.5, "n": 12}, {"system": "similarity", "n": 7}]))
    system      NDCG@10   n
    ----------  -------  --
    ours          0.500  12
    similarity        -   7
    >>> text_table([])
    '(no rows)'
    """
    if not rows:
        return "(no rows)"
    names = list(dict.fromkeys(name for row in rows for name in row))
    columns = [_column(name, [row.get(name) for row in rows]) for name in names]
    return "\n".join("  ".join(cells).rstrip() for cells in zip(*columns, strict=True))


def _column(name: str, values: Sequence[Any]) -> list[str]:
    """The name, a rule and the values, padded to one width."""
    cells = [_cell(value) for value in values]
    width = max(map(len, [name, *cells]))
    numeric = all(value is None or _is_number(value) for value in values)
    return [cell.rjust(width) if numeric else cell.ljust(width) for cell in [name, "-" * width, *cells]]


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.3f}" if _is_number(value) and not isinstance(value, int) else str(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
