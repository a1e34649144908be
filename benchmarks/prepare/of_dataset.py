"""How does a set that the package itself reads become rows? In the order of fields behind our figures."""

from __future__ import annotations

from datetime import datetime, timezone

from benchmarks.data import Dataset, Item, Question
from benchmarks.prepare.draw import Draw
from benchmarks.prepare.public_set import Row, Rows


def rows_of(data: Dataset, draw: Draw, *, own_histories: bool = False) -> Rows:
    """The questions that are drawn, and all items, or where each question has a history of its own those of them."""
    questions = draw.of(data.questions)
    asked = {question.tenant for question in questions}
    items = [item for item in data.items if not own_histories or item.tenant in asked]
    return Rows([_item(item) for item in items], [_question(question) for question in questions])


def _item(item: Item) -> Row:
    place = {"id": item.id, "tenant": item.tenant, "session": item.session, "seq": item.seq}
    return {**place, "ts": _iso(item.ts), "speaker": item.speaker, "text": item.text, **item.more}


def _question(question: Question) -> Row:
    more = dict(question.more)
    kind = {name: more.pop(name) for name in ("category",) if name in more}
    trap = {name: more.pop(name) for name in ("adversarial_answer",) if name in more}
    return {
        "id": question.id,
        "tenant": question.tenant,
        "query": question.query,
        "gold_ids": list(question.gold_ids),
        **({} if question.answer is None else {"answer": question.answer}),
        "type": question.type,
        **kind,
        "answerable": question.answerable,
        **trap,
        "ts": _iso(question.ts),
        **more,
    }


def _iso(moment: float | None) -> str | None:
    """As the sets write it, without a zone.

    >>> _iso(86460.0)
    '1970-01-02T00:01:00'
    """
    return None if moment is None else datetime.fromtimestamp(moment, timezone.utc).replace(tzinfo=None).isoformat()
