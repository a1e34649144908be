"""How does HotpotQA (distractor setting) become a folder? The ten paragraphs of each question are pooled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.prepare.draw import Draw
from benchmarks.prepare.pooled import Asked, pooled
from benchmarks.prepare.public_set import Files, Rows
from benchmarks.prepare.published_files import json_rows, needed
from benchmarks.prepare.sample_ids import sample, taken

Pairs = list[list[Any]]


def rows(files: Files, draw: Draw) -> Rows:
    """The questions that are drawn."""
    published = [row for path in files.values() for row in _published(path)]
    return pooled(_asked(row) for row in draw.of(published))


def rows_of_our_sample(files: Files, _: Draw) -> Rows:
    """The 200 questions behind our figures, whichever files they are in."""
    parts = sample("hotpotqa_200")
    published = {_id(row): row for path in files.values() for row in _published(path)}
    chosen = zip(parts.items(), taken("hotpotqa_200", parts, published), strict=True)
    return pooled(_asked(row, part=part) for (_, part), row in chosen)


def _published(path: Path) -> Iterator[dict[str, Any]]:
    for row in json_rows(path):
        needed(row, path, "question", "answer", "type", "level", "supporting_facts", "context")
        yield row


def _id(row: dict[str, Any]) -> str:
    return str(row.get("_id") or row.get("id"))


def _asked(row: dict[str, Any], **more: str) -> Asked:
    facts = pairs(row["supporting_facts"], "title", "sent_id")
    paragraphs = [(title, "".join(sentences)) for title, sentences in pairs(row["context"], "title", "sentences")]
    place = {title: number for number, (title, _) in enumerate(paragraphs)}
    said = {"answer": row["answer"], "type": row["type"], "level": row["level"], **more, "supporting_facts": facts}
    return Asked(_id(row), row["question"], paragraphs, [place[title] for title, _ in facts if title in place], said)


def pairs(given: Sequence[Sequence[Any]] | Mapping[str, Sequence[Any]], first: str, second: str) -> Pairs:
    """The pairs, from the set's own form or from the columns in which data hubs hand it on.

    >>> pairs([["Rome", 0]], "title", "sent_id") == pairs({"title": ["Rome"], "sent_id": [0]}, "title", "sent_id")
    True
    """
    if isinstance(given, Mapping):
        return [list(pair) for pair in zip(given[first], given[second], strict=True)]
    return [list(pair) for pair in given]
