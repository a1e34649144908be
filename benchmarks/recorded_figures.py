"""How is one figure of a recorded run written in a page? Shares, differences, and the rows of a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

Part = Mapping[str, Any]
Run = Mapping[str, Part]  # the parts of a run by their names, "kind: what of"
Row = Mapping[str, Any]
SETS = {
    "locomo": "LoCoMo",
    "assistant_chats": "chats with an assistant",
    "madial_en": "MADial",
    "hotpotqa_200": "HotpotQA",
    "musique_100": "MuSiQue",
    "twowiki_101": "2Wiki",
    "banking77": "BANKING77",
    "clinc150": "CLINC150",
}
SYSTEMS = {
    "chroma": "Chroma",
    "bm25": "BM25",
    "langchain_time_weighted": "LangChain's time-weighted",
    "llama_time_weighted": "LlamaIndex's time-weighted",
    "rrf": "RRF (60)",
    "static": "`static` (vectors alone)",
    "adaptive": "default",
}
NONE = "-"


def parts_of(run: Run, kind: str) -> dict[str, Part]:
    """The parts of one kind by what they are of: data sets in the order of this page, sizes from small to large."""
    found = {name.partition(": ")[2]: part for name, part in run.items() if name.startswith(f"{kind}: ")}
    known = list(SETS)
    return dict(
        sorted(found.items(), key=lambda one: (known.index(one[0]) if one[0] in known else len(known), _size(one[0])))
    )


def rows_of(run: Run, kind: str) -> Iterator[Row]:
    """All rows of the parts of one kind."""
    for part in parts_of(run, kind).values():
        yield from part["rows"]


def by(rows: Iterable[Row], name: str) -> dict[str, list[Row]]:
    """The rows in groups, in their order."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(str(row[name]), []).append(row)
    return found


def of_system(part: Part, system: str) -> Row:
    """The row of one system; an empty one where that system was not asked."""
    return next((row for row in part["rows"] if row["system"] == system), {})


def pair(row: Row) -> str:
    """
    >>> pair({"recall@10": 0.807, "NDCG@10": 0.653}), pair({})
    ('0.807 / 0.653', '-')
    """
    return f"{share(row['recall@10'])} / {share(row['NDCG@10'])}" if row else NONE


def share(value: float) -> str:
    """
    >>> share(0.807), share(1.0)
    ('0.807', '1.000')
    """
    return f"{value:.3f}"


def difference(row: Row) -> str:
    """
    >>> difference({"over Chroma": -0.02, "95 %": [-0.05, 0.01]})
    '-0.020 [-0.050, +0.010]'
    >>> difference({"over Chroma": 0.2, "95 %": [None, None]})
    '+0.200'
    """
    if "over Chroma" not in row:
        return ""
    low, high = row["95 %"]
    bounds = "" if low is None or high is None else f" [{signed(low)}, {signed(high)}]"
    return signed(row["over Chroma"]) + bounds


def may_be_chance(row: Row) -> bool:
    """Whether the interval of the difference from plain Chroma holds zero.

    >>> may_be_chance({"95 %": [0.1, 0.3]}), may_be_chance({"95 %": [-0.1, 0.1]})
    (False, True)
    """
    low, high = row["95 %"]
    return bool(low <= 0.0 <= high)


def signed(value: float) -> str:
    """
    >>> signed(0.25), signed(-0.0001)
    ('+0.250', '+0.000')
    """
    rounded = round(value, 3) + 0.0  # a negative zero is none
    return f"{rounded:+.3f}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _size(text: str) -> int:
    return int(text) if text.isdigit() else 0
