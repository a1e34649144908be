"""How does a recorded run read in a page? Its tables, and which text of which run each place holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from benchmarks import recorded_sentences as sentences
from benchmarks.recorded_figures import (
    SETS,
    SYSTEMS,
    Part,
    Row,
    Run,
    by,
    difference,
    of_system,
    pair,
    parts_of,
    rows_of,
    share,
    table,
)

COMPARED = ("chroma", "bm25", "langchain_time_weighted", "llama_time_weighted", "rrf", "adaptive")
OF_SESSIONS = ("chroma", "bm25", "adaptive")
PEERS = ("chroma", "bm25", "langchain_time_weighted", "llama_time_weighted", "static", "adaptive")
RETRIEVERS = {
    "plain": "plain `as_retriever`",
    "plain, of the user": "with the user as its filter",
    "time-weighted": "time-weighted",
    "adaptive": "`AdaptiveMemoryRetriever`",
}


def quality(run: Run) -> str:
    """Recall@10 / NDCG@10 of each system on each set, and how sure the difference from plain Chroma is."""
    rows = []
    for name, part in parts_of(run, "quality").items():
        ours = of_system(part, "adaptive")
        figures = [pair(of_system(part, one)) for one in COMPARED]
        rows.append([f"{SETS.get(name, name)} ({ours['questions']:,})", *figures, difference(ours)])
    return table(["(questions)", *(SYSTEMS[one] for one in COMPARED), "default over Chroma, NDCG@10"], rows)


def milliseconds(run: Run) -> str:
    """The median of what a question took, with embedding it."""
    rows = []
    for name, part in parts_of(run, "quality").items():
        taken = [of_system(part, one).get("median ms") for one in COMPARED]
        rows.append([SETS.get(name, name), *("-" if one is None else f"{one:.1f}" for one in taken)])
    return table(["median ms", *(SYSTEMS[one] for one in COMPARED)], rows)


def beside_queries(run: Run) -> str:
    """A recall, and Chroma's query with and without the user's filter."""
    names = ("recall ms", "recall_cpu ms", "filtered ms", "unfiltered ms")
    rows = [[f"{row['records']:,}", *(f"{row[one]:.1f}" for one in names)] for row in rows_of(run, "queries")]
    return table(["records", "recall, ms", "its processor time", "Chroma, filtered", "Chroma, unfiltered"], rows)


def inside_langchain(run: Run) -> str:
    """Median milliseconds of each retriever."""
    rows = []
    for size, own in by(rows_of(run, "langchain"), "records").items():
        for what, calls in by(own, "what").items():
            taken = {row["retriever"]: row for row in calls}
            rows.append([f"{int(size):,}", what, *(f"{taken[one]['p50 ms']:.1f}" for one in RETRIEVERS)])
    return table(["records", "median ms", *RETRIEVERS.values()], rows)


def sessions(run: Run) -> str:
    """LoCoMo by sessions, as others publish LongMemEval."""
    measures = {f"session {one}": one for one in ("R@5", "R@10", "NDCG@10", "hit@1", "all@5")}
    measures |= {"evidence in 1000 tokens": "evidence in 1,000 tokens"}
    part, rows = parts_of(run, "sessions")["locomo"], []
    for system in OF_SESSIONS:
        row = of_system(part, system)
        rows.append([SYSTEMS[system], *(share(row[one]) for one in measures), f"{row['tokens to cover']:.0f}"])
    return table([_asked_of(part), "session R@5", *list(measures.values())[1:], "tokens to cover the answer"], rows)


def peers(run: Run) -> str:
    """The time-weighted peers on LoCoMo, with the difference from plain Chroma."""
    names = ("NDCG@10", "recall@10", "session R@5", "session hit@1", "evidence in 1000 tokens")
    part, rows = parts_of(run, "sessions")["locomo"], []
    for system in PEERS:
        row = of_system(part, system)
        rows.append([SYSTEMS[system], *(share(row[one]) for one in names), difference(row)])
    return table([_asked_of(part), *names, "NDCG@10 less plain Chroma's"], rows)


def rot(run: Run) -> str:
    """NDCG@10 before, and its change by reading."""
    found = parts_of(run, "rot")
    listed = {row["policy"]: None for part in found.values() for row in part["rows"]}
    own = {name: {row["policy"]: row for row in part["rows"]} for name, part in found.items()}
    rows = [[policy, *(_moved(own[name].get(policy)) for name in found)] for policy in listed]
    return table(["policy", *(SETS.get(name, name) for name in found)], rows)


def _asked_of(part: Part) -> str:
    return f"({part['rows'][0]['questions']:,} questions)"


def _moved(row: Row | None) -> str:
    if row is None:
        return "-"
    return f"{share(row['before'])}, {row['change %']:+.1f} % [{row['from %']}, {row['to %']}]"


Text = tuple[str, Callable[[Run], str]]


def _texts() -> Iterator[tuple[str, Text]]:
    """The name of each place, with the file in benchmarks/recorded that it is of and what makes its text."""
    for make in (quality, milliseconds, beside_queries, inside_langchain, sessions, peers):
        yield make.__name__.replace("_", "-"), ("bench", make)
    for sentence in (
        sentences.finds_more,
        sentences.gains_little,
        sentences.costs_little,
        sentences.costs_more,
        sentences.about,
        sentences.date,
        sentences.best_session,
        sentences.speed_load,
        sentences.langchain_about,
    ):
        yield sentence.__name__.replace("_", "-"), ("bench", sentence)
    yield "peers-milliseconds", ("bench", sentences.peers_milliseconds)
    yield "how-recorded", ("bench", sentences.how_recorded)
    yield "does-not-rot", ("rot", sentences.does_not_rot)
    yield "rot", ("rot", rot)
    yield "rot-about", ("rot", sentences.about)
    for file in ("rot", "feedback", "learning", "embedders"):
        yield f"{file}-how-recorded", (file, sentences.how_recorded)


TEXTS: Mapping[str, Text] = dict(_texts())
