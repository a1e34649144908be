"""How do questions that bring their own paragraphs share one corpus? Each paragraph is one item, whoever brings it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.prepare.public_set import Row, Rows

Paragraph = tuple[str, str]  # title and text


@dataclass(frozen=True)
class Asked:
    """A question, the paragraphs it brings, which of them answer it, and what else its row holds."""

    id: str
    query: str
    paragraphs: Sequence[Paragraph]
    gold: Sequence[int]  # numbers of paragraphs
    more: Mapping[str, Any] = field(default_factory=dict)


def pooled(questions: Iterable[Asked]) -> Rows:
    """The paragraphs of all in the order in which they are met first, and the questions."""
    numbers: dict[Paragraph, str] = {}
    queries = [_query(asked, numbers) for asked in questions]
    return Rows([item(name, *paragraph) for paragraph, name in numbers.items()], queries)


def item(name: str, title: str, text: str) -> Row:
    """A paragraph below its title.

    >>> item("p0", "Rome", "It is old. ")
    {'id': 'p0', 'title': 'Rome', 'text': 'Rome\\nIt is old.'}
    """
    return {"id": name, "title": title, "text": f"{title}\n{text}".strip()}


def _query(asked: Asked, numbers: dict[Paragraph, str]) -> Row:
    """The row of a question; paragraphs that are new get a number."""
    own = [numbers.setdefault((title, text.strip()), f"p{len(numbers)}") for title, text in asked.paragraphs]
    gold = list(dict.fromkeys(own[number] for number in asked.gold))
    return {"id": asked.id, "query": asked.query, "gold_ids": gold, **asked.more}
