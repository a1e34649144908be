"""Does a recall find what answers the question? Beside plain Chroma, BM25 alone, rank fusion and naive chunks.

    python -m benchmarks.recall_quality --data DIR
    python -m benchmarks.recall_quality --data DIR --embedder minilm --vectors DIR2
    python -m benchmarks.recall_quality --data DIR --sets locomo --every 3 --embedder trigrams

`--sets`, `--every` and `--systems` measure it in parts, `--vectors` keeps what a slow embedder has made.

Nothing is read (`reinforce=False`); all systems have the same embedder. LoCoMo: categories 1 to 4, one turn a record,
with its speaker, session and order as metadata, asked a day after the conversation; for the baselines, which know no
metadata, the speaker stands in the text. Chats with an assistant are asked in the same way, and `mixture` is all sets
in the memory of one user, with a line for each set's questions. The last table has one line a set: the default beside
each channel alone. "vectors alone" and "words alone" are the default's own channels, each by itself.
`r500` and `r1000` are the share of the evidence within so many tokens (characters / 4, "Speaker: text", and 6 for each
session's heading), `all 1000` the share of questions with all of it.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import chromadb

from adaptive_memory_core import AdaptiveMemory, Keeping, LocalEmbedder, Policy
from adaptive_memory_core.evaluate.intervals import paired_difference
from adaptive_memory_core.evaluate.metrics import mean, ndcg_at, recall_at
from adaptive_memory_core.models.embedder import Embedder
from adaptive_memory_core.policy import Advanced
from benchmarks.baselines import ALONE as BY_RELEVANCE
from benchmarks.baselines import BOTH, ONLY_WORDS, RRF, Ranking, baselines, chunked, recalled
from benchmarks.conversation_measures import CATEGORIES, of_conversations
from benchmarks.data import Dataset, Item, Question, add_data_argument
from benchmarks.embedders import EMBEDDERS, embedder_of
from benchmarks.mixture import MIXTURE, data_of, of_set
from benchmarks.recorded_parts import recorded
from benchmarks.report import TableRow, print_table
from benchmarks.rot import DAY, user_of

CONVERSATIONS = ("locomo",)
SETS = (
    *("locomo", "assistant_chats", "madial_en", "hotpotqa_200", "musique_100", "twowiki_101", "timeqa_human"),
    *("banking77", "clinc150", MIXTURE),
)
K, DEEP = 10, 60
ALONE, WORDS, DEFAULT, CHUNKS = "vectors alone", "words alone", "default", "chunks"
SYSTEMS = ("Chroma", "BM25", f"RRF {RRF}", CHUNKS, DEFAULT)
POLICIES = {
    ALONE: Policy(channels=("dense",)),
    WORDS: Policy(weights=BY_RELEVANCE, advanced=Advanced(fusion=ONLY_WORDS), channels=BOTH),
    DEFAULT: Policy(),
}
Row = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_data_argument(parser)
    parser.add_argument("--sets", nargs="+", default=list(SETS))
    parser.add_argument("--embedder", choices=list(EMBEDDERS), default="local")
    parser.add_argument(
        "--systems", nargs="+", choices=[*SYSTEMS, ALONE, WORDS], default=list(SYSTEMS), help="leave out the others"
    )
    parser.add_argument("--every", type=int, default=1, help="ask every so-manieth question only")
    parser.add_argument("--questions", type=int, default=800, help="at most so many of a set; LoCoMo has all of them")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kept", type=Path, help="a directory for the memories, so that the next run has them at once")
    parser.add_argument(
        "--vectors", type=Path, help="a directory for the embedder's vectors, so that each is made once"
    )
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    rows: list[TableRow] = []
    for name in arguments.sets:
        measure = partial(rows_of, data_of(arguments.data, name, SETS, arguments.seed), arguments)
        part = f"{arguments.embedder}: {name}"
        found = recorded(arguments.json, part, measure, command=sys.argv, settings=vars(arguments))
        print_table(found, title=f"What recalls find in {name}, embedder {arguments.embedder}")
        rows += found
    print_table(list(beside_each_other(rows)), title=f"Recall@10 / NDCG@10, embedder {arguments.embedder}")


def rows_of(data: Dataset, arguments: argparse.Namespace) -> Iterator[Row]:
    questions = asked(data, arguments.questions, arguments.seed)[:: arguments.every]
    items = {item.id: item for item in data.items}
    base: list[float] | None = None
    for name, rankings in answers(data, questions, arguments):
        row, gains = measured(data, items, questions, rankings)
        base = gains if name == "BM25" else base
        yield {"set": data.name, "questions": len(questions), "system": name, **row, **_against(gains, base, arguments)}
        if data.name == MIXTURE:
            yield from _of_each(data, items, questions, rankings, name)


def _of_each(
    data: Dataset,
    items: Mapping[str, Item],
    questions: Sequence[Question],
    rankings: Sequence[Ranking],
    system: str,
) -> Iterator[Row]:
    """A row for the questions of each set in the mixture."""
    for one in dict.fromkeys(map(of_set, questions)):
        own = [number for number, question in enumerate(questions) if of_set(question) == one]
        row, _ = measured(data, items, [questions[number] for number in own], [rankings[number] for number in own])
        yield {"set": f"{MIXTURE}: {one}", "questions": len(own), "system": system, **row}


def beside_each_other(rows: Sequence[TableRow]) -> Iterator[Row]:
    """A row a set, with the figures of each system."""
    for name in dict.fromkeys(row["set"] for row in rows):
        own = [row for row in rows if row["set"] == name]
        yield {"set": name, **{row["system"]: f"{row['recall@10']:.3f} / {row['NDCG@10']:.3f}" for row in own}}


def answers(
    data: Dataset, questions: Sequence[Question], arguments: argparse.Namespace
) -> Iterator[tuple[str, list[Ranking]]]:
    """Each system's name, and its ranking for every question."""
    embed = embedder_of(arguments.embedder, vectors=arguments.vectors)
    others = [one for one in arguments.systems if one not in POLICIES]
    if others:
        yield from _of_others(data, questions, embed, others)
    with opened("ours", data, turn, embed, arguments.kept) as memory:
        for system in [one for one in POLICIES if one in arguments.systems]:
            ask = recalled(memory, POLICIES[system], ends(data))
            yield system, [ask(question, DEEP) for question in questions]


def _of_others(
    data: Dataset, questions: Sequence[Question], embed: Embedder, wanted: Sequence[str]
) -> Iterator[tuple[str, list[Ranking]]]:
    with opened("plain", data, plain, embed) as memory:
        for name, ask in baselines(memory, data):
            if name in wanted:
                yield name, [ask(question, DEEP) for question in questions]
    if data.name in CONVERSATIONS and CHUNKS in wanted:
        ask = chunked(data, embed.embed_documents)
        yield CHUNKS, [ask(question, DEEP) for question in questions]


def asked(data: Dataset, most: int, seed: int) -> list[Question]:
    """The questions with an answer; of LoCoMo those of categories 1 to 4."""
    if data.name in CONVERSATIONS:
        return [one for one in data.scorable if one.more.get("category") in CATEGORIES]
    questions = list(data.scorable)
    random.Random(seed).shuffle(questions)
    return questions[:most]


def ends(data: Dataset) -> dict[str | None, float | None]:
    """When each user is asked: a day after their last record, if its time is known."""
    last: dict[str | None, float | None] = {}
    for item in data.items:
        if item.ts is not None:
            last[item.tenant] = max(item.ts + DAY, last.get(item.tenant) or 0.0)
    return last


def opened(
    name: str,
    data: Dataset,
    shape: Callable[[Item], Mapping[str, Any]],
    embed: Any = None,
    kept: Path | None = None,
    **options: Any,
) -> AdaptiveMemory:
    """A memory that holds the data: in RAM, or in the directory where an earlier run has kept it."""
    client = chromadb.EphemeralClient() if kept is None else chromadb.PersistentClient(kept)
    source = LocalEmbedder() if embed is None else embed
    collection = client.get_or_create_collection(
        f"quality-{name}-{data.name}-{source.name[:20]}",
        embedding_function=None,
        configuration={"hnsw": {"space": "cosine", "sync_threshold": 100_000}},
    )
    memory = AdaptiveMemory(collection, embedder=source, keeping=Keeping(log=False, lag_seconds=3600), **options)
    if collection.count() < len(data.items):
        for tenant in dict.fromkeys(item.tenant for item in data.items):
            own = [shape(item) for item in data.items if item.tenant == tenant]
            memory.for_user(user_of(tenant)).remember_many(own)
    return memory


def plain(item: Item) -> Mapping[str, Any]:
    return {"text": item.labelled_text, "id": item.id, "created_at": item.ts}


def turn(item: Item) -> Mapping[str, Any]:
    """With what a conversation knows of it as metadata, where it is one."""
    if item.speaker is None:
        return plain(item)
    told = {"speaker": item.speaker, "session": item.session, "seq": item.seq}
    return {"text": item.text, "id": item.id, "created_at": item.ts, "metadata": told}


def measured(
    data: Dataset, items: Mapping[str, Item], questions: Sequence[Question], rankings: Sequence[Ranking]
) -> tuple[Row, list[float]]:
    """The means of all measures, and NDCG@10 of each question."""
    pairs = list(zip(rankings, (question.gold_ids for question in questions), strict=True))
    gains = [ndcg_at(ranking, gold, k=K) for ranking, gold in pairs]
    found = [recall_at(ranking, gold, k=K) for ranking, gold in pairs]
    row: Row = {"recall@10": round(mean(found), 3), "NDCG@10": round(mean(gains), 3)}
    if data.name not in CONVERSATIONS:
        return row, gains
    row |= of_conversations(items, questions, rankings, found)
    return row, gains


def _against(gains: Sequence[float], base: Sequence[float] | None, arguments: argparse.Namespace) -> Row:
    over = "NDCG over BM25"
    if base is None or base is gains:
        return {over: "", "95 %": ""}
    change = paired_difference(gains, base, seed=arguments.seed)
    return {over: f"{change.mean:+.3f}", "95 %": f"{change.low:+.3f} to {change.high:+.3f}"}


if __name__ == "__main__":
    main()
