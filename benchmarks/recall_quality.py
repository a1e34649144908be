"""Does a recall find what answers the question? Beside plain Chroma, BM25 alone and naive rank fusion, same embedder.

    python -m benchmarks.recall_quality --data DIR
    python -m benchmarks.recall_quality --data DIR --sets locomo --fit

Nothing is read (`reinforce=False`). LoCoMo: categories 1 to 4, one turn a record, with its speaker, session and order
as metadata; for the baselines, which know no metadata, the speaker stands in the text. `r500` and `r1000` are the share
of the evidence within so many tokens (characters / 4, "Speaker: text", and 6 for each session's heading).
`--fit` fits the weights on every other user's questions and measures on the rest, both ways round.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import chromadb

from adaptive_memory_core import AdaptiveMemory, Fusion, Keeping, LocalEmbedder, Policy, Weights
from adaptive_memory_core.evaluate.intervals import paired_difference
from adaptive_memory_core.evaluate.metrics import mean, ndcg_at, recall_at
from benchmarks.data import Dataset, Item, Question, add_data_argument, load
from benchmarks.fit import fitted
from benchmarks.report import print_table, write_json
from benchmarks.rot import said, user_of

CONVERSATIONS = ("locomo",)
SETS = ("locomo", "madial_en", "hotpotqa_200", "musique_100", "twowiki_101", "timeqa_human")
K, DEEP, RRF = 10, 60, 60
ALONE = Weights(recency=0, importance=0, similarity=1)
ONLY_WORDS = Fusion(dense=0, words=1, near=0, around=0, session=0, speaker=0)
Ranking = Sequence[str]
Ask = Callable[[Question, int], Ranking]


BOTH: Any = ("dense", "lexical")
HYBRID = Policy(channels=BOTH)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_data_argument(parser)
    parser.add_argument("--sets", nargs="+", default=list(SETS))
    parser.add_argument("--questions", type=int, default=800, help="at most so many of a set; LoCoMo has all of them")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--fit", action="store_true", help="also fit the weights, cross-wise (LoCoMo)")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    rows = [row for name in arguments.sets for row in rows_of(load(arguments.data, name), arguments)]
    print_table(rows, title="What recalls find")
    if arguments.json:
        write_json(arguments.json, rows, command=sys.argv, settings=vars(arguments))


def rows_of(data: Dataset, arguments: argparse.Namespace) -> Iterator[dict[str, Any]]:
    questions = asked(data, arguments.questions, arguments.seed)
    items = {item.id: item for item in data.items}
    base: list[float] | None = None
    with opened("plain", data, plain) as memory:
        rankers = dict(_baselines(memory))
        best = {name: [ask(question, DEEP) for question in questions] for name, ask in rankers.items()}
    with opened("ours", data, turn) as memory:
        best["words besides"] = [_ours(memory, HYBRID)(question, DEEP) for question in questions]
        if arguments.fit and data.name in CONVERSATIONS:
            best["cross-fitted"] = list(_cross_fitted(memory, questions))
    for name, rankings in best.items():
        row, gains = _measured(data, items, questions, rankings)
        base = gains if name == "BM25" else base
        yield {"set": data.name, "questions": len(questions), "system": name, **row, **_against(gains, base, arguments)}


def asked(data: Dataset, most: int, seed: int) -> list[Question]:
    """The questions with an answer; of LoCoMo those of categories 1 to 4."""
    if data.name in CONVERSATIONS:
        return [one for one in data.scorable if one.more.get("category") in (1, 2, 3, 4)]
    questions = list(data.scorable)
    random.Random(seed).shuffle(questions)
    return questions[:most]


def opened(name: str, data: Dataset, shape: Callable[[Item], Mapping[str, Any]]) -> AdaptiveMemory:
    """A memory in RAM that holds the data."""
    client = chromadb.EphemeralClient()
    collection = client.create_collection(
        f"quality-{name}-{data.name}", embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
    )
    memory = AdaptiveMemory(collection, embedder=LocalEmbedder(), keeping=Keeping(log=False, lag_seconds=3600))
    for tenant in dict.fromkeys(item.tenant for item in data.items):
        own = [shape(item) for item in data.items if item.tenant == tenant]
        memory.for_user(user_of(tenant)).remember_many(own)
    return memory


def plain(item: Item) -> Mapping[str, Any]:
    return {"text": said(item), "id": item.id, "created_at": item.ts}


def turn(item: Item) -> Mapping[str, Any]:
    """With what a conversation knows of it as metadata, where it is one."""
    if item.speaker is None:
        return plain(item)
    told = {"speaker": item.speaker, "session": item.session, "seq": item.seq}
    return {"text": item.text, "id": item.id, "created_at": item.ts, "metadata": told}


def _baselines(memory: AdaptiveMemory) -> Iterator[tuple[str, Ask]]:
    """Plain vector search, words alone, and reciprocal rank fusion of the two as everybody does it."""
    dense = _ours(memory, Policy(weights=ALONE, channels=("dense",)))
    words = _ours(memory, Policy(weights=ALONE, fusion=ONLY_WORDS, channels=BOTH))

    def fused(question: Question, k: int) -> Ranking:
        ranks: dict[str, float] = {}
        for ask in (dense, words):
            for rank, one in enumerate(ask(question, k), start=1):
                ranks[one] = ranks.get(one, 0.0) + 1.0 / (RRF + rank)
        return sorted(ranks, key=lambda one: -ranks[one])[:k]

    yield from (("Chroma", dense), ("BM25", words), (f"RRF {RRF}", fused))


def _ours(memory: AdaptiveMemory, policy: Policy) -> Ask:
    def ask(question: Question, k: int) -> Ranking:
        scope = memory.for_user(user_of(question.tenant))
        return scope.recall(question.query, k=k, reinforce=False, policy=policy).ids

    return ask


def _cross_fitted(memory: AdaptiveMemory, questions: Sequence[Question]) -> Iterator[Ranking]:
    """Each question ranked with weights that were fitted without its user."""
    users = sorted({question.tenant for question in questions if question.tenant is not None})
    halves = [set(users[::2]), set(users[1::2])]
    policies = []
    for half in halves:
        own = [question for question in questions if question.tenant in half]
        policies.append(HYBRID.replace(fusion=fitted(memory, own)))
        print("fitted:", policies[-1].fusion, file=sys.stderr)
    for question in questions:
        yield _ours(memory, policies[0 if question.tenant in halves[1] else 1])(question, DEEP)


def _measured(
    data: Dataset, items: Mapping[str, Item], questions: Sequence[Question], rankings: Sequence[Ranking]
) -> tuple[dict[str, Any], list[float]]:
    pairs = list(zip(rankings, (question.gold_ids for question in questions), strict=True))
    gains = [ndcg_at(ranking, gold, k=K) for ranking, gold in pairs]
    row: dict[str, Any] = {
        "recall@10": round(mean([recall_at(ranking, gold, k=K) for ranking, gold in pairs]), 3),
        "NDCG@10": round(mean(gains), 3),
    }
    if data.name in CONVERSATIONS:
        sessions = [bool(r) and items[r[0]].session in {items[one].session for one in gold} for r, gold in pairs]
        row["session hit@1"] = round(mean([float(one) for one in sessions]), 3)
        for budget in (500, 1000):
            row[f"r{budget}"] = round(mean([evidence(ranking, gold, items, budget) for ranking, gold in pairs]), 3)
    return row, gains


def evidence(ranking: Ranking, gold: Sequence[str], items: Mapping[str, Item], budget: int) -> float:
    """The share of the gold among the first so many tokens."""
    spent, shown, headings = 0.0, set(), set()
    for one in ranking:
        spent += len(f"{said(items[one])}\n") / 4 + (0 if items[one].session in headings else 6)
        if spent > budget:
            break
        headings.add(items[one].session)
        shown.add(one)
    return len(shown & set(gold)) / len(set(gold))


def _against(gains: Sequence[float], base: Sequence[float] | None, arguments: argparse.Namespace) -> dict[str, Any]:
    if base is None or base is gains:
        return {"NDCG over BM25": "", "95 %": ""}
    change = paired_difference(gains, base, seed=arguments.seed)
    return {"NDCG over BM25": f"{change.mean:+.3f}", "95 %": f"{change.low:+.3f} to {change.high:+.3f}"}


if __name__ == "__main__":
    main()
