"""Does the graph find what takes several steps? Recall of all that a question needs, beside the usual systems.

    python -m benchmarks.multi_hop --data DIR
    python -m benchmarks.multi_hop --data DIR --corpora merged --titles with --embedder minilm
    python -m benchmarks.multi_hop --data DIR --sets locomo --corpora separate --titles with
    python -m benchmarks.multi_hop --data DIR --corpora merged --titles with --systems graph --names-alike 0.8 0.9

2WikiMultiHopQA, MuSiQue and HotpotQA, each with its own corpus and all with the three merged (of two passages with one
title the first stays). `without titles` their first lines, which are the titles, are taken away, and no metadata name
them. Nothing is read (`reinforce=False`), no model but the embedder is asked. Recall@k is the share of a question's
gold among the first k, with a bootstrapped interval of 95 %; `over hybrid` is the paired difference in recall@5, and
`over graph` that of the same channel with names taken for others that are so much like them (--names-alike).

All systems answer from the same memory in a folder, where vectors are compared one by one (an index of Chroma's in RAM
misses near ones now and then, others each time it is made): vectors alone, words alone, our hybrid of both (the
default), GAM-RAG as published, and the channel "graph" beside the hybrid. Any other folder in the same format can be
named with --sets; `corpus.jsonl.gz` has a title for each passage then, or its first line. The sets of HippoRAG 2, in
their own form, are read as well (benchmarks/hipporag_sets.py): put NAME.json and NAME_corpus.json into DIR and name
them with --sets.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from adaptive_memory_core import AdaptiveMemory, Policy, Recall
from adaptive_memory_core.evaluate.intervals import bootstrap, paired_difference
from adaptive_memory_core.evaluate.metrics import recall_at
from adaptive_memory_core.policy import Advanced
from benchmarks.baselines import ALONE, BOTH, ONLY_WORDS
from benchmarks.data import Dataset, Item, Question, add_data_argument
from benchmarks.embedders import EMBEDDERS, embedder_of
from benchmarks.hipporag_sets import either
from benchmarks.recall_quality import asked, ends, opened, turn
from benchmarks.report import print_table, write_json
from benchmarks.rot import user_of

SETS = ("twowiki_101", "musique_100", "hotpotqa_200")
WITH_GRAPH: Any = ("dense", "lexical", "graph")
SYSTEMS: Mapping[str, Policy] = {
    "dense": Policy(weights=ALONE, channels=("dense",), time_words="off"),
    "words": Policy(weights=ALONE, advanced=Advanced(fusion=ONLY_WORDS), channels=BOTH, time_words="off"),
    "hybrid": Policy(channels=BOTH),
    "paper": Policy.preset("gam_rag"),
    "graph": Policy(channels=WITH_GRAPH),
}
KS = (2, 5, 10)
Row = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_data_argument(parser)
    parser.add_argument("--sets", nargs="+", default=list(SETS))
    parser.add_argument("--corpora", nargs="+", choices=["separate", "merged"], default=["separate", "merged"])
    parser.add_argument("--titles", nargs="+", choices=["with", "without"], default=["with", "without"])
    parser.add_argument("--systems", nargs="+", choices=list(SYSTEMS), default=list(SYSTEMS))
    parser.add_argument("--names-alike", nargs="*", type=float, default=[])
    parser.add_argument("--embedder", choices=list(EMBEDDERS), default="local")
    parser.add_argument("--vectors", type=Path, help="a folder where vectors are kept")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    sets = [either(arguments.data, name) for name in arguments.sets]
    rows: list[Row] = []
    for title, corpus, questions in corpora(sets, arguments):
        found = list(found_in(corpus, questions, arguments))
        print_table(found, title=f"{title}, embedder {arguments.embedder}")
        rows += [{"corpus": title, **row} for row in found]
    if arguments.json:
        write_json(arguments.json, rows, command=sys.argv, settings=vars(arguments))


def corpora(
    sets: Sequence[Dataset], arguments: argparse.Namespace
) -> Iterator[tuple[str, Dataset, Mapping[str, Sequence[Question]]]]:
    """Each corpus that is asked for, and the questions that are asked of it, by their set."""
    for way in arguments.corpora:
        for titles in arguments.titles:
            for some in [[one] for one in sets] if way == "separate" else [sets]:
                corpus, questions = merged(some)
                own = corpus if titles == "with" else without_titles(corpus)
                yield f"{way}, {titles} titles: {', '.join(one.name for one in some)}", own, questions


def merged(sets: Sequence[Dataset]) -> tuple[Dataset, Mapping[str, Sequence[Question]]]:
    """One corpus of several, without passages whose title is there already, and each set's questions about it.

    >>> rome, rom = Item(id="1", title="Rome", text="Old."), Item(id="9", title="Rome", text="Very old.")
    >>> old = Question(id="q", query="How old?", gold_ids=("9",))
    >>> corpus, questions = merged([Dataset("a", (rome,), ()), Dataset("b", (rom,), (old,))])
    >>> [item.id for item in corpus.items], questions["b"][0].gold_ids
    (['a:1'], ('a:1',))
    """
    items: dict[str, Item] = {}
    questions: dict[str, Sequence[Question]] = {}
    for one in sets:
        ids = {}
        for item in one.items:
            key = item.title or f"{one.name}:{item.id}"
            ids[item.id] = items.setdefault(key, replace(item, id=f"{one.name}:{item.id}")).id
        wanted = asked(one, len(one.questions), 0)
        questions[one.name] = [replace(each, gold_ids=tuple(ids[gold] for gold in each.gold_ids)) for each in wanted]
    return Dataset("-".join(one.name for one in sets), tuple(items.values()), ()), questions


def without_titles(corpus: Dataset) -> Dataset:
    """Under another name, by which a memory of it is kept apart from that of the titled one."""
    return Dataset(f"{corpus.name}-untitled", tuple(map(untitled, corpus.items)), corpus.questions)


def untitled(item: Item) -> Item:
    """Without its title, in its text as well.

    >>> untitled(Item(id="1", title="Rome", text="Rome\\nOld.")).text
    'Old.'
    """
    text = item.text.removeprefix(f"{item.title}\n") if item.title else item.text
    return replace(item, title=None, text=text or item.text)


def shaped(item: Item) -> Mapping[str, Any]:
    """A record, with the title among its metadata."""
    record = dict(turn(item))
    return record if item.title is None else {**record, "metadata": {"title": item.title}}


def found_in(
    corpus: Dataset, questions: Mapping[str, Sequence[Question]], arguments: argparse.Namespace
) -> Iterator[Row]:
    """A row for each system and set."""
    embed = embedder_of(arguments.embedder, vectors=arguments.vectors)
    with tempfile.TemporaryDirectory() as kept, opened("hops", corpus, shaped, embed, Path(kept)) as memory:
        memory.sync()
        if arguments.names_alike:
            memory.ports().graph.compare_names()
        if "paper" in arguments.systems:
            memory.ports().graph.embed_sentences()
        complete(memory)
        base: dict[str, list[float]] = {}
        graph: dict[str, list[float]] = {}
        for system, policy in systems(arguments).items():
            for name, own in questions.items():
                recalls = [ranked(memory, question, policy, corpus) for question in own]
                shares = {k: [recall_at(r.ids, q.gold_ids, k=k) for r, q in zip(recalls, own, strict=True)] for k in KS}
                base.setdefault(name, shares[5]) if system == "hybrid" else None
                graph.setdefault(name, shares[5]) if system == "graph" else None
                yield {
                    "system": system,
                    "set": name,
                    "questions": len(own),
                    **measured(shares, base.get(name), arguments),
                    **over_graph(shares[5], graph.get(name), arguments),
                }


def systems(arguments: argparse.Namespace) -> dict[str, Policy]:
    """Those that are asked for, and the graph with names taken for others, at each likeness."""
    plain = SYSTEMS["graph"]
    alike = {
        f"graph, names {one:g} alike": plain.replace(advanced={"graph": {"names_alike": one}})
        for one in arguments.names_alike
    }
    return {**{name: SYSTEMS[name] for name in arguments.systems}, **alike}


def over_graph(shares: Sequence[float], graph: Sequence[float] | None, arguments: argparse.Namespace) -> dict[str, str]:
    if not arguments.names_alike or graph is None:
        return {}
    change = paired_difference(shares, graph, seed=arguments.seed)
    return {"over graph": f"{change.mean:+.3f} ({change.low:+.3f} to {change.high:+.3f})"}


def complete(memory: AdaptiveMemory) -> None:
    """Make the graph of all records."""
    memory.ports().graph.rebuild()


def ranked(memory: AdaptiveMemory, question: Question, policy: Policy, corpus: Dataset) -> Recall:
    user = memory.for_user(user_of(question.tenant))
    return user.recall(question.query, k=max(KS), now=ends(corpus).get(question.tenant), reinforce=False, policy=policy)


def measured(
    shares: Mapping[int, Sequence[float]], base: Sequence[float] | None, arguments: argparse.Namespace
) -> dict[str, str]:
    """Each recall with its interval, and the difference to the hybrid's."""
    row = {}
    for k, values in shares.items():
        interval = bootstrap(values, seed=arguments.seed)
        row[f"recall@{k}"] = f"{interval.mean:.3f}"
        row[f"95 % @{k}"] = f"{interval.low:.2f} to {interval.high:.2f}"
    if base is not None and base is not shares[5]:
        change = paired_difference(shares[5], base, seed=arguments.seed)
        row["over hybrid"] = f"{change.mean:+.3f} ({change.low:+.3f} to {change.high:+.3f})"
    return row


if __name__ == "__main__":
    main()
