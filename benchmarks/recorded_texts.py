"""How does a recorded run read in a page? Its tables, and the few numbers that stand in sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

Run = Mapping[str, Any]
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
    "adaptive": "default",
}
RETRIEVERS = {
    "plain": "plain `as_retriever`",
    "time-weighted": "time-weighted",
    "adaptive": "`AdaptiveMemoryRetriever`",
}
BESIDE, INSIDE = "a recall beside the queries it replaces", "inside LangChain"


def quality(run: Run) -> str:
    """Recall@10 / NDCG@10 of each system on each set, and how sure the difference from plain Chroma is."""
    rows = []
    for name, own in _by(_of(run, "quality"), "set").items():
        by_system = {row["system"]: row for row in own}
        figures = [f"{_share(by_system[one]['recall@10'])} / {_share(by_system[one]['NDCG@10'])}" for one in SYSTEMS]
        ours = by_system["adaptive"]
        rows.append([f"{SETS.get(name, name)} ({ours['questions']})", *figures, _difference(ours)])
    return _table(["(questions)", *SYSTEMS.values(), "default over Chroma, NDCG@10"], rows)


def milliseconds(run: Run) -> str:
    """The median of what a question took, with embedding it."""
    rows = [
        [SETS.get(name, name), *(f"{row['median ms']:.1f}" for row in own)]
        for name, own in _by(_of(run, "quality"), "set").items()
    ]
    return _table(["median ms", *SYSTEMS.values()], rows)


def beside_queries(run: Run) -> str:
    """A recall, and Chroma's query with and without the user's filter."""
    rows = [
        [
            f"{row['records']:,}",
            *(f"{row[one]:.1f}" for one in ("recall ms", "recall_cpu ms", "filtered ms", "unfiltered ms")),
        ]
        for row in _of(run, BESIDE)
    ]
    return _table(["records", "recall, ms", "its processor time", "Chroma, filtered", "Chroma, unfiltered"], rows)


def inside_langchain(run: Run) -> str:
    """Median milliseconds of each retriever."""
    rows = []
    for size, own in _by(_of(run, INSIDE), "records").items():
        for what, calls in _by(own, "what").items():
            taken = {row["retriever"]: row for row in calls}
            rows.append([f"{int(size):,}", what, *(f"{taken[one]['p50 ms']:.1f}" for one in RETRIEVERS)])
    return _table(["records", "median ms", *RETRIEVERS.values()], rows)


def about(run: Run) -> str:
    """The command, the day, the machine and what ran on it."""
    machine, versions = run["machine"], run["versions"]
    load = machine["load_average"][0] if machine["load_average"] else None
    busy = "" if load is None else f", load {load:.0f}"
    return (
        f"`{run['command']}`, {date(run)}, {machine['cpus']} cores ({machine['cpu']}){busy}, "
        f"Python {versions['python']}, Chroma {versions['chromadb']}, numpy {versions['numpy']}"
    )


def date(run: Run) -> str:
    """The day on which it ended."""
    return str(run["finished_at"])[:10]


def _of(run: Run, part: str) -> list[Row]:
    return [row for row in run["rows"] if row["part"] == part]


def _by(rows: Iterable[Row], name: str) -> dict[str, list[Row]]:
    """The rows in groups, in their order."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(str(row[name]), []).append(row)
    return found


def _share(value: float) -> str:
    """
    >>> _share(0.807), _share(1.0)
    ('.807', '1.000')
    """
    return f"{value:.3f}".removeprefix("0")


def _difference(row: Row) -> str:
    """
    >>> _difference({"over Chroma": -0.02, "95 %": [-0.05, 0.01]})
    '-.020 [-.050, +.010]'
    """
    low, high = row["95 %"]
    return f"{_signed(row['over Chroma'])} [{_signed(low)}, {_signed(high)}]"


def _signed(value: float) -> str:
    rounded = round(value, 3) + 0.0  # a negative zero is none
    return f"{rounded:+.3f}".replace("0.", ".", 1)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


TEXTS: Mapping[str, tuple[str, Callable[[Run], str]]] = {  # each with the file in benchmarks/recorded that it is of
    "about": ("bench", about),
    "date": ("bench", date),
    "quality": ("bench", quality),
    "milliseconds": ("bench", milliseconds),
    "beside-queries": ("bench", beside_queries),
    "inside-langchain": ("bench", inside_langchain),
}
