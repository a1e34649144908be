"""Is "nothing found" true? Questions about things never stored, beside what the same floor costs those with an answer.

    python -m benchmarks.nothing_found --data DIR
    python -m benchmarks.nothing_found --data DIR --sets locomo --embedder e5 --vectors KEPT --channels "dense + words"

Two memories: utterances of clinc150's intents (twenty of each of its training split), asked its questions of the test
split and those out of scope; and LoCoMo's users, each asked their own questions (categories 1 to 4) and as many of
another conversation. The floor is calibrated on the memory alone, with the questions that the package brings: no label
and no question of the data is used. `--half tuning` is what its one constant was looked at on afterwards: LoCoMo's
first five users, clinc150's smaller splits out of scope and its validation questions; the default is the other half. It
was set before there were halves, in view of all of it.

`answered` are the unrelated questions that got any answer, at a target of so many. `kept` is the share of the others
that still did; recall@10 (of at most ten; for clinc150, of utterances of the intent asked for) and hit@1 are with the
floor, in brackets without one. `AUC` is how well the measure separates the two kinds of question. LoCoMo has a third
kind: `never talked of` are the package's own questions about people, with the name of a speaker, most of them about
something that was never said. `--shift` makes each cosine 0.3 cos + 0.7, as it is with embedders whose cosines are all
high.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import chromadb
import numpy as np

from adaptive_memory_core import AdaptiveMemory, Keeping, Policy, Recall
from adaptive_memory_core.cue.unrelated_questions import UNRELATED
from adaptive_memory_core.evaluate.metrics import mean
from adaptive_memory_core.graph.names import names_in_sentence
from adaptive_memory_core.models.embedder import Embedder
from adaptive_memory_core.policy import Advanced
from benchmarks.data import Dataset, Question, add_data_argument, load
from benchmarks.embedders import EMBEDDERS, embedder_of
from benchmarks.recall_quality import turn
from benchmarks.report import print_table, write_json
from benchmarks.rot import user_of

K, EACH = 10, 20
FIRST_ABOUT_PEOPLE = "What did the senator say about the farming bill?"
TARGETS = (0.02, 0.05, 0.1)
BOTH: Any = ("dense", "lexical")
CHANNELS = {
    "dense": Policy(advanced=Advanced(unrelated_answered=0.5), channels=("dense",)),
    "dense + words": Policy(advanced=Advanced(unrelated_answered=0.5), channels=BOTH),
}
SPLITS = {"tuning": ("val", ("oos_train", "oos_val")), "held out": ("test", ("oos_test",))}


@dataclass(frozen=True, slots=True)
class Asked:
    """A question to a user's memory; without gold it is about something that was never stored there."""

    user: str
    query: str
    gold: frozenset[str] = frozenset()
    names_speaker: bool = False  # and is about nothing that was said


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of it: the share of unrelated questions that find as good (0 where the floor does not apply), and the
    ranking without a floor."""

    unrelated: float
    ranking: Sequence[str]
    gold: frozenset[str]
    names_speaker: bool


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_data_argument(parser)
    parser.add_argument("--half", choices=tuple(SPLITS), default="held out")
    parser.add_argument("--questions", type=int, default=800, help="at most so many of each kind and set")
    parser.add_argument("--sets", nargs="+", choices=tuple(SETS), default=list(SETS))
    parser.add_argument("--channels", nargs="+", choices=tuple(CHANNELS), default=list(CHANNELS))
    parser.add_argument("--embedder", choices=list(EMBEDDERS), default="local")
    parser.add_argument("--vectors", type=Path, help="a folder where vectors are kept")
    parser.add_argument("--shift", action="store_true", help="make all cosines high")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    chance = random.Random(arguments.seed)
    embedder = embedder_of(arguments.embedder, vectors=arguments.vectors)
    if arguments.shift:
        embedder = shifted(embedder)
    rows: list[dict[str, Any]] = []
    for name in arguments.sets:
        records, own, others = SETS[name](load(arguments.data, name), arguments.half, chance)
        asked = [*sample(own, arguments.questions, chance), *sample(others, arguments.questions, chance)]
        if name == "locomo":
            asked += never_talked_of(records, arguments.questions, chance)
        found = rows_of(name, records, asked, embedder, arguments.channels)
        rows += [{"set": name, "embedder": arguments.embedder, **row} for row in found]
    print_table(rows, title=f"What a relevance floor lets through, {arguments.half}")
    if arguments.json:
        write_json(arguments.json, rows, command=sys.argv, settings=vars(arguments))


Memories = Mapping[str, Sequence[Mapping[str, Any]]]


def intents(data: Dataset, half: str, chance: random.Random) -> tuple[Memories, list[Asked], list[Asked]]:
    """One user who has noted utterances of every intent."""
    known, unknown = SPLITS[half]
    stored: dict[str, list[Question]] = {}
    for question in data.questions:
        if question.split == "train":
            stored.setdefault(question.gold_ids[0], []).append(question)
    stored = {intent: sample(own, EACH, chance) for intent, own in stored.items()}
    gold = {intent: frozenset(one.id for one in own) for intent, own in stored.items()}
    records = [{"id": one.id, "text": one.query} for own in stored.values() for one in own]
    own = [Asked("user", one.query, gold[one.gold_ids[0]]) for one in data.questions if one.split == known]
    return {"user": records}, own, [Asked("user", one.query) for one in data.questions if one.split in unknown]


def conversations(data: Dataset, half: str, chance: random.Random) -> tuple[Memories, list[Asked], list[Asked]]:
    """Half of LoCoMo's users, asked about their own conversation and about another of that half."""
    tenants = sorted({str(item.tenant) for item in data.items})
    some = tenants[: len(tenants) // 2] if half == "tuning" else tenants[len(tenants) // 2 :]
    records = {user_of(one): [turn(item) for item in data.items if item.tenant == one] for one in some}
    questions = [one for one in data.scorable if one.tenant in some and one.more.get("category") in (1, 2, 3, 4)]
    own = [Asked(user_of(one.tenant), one.query, frozenset(one.gold_ids)) for one in questions]
    strangers = [Asked(user_of(chance.choice([t for t in some if t != one.tenant])), one.query) for one in questions]
    return records, own, strangers


SETS = {"clinc150": intents, "locomo": conversations}


def never_talked_of(records: Memories, count: int, chance: random.Random) -> list[Asked]:
    """Our own questions about people that nobody knows, with the name of a speaker instead."""
    about = [
        (one, found[0])
        for one in UNRELATED[UNRELATED.index(FIRST_ABOUT_PEOPLE) :]
        if (found := names_in_sentence(one[one.index(" ") :]))
    ]
    asked = []
    for _ in range(count if about else 0):
        user, (question, name) = chance.choice(sorted(records)), chance.choice(about)
        speaker = chance.choice(sorted({str(one["metadata"]["speaker"]) for one in records[user]}))
        asked.append(Asked(user, re.sub(name, speaker, question, flags=re.IGNORECASE), names_speaker=True))
    return asked


def shifted(embedder: Embedder) -> Embedder:
    """v -> (sqrt(0.3) v, sqrt(0.7)), which ranks vectors as before."""

    def moved(vectors: Any) -> Any:
        rows = np.asarray(vectors, dtype=np.float32)
        rows = rows / np.maximum(np.linalg.norm(rows, axis=-1, keepdims=True), 1e-9)
        return np.concatenate([np.sqrt(0.3) * rows, np.full((*rows.shape[:-1], 1), np.sqrt(0.7))], axis=-1)

    return Embedder(
        f"shifted {embedder.name}",
        lambda texts: moved(embedder.embed_documents(texts)),
        lambda text: moved(embedder.embed_query(text)),
    )


def sample(given: Sequence[Any], most: int, chance: random.Random) -> list[Any]:
    return chance.sample(list(given), min(most, len(given)))


def rows_of(
    name: str, records: Memories, asked: Sequence[Asked], embedder: Embedder, channels: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """A row for each way of looking and each target."""
    collection = chromadb.EphemeralClient().create_collection(
        f"nothing-found-{name}", embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
    )
    with closing(AdaptiveMemory(collection, embedder=embedder, keeping=Keeping(log=False))) as memory:
        for user, own in records.items():
            memory.for_user(user).remember_many(own)
        for one in channels:
            policy = CHANNELS[one]
            for user in records:
                memory.for_user(user).calibrate(policy=policy)
            answers = [answered(memory, policy, question) for question in asked]
            yield from ({"channels": one, **measured(answers, target)} for target in TARGETS)


def answered(memory: AdaptiveMemory, policy: Policy, asked: Asked) -> Answer:
    found = memory.for_user(asked.user).recall(asked.query, k=K, reinforce=False, policy=policy)
    return Answer(0.0 if found.unrelated is None else found.unrelated, ranking(found), asked.gold, asked.names_speaker)


def ranking(found: Recall) -> Sequence[str]:
    """The hits, also those that the floor has taken: they head the dropped ones."""
    return found.ids or [one.id for one in found.dropped[:K]]


def measured(answers: Sequence[Answer], target: float) -> dict[str, Any]:
    known = [one for one in answers if one.gold]
    unknown = [one for one in answers if not one.gold and not one.names_speaker]
    never = [one for one in answers if one.names_speaker]
    return {
        "target": target,
        "answered": mean([float(one.unrelated <= target) for one in unknown]),
        "kept": mean([float(one.unrelated <= target) for one in known]),
        "never talked of": mean([float(one.unrelated <= target) for one in never]) if never else None,
        "recall@10": beside([recall(one) for one in known], known, target),
        "hit@1": beside([float(one.ranking[0] in one.gold) if one.ranking else 0.0 for one in known], known, target),
        "AUC": separation([one.unrelated for one in known], [one.unrelated for one in unknown]),
        "questions": f"{len(known)} + {len(unknown)}",
    }


def recall(one: Answer) -> float:
    """The share of the gold among the first ten, or of ten where there is more."""
    return len(set(one.ranking[:K]) & one.gold) / min(K, len(one.gold))


def beside(values: Sequence[float], answers: Sequence[Answer], target: float) -> str:
    """With the floor, and without."""
    kept = [value if one.unrelated <= target else 0.0 for value, one in zip(values, answers, strict=True)]
    return f"{mean(kept):.3f} ({mean(values):.3f})"


def separation(low: Sequence[float], high: Sequence[float]) -> float:
    """The share of pairs in which the one that should be lower is; a tie is half.

    >>> separation([0.1, 0.3], [0.2, 0.3])
    0.625
    """
    pairs = [(one < other) + 0.5 * (one == other) for one in low for other in high]
    return mean(pairs)


if __name__ == "__main__":
    main()
