"""Which sentences of a page hold figures of a recorded run? What the README promises, and on what it was measured."""

from __future__ import annotations

from collections.abc import Iterable

from benchmarks.recorded_figures import (
    NONE,
    SETS,
    Part,
    Run,
    may_be_chance,
    of_system,
    parts_of,
    share,
    signed,
    table,
)


def finds_more(run: Run) -> str:
    """What the default finds of long conversations, next to plain vector search."""
    part = parts_of(run, "quality")["locomo"]
    ours, plain = of_system(part, "adaptive"), of_system(part, "chroma")
    return (
        f"recall@10 is {share(ours['recall@10'])}, with plain Chroma {share(plain['recall@10'])} "
        f"(LoCoMo, {ours['questions']:,} questions about long conversations)"
    )


def gains_little(run: Run) -> str:
    """The sets on which the difference may be chance."""
    rows = {name: of_system(part, "adaptive") for name, part in parts_of(run, "quality").items()}
    told = [f"{SETS.get(one, one)} {signed(row['over Chroma'])}" for one, row in rows.items() if may_be_chance(row)]
    return f"no sure gain on {', '.join(told)} (NDCG@10)"


def does_not_rot(run: Run) -> str:
    """What reading has changed of what is found."""
    rows = {row["policy"]: row for row in parts_of(run, "rot")["locomo"]["rows"]}
    ours, equal = rows["default"], rows["equal"]
    return (
        f"after 60 unrelated reads per user, NDCG@10 on LoCoMo changes by {ours['change %']:+.1f} % "
        f"[{ours['from %']}, {ours['to %']}]; with the equal weights of the literature it changes by "
        f"{equal['change %']:+.0f} %"
    )


def costs_little(run: Run) -> str:
    """A whole recall, next to Chroma's query for the user's records."""
    row = parts_of(run, "queries")["1000"]["rows"][0]
    return (
        f"{row['recall ms']:.1f} ms for a recall over {row['records']:,} records of a user, with everything counted; "
        f"Chroma's own query with the user's filter takes {row['filtered ms']:.1f} ms"
    )


def costs_more(run: Run) -> str:
    """What Chroma's query takes that looks at nobody's name, in the same run."""
    row = parts_of(run, "queries")["1000"]["rows"][0]
    return f"Chroma's query without a filter takes {row['unfiltered ms']:.1f} ms"


def best_session(run: Run) -> str:
    """How sure the difference of the default from plain Chroma is, on LoCoMo asked for 50 hits."""
    part = parts_of(run, "sessions")["locomo"]
    ours, plain = of_system(part, "adaptive"), of_system(part, "chroma")
    low, high = ours["95 %"]
    return (
        f"The default's NDCG@10 is {share(ours['over Chroma'])} [{share(low)}, {share(high)}] above plain Chroma's, "
        f"with whole conversations drawn, and the share of its first hits that are of a session that answers is "
        f"{share(ours['session hit@1'])} against {share(plain['session hit@1'])}"
    )


def peers_milliseconds(run: Run) -> str:
    """The medians of LoCoMo's recalls with 50 hits."""
    part = parts_of(run, "sessions")["locomo"]
    told = {"chroma": "Chroma", "langchain_time_weighted": "LangChain's", "llama_time_weighted": "LlamaIndex's"}
    told |= {"static": "`static`", "adaptive": "the default"}
    return ", ".join(f"{of_system(part, name)['median ms']:.1f} ms for {what}" for name, what in told.items())


def about(run: Run) -> str:
    """The days, the machines and what ran on them: what all parts have in common, or what there is of each."""
    parts = list(run.values())
    machines = _each(f"{one['machine']['cpus']} cores of {one['machine']['cpu']}" for one in parts)
    return (
        f"{date(run)}, {machines}, "
        f"Python {_version(parts, 'python')}, Chroma {_version(parts, 'chromadb')}, numpy {_version(parts, 'numpy')}"
    )


def speed_load(run: Run) -> str:
    """How busy the machine was when recalls were measured next to Chroma's queries."""
    return _each(_load(part) for part in parts_of(run, "queries").values())


def langchain_about(run: Run) -> str:
    """When calls inside LangChain were measured, and how busy the machine was."""
    part = parts_of(run, "langchain")["1000"]
    return f"{_day(part)}, at a load of {_load(part)}"


def date(run: Run) -> str:
    """The days on which parts ended."""
    return _each(sorted(_day(one) for one in run.values()))


def how_recorded(run: Run) -> str:
    """A line for each part: its command, day, commit, and how busy the machine was before it began."""
    lines = (
        [name, f"`{part['command']}`", _day(part), part["commit"] or NONE, _load(part), _took(part)]
        for name, part in sorted(run.items())
    )
    return table(["part", "command", "day", "commit", "load before", "took"], lines)


def _day(part: Part) -> str:
    return str(part["finished_at"])[:10]


def _load(part: Part) -> str:
    load = part["machine"]["load_average"]
    return NONE if load is None else f"{load[0]:.1f}"


def _took(part: Part) -> str:
    return NONE if part["seconds"] is None else f"{part['seconds']} s"


def _version(parts: Iterable[Part], name: str) -> str:
    return _each(str(one["versions"][name]) for one in parts)


def _each(values: Iterable[str]) -> str:
    """
    >>> _each(["1.5", "1.5"]), _each(["1.5", "1.6"])
    ('1.5', '1.5 and 1.6')
    """
    return " and ".join(dict.fromkeys(values))
