"""How does 2WikiMultihopQA become a folder? As HotpotQA; our sample has its corpus and its questions from two others.

HippoRAG publishes a corpus of 6,119 passages, fast-graphrag 101 questions with the titles that answer them, 51 of these
in a shorter list, and which of them take several steps.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.prepare.draw import Draw
from benchmarks.prepare.hotpotqa import pairs
from benchmarks.prepare.pooled import Asked, item, pooled
from benchmarks.prepare.public_set import Files, Row, Rows, UnusableError
from benchmarks.prepare.published_files import json_rows, needed

CORPUS = "2wikimultihopqa_corpus.json"
ANSWERED, SHORTER = "results/graph/2wikimultihopqa_101.json", "results/graph/2wikimultihopqa_51.json"
SEVERAL_STEPS = "questions/2wikimultihopqa_101.json"


def rows(files: Files, draw: Draw) -> Rows:
    """The questions that are drawn, of the set's own file."""
    return pooled(map(_asked, draw.of(list(_published(next(iter(files.values())))))))


def rows_of_our_sample(files: Files, _: Draw) -> Rows:
    """The whole corpus, and the 101 questions in the order of the alphabet."""
    passages = json_rows(files[CORPUS])
    corpus = [item(f"p{number}", one["title"], one["text"]) for number, one in enumerate(passages)]
    shorter = {row["question"] for row in json_rows(files[SHORTER])}
    steps = set(json_rows(files[SEVERAL_STEPS]))
    answered = sorted(json_rows(files[ANSWERED]), key=lambda row: str(row["question"]))
    named = {row["title"]: row["id"] for row in corpus}
    return Rows(corpus, [_query(number, row, named, shorter, steps) for number, row in enumerate(answered)])


def _query(number: int, row: dict[str, Any], named: dict[str, str], shorter: set[str], steps: set[str]) -> Row:
    titles = sorted(set(row["ground_truth"]))
    if missing := [title for title in titles if title not in named]:
        raise UnusableError(f"{CORPUS} has no passage {missing[0]!r}, which answers {row['question']!r}.")
    return {
        "id": f"2wiki-{number}",
        "query": row["question"],
        "gold_ids": [named[title] for title in titles],
        "type": f"{len(titles)}-doc",
        "in_51_subset": row["question"] in shorter,
        "in_fastgraphrag_multihop_list": row["question"] in steps,
    }


def _published(path: Path) -> Iterator[dict[str, Any]]:
    for row in json_rows(path):
        needed(row, path, "_id", "question", "answer", "type", "supporting_facts", "context")
        yield row


def _asked(row: dict[str, Any]) -> Asked:
    facts = pairs(row["supporting_facts"], "title", "sent_id")
    paragraphs = [(title, " ".join(sentences)) for title, sentences in pairs(row["context"], "title", "content")]
    place = {title: number for number, (title, _) in enumerate(paragraphs)}
    more = {"answer": row["answer"], "type": row["type"], "supporting_facts": facts}
    return Asked(row["_id"], row["question"], paragraphs, [place[title] for title, _ in facts if title in place], more)
