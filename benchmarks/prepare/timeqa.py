"""How does TimeQA (its human part) become a folder? A paragraph of a page is an item; a question may have no answer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.prepare.draw import Draw
from benchmarks.prepare.one_line import one_line
from benchmarks.prepare.public_set import Files, Row, Rows
from benchmarks.prepare.published_files import json_rows, needed

SPLITS = ("test", "train")


def rows(files: Files, draw: Draw) -> Rows:
    """All pages, and the questions of both splits."""
    published = [(split, row) for split in SPLITS for row in _published(files[f"human_annotated_{split}.json"])]
    pages = {_page(row): row["paras"] for _, row in published}
    queries = [query for split, row in published for query in _queries(split, row)]
    return Rows([item for page, paragraphs in pages.items() for item in _items(page, paragraphs)], draw.of(queries))


def _published(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json_rows(path)
    for row in found:
        needed(row, path, "index", "type", "link", "questions", "paras")
    return found


def _page(row: dict[str, Any]) -> str:
    """The page a row is about, by the end of its link.

    >>> _page({"link": "/wiki/Ada_Lovelace"})
    'Ada_Lovelace'
    """
    return str(row["link"]).removeprefix("/wiki/")


def _items(page: str, paragraphs: list[str]) -> Iterator[Row]:
    for number, text in enumerate(paragraphs):
        yield {
            "id": f"{page}#{number}",
            "title": one_line(paragraphs[0]),  # the first is the heading
            "session": page,
            "seq": number,
            "text": one_line(text),
        }


def _queries(split: str, row: dict[str, Any]) -> Iterator[Row]:
    for number, (query, answers) in enumerate(row["questions"]):
        told = [one for one in answers if one["answer"]]
        words = list(dict.fromkeys(one["answer"] for one in told))
        yield {
            "id": f"{split}:{row['index']}:{number}",
            "query": one_line(query),
            "gold_ids": list(dict.fromkeys(f"{_page(row)}#{one['para']}" for one in told)),
            **({"answer": "; ".join(words)} if words else {}),
            "type": row["type"],
            "split": split,
            "answerable": bool(told),
            "page": _page(row),
        }
