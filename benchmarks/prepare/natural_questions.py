"""Natural Questions as a folder: the paragraphs, tables and lists of each page are items, the long answer is gold.

Both published forms are read: the simplified one of the training set (`document_text`), and the original one of the
development set (`document_tokens`), gzipped or not. A long answer within another candidate stands for the outer one.
Of the five annotators of a development question at least two must have marked a long answer, as in the set's own
evaluation.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from benchmarks.prepare.draw import Draw
from benchmarks.prepare.pooled import Asked, pooled
from benchmarks.prepare.public_set import Files, Row, Rows
from benchmarks.prepare.published_files import needed

TAG = re.compile(r"</?[A-Za-z][^>]*>?")
NONE = "NONE"  # where no annotator says yes or no
Span = tuple[int, int]


def rows(files: Files, draw: Draw) -> Rows:
    """The pages of the questions that are drawn. The files are read twice, since a page takes a megabyte."""
    answered = [place for place, row in _published(files) if _long_answers(row)]
    wanted = set(draw.of(answered))
    return pooled(_asked(row) for place, row in _published(files) if place in wanted)


def _published(files: Files) -> Iterator[tuple[tuple[str, int], Row]]:
    for name, path in files.items():
        with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines):
                row = json.loads(line)
                _check(row, path)
                yield (name, number), row


def _check(row: Any, path: Path) -> None:
    text = "document_tokens" if "document_tokens" in row else "document_text"
    needed(row, path, "example_id", "question_text", "document_url", text, "long_answer_candidates", "annotations")


def _long_answers(row: Row) -> list[Span]:
    marked = [_span(one["long_answer"]) for one in row["annotations"]]
    found = [one for one in marked if one[0] >= 0]
    return found if len(found) >= min(2, len(marked)) else []


def _span(told: Mapping[str, int]) -> Span:
    return told["start_token"], told["end_token"]


def _asked(row: Row) -> Asked:
    tokens = _tokens(row)
    outer = [_span(one) for one in row["long_answer_candidates"] if one["top_level"]]
    kept = [one for one in dict.fromkeys(outer) if _text(tokens, one)]
    golds = _long_answers(row)
    gold = [number for number, one in enumerate(kept) if any(one[0] <= g[0] and g[1] <= one[1] for g in golds)]
    answers = list(dict.fromkeys(_answers(row, tokens)))
    more: Row = {"type": "single-hop", **({"answer": answers[0], "answers": answers} if answers else {})}
    title = _title(row)
    paragraphs = [(title, _text(tokens, one)) for one in kept]
    return Asked(str(row["example_id"]), row["question_text"], paragraphs, gold, more)


def _tokens(row: Row) -> Sequence[str]:
    """Each token of the page, an empty text for a tag: spans count both."""
    if "document_tokens" in row:
        return ["" if one["html_token"] else one["token"] for one in row["document_tokens"]]
    return ["" if TAG.fullmatch(one) else one for one in row["document_text"].split(" ")]


def _text(tokens: Sequence[str], span: Span) -> str:
    return " ".join(filter(None, tokens[span[0] : span[1]]))


def _answers(row: Row, tokens: Sequence[str]) -> Iterator[str]:
    """What the annotators marked: the short answers, several of one annotator as one list, or yes or no."""
    for one in row["annotations"]:
        if short := [_text(tokens, _span(each)) for each in one["short_answers"]]:
            yield ", ".join(short)
        elif one.get("yes_no_answer", NONE) != NONE:
            yield str(one["yes_no_answer"]).lower()


def _title(row: Row) -> str:
    """
    >>> _title({"document_url": "https://en.wikipedia.org//w/index.php?title=The_Walking_Dead&amp;oldid=8"})
    'The Walking Dead'
    """
    told = re.search(r"[?&]title=([^&]+)", row["document_url"])
    return unquote(told[1] if told else row["document_url"].rpartition("/")[2]).replace("_", " ")
