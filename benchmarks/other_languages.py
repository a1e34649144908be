"""Are records found by their words in other languages than English? Questions of our own, in thirteen of them.

    python -m benchmarks.other_languages

`benchmarks/questions/` has 50 records and questions a language. Each question shares a content word with its record, in
another form where the language inflects. Words alone count (all vectors are the same, with weight 0), once with the
records of one language in a scope and once with those of all. "told" is the share of texts whose language is told,
"wrong" the share taken for another one; the rest is treated as English is. What is told by its script is not counted.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import chromadb

from adaptive_memory_core import AdaptiveMemory, Policy
from adaptive_memory_core.channels.language_of_text import language_of
from adaptive_memory_core.channels.languages import CODES
from adaptive_memory_core.policy import Advanced, Fusion
from adaptive_memory_core.user_memory import UserMemory
from benchmarks.report import print_table

FOLDER = Path(__file__).parent / "questions"
WORDS_ALONE = Policy(channels=("dense", "lexical"), advanced=Advanced(fusion=Fusion(vectors=0)))


class Pair(NamedTuple):
    """A record and a question that it answers."""

    record: str
    question: str


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    print_table(list(rows(questions())), title="Found by words alone, share of the questions")


def questions() -> dict[str, list[Pair]]:
    """All there are, by language."""
    lines = {path.stem: path.read_text(encoding="utf-8").splitlines() for path in sorted(FOLDER.glob("*.tsv"))}
    return {code: [Pair(*line.split("\t")) for line in said] for code, said in lines.items()}


def rows(asked: Mapping[str, Sequence[Pair]]) -> Iterator[dict[str, Any]]:
    with words_alone() as memory:
        everything = memory.for_user("everything")
        everything.remember_many([{"id": one.record, "text": one.record} for own in asked.values() for one in own])
        for code, own in asked.items():
            alone = memory.for_user(code)
            alone.remember_many([{"id": one.record, "text": one.record} for one in own])
            yield {
                "language": code,
                "recall@5": found(alone, own, k=5),
                "recall@1": found(alone, own, k=1),
                "mixed@5": found(everything, own, k=5),
                **told(code, own),
            }


def words_alone() -> AdaptiveMemory:
    """A memory that finds by words alone."""
    collection = chromadb.EphemeralClient().get_or_create_collection("other_languages", embedding_function=None)
    return AdaptiveMemory(collection, embedder=lambda texts: [[1.0, 0.0] for _ in texts], policy=WORDS_ALONE)


def found(user: UserMemory, asked: Sequence[Pair], *, k: int) -> float:
    """The share of the questions whose record is among the first k."""
    hits = [one.record in [hit.id for hit in user.recall(one.question, k=k, reinforce=False)] for one in asked]
    return sum(hits) / len(hits)


def told(code: str, own: Sequence[Pair]) -> dict[str, float]:
    """How often the language of a short text is told."""
    if code not in CODES:
        return {}
    codes = [[language_of(one.record), language_of(one.question)] for one in own]
    both = [one for pair in codes for one in pair]
    return {"told": both.count(code) / len(both), "wrong": sum(one not in (code, None) for one in both) / len(both)}


if __name__ == "__main__":
    main()
