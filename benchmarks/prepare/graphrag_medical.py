"""GraphRAG-Bench's Medical set as a folder: its one text is cut into pieces, and a rule finds the gold among them.

The set publishes no gold passages. The gold of a question is the piece that textbook BM25 finds for its evidence, or
for its answer in the first version of the file, which has no evidence. So recall on this set measures agreement with a
rule; answers are judged without it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from adaptive_memory_core.evaluate.systems import BM25
from benchmarks.prepare.draw import Draw
from benchmarks.prepare.one_line import one_line
from benchmarks.prepare.public_set import Files, Row, Rows
from benchmarks.prepare.published_files import json_rows, needed

CORPUS, QUESTIONS = "medical.json", "medical_questions.json"
LONGEST = 1_200  # characters of a piece, about 300 tokens; a longer sentence is a piece by itself
SENTENCE_ENDS = re.compile(r"(?<=[.?!])\s+")


def rows(files: Files, draw: Draw) -> Rows:
    """The pieces of the text, and the questions that are drawn."""
    pieces = [piece for text in _texts(files[CORPUS]) for piece in _pieces(text)]
    find = BM25(pieces)
    corpus = [{"id": f"m{number}", "seq": number, "text": text} for number, text in enumerate(pieces)]
    return Rows(corpus, [_query(row, find) for row in draw.of(_published(files[QUESTIONS]))])


def _texts(path: Path) -> list[str]:
    told = json_rows(path)
    entries = [told] if isinstance(told, dict) else told
    for one in entries:
        needed(one, path, "corpus_name", "context")
    return [one["context"] for one in entries]


def _pieces(text: str) -> Iterator[str]:
    """Whole sentences, as many as a piece takes.

    >>> [len(one) for one in _pieces(" ".join(["A sentence."] * 150))]
    [1199, 599]
    """
    piece = ""
    for sentence in SENTENCE_ENDS.split(one_line(text)):
        if piece and len(piece) + len(sentence) >= LONGEST:
            yield piece
            piece = ""
        piece = f"{piece} {sentence}".strip()
    if piece:
        yield piece


def _published(path: Path) -> list[Row]:
    found: list[Row] = json_rows(path)
    for row in found:
        needed(row, path, "id", "question", "answer", "question_type")
    return found


def _query(row: Row, find: BM25) -> Row:
    told: Any = row.get("evidence") or row["answer"]
    scores = [find(str(one)) for one in (told if isinstance(told, list) else [told])]
    gold = [f"m{int(one.argmax())}" for one in scores if one.max() > 0.0]
    return {
        "id": row["id"],
        "query": one_line(row["question"]),
        "gold_ids": list(dict.fromkeys(gold)),
        "answer": one_line(row["answer"]),
        "type": row["question_type"],
    }
