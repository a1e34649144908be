"""Which episodes help the reader? Those that make it less uncertain; Stage II, where the caller gave a reader."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from adaptive_memory_core.context.ages import date
from adaptive_memory_core.context.answer import Recall
from adaptive_memory_core.context.outline import Outline
from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.flow.calls.drive import Flow
from adaptive_memory_core.flow.calls.one_answer import one_answer
from adaptive_memory_core.flow.candidates.gather import said
from adaptive_memory_core.flow.candidates.request import Request
from adaptive_memory_core.hierarchy.expand import Context, Expansion, expand
from adaptive_memory_core.records import Dropped, Neighbour, Record
from adaptive_memory_core.shown_in_errors import shown

NO_HELP = "its episode does not make the reader less uncertain"
ASKED_ENOUGH = "not asked about: the episodes before it did not make the reader less uncertain"


def helpful_episodes(request: Request, answer: Recall) -> Flow[Recall]:
    """The answer with the episodes that help, in full where their messages help too, else with their best message
    alone. Where there is no reader, or it fails, all of them stay."""
    shape = request.policy.shaping
    if shape.form != "top_down" or not shape.expand or request.reader is None or not answer.outline.places:
        return answer
    evidence = _Evidence(answer, answer.outline)
    asking = expand(
        range(len(answer)), episode_drop=shape.episode_drop, message_drop=shape.message_drop, patience=shape.patience
    )
    context = next(asking)
    while True:
        texts = evidence.texts(context)
        question = request.reader.asked(shape.timeout_seconds, request.cue.own_words or request.cue.text, texts)
        outcome = yield from one_answer(question)
        error = outcome.error
        if error is None:
            try:
                context = asking.send(_nats(outcome.value))
                continue
            except StopIteration as end:
                return _expanded(answer, end.value)
            except InvalidInputError as refused:
                error = refused
        return replace(answer, trace=(*answer.trace, f"the reader was left out: {said(error)}"))


def _nats(given: Any) -> float:
    """
    >>> _nats(0.5)
    0.5
    """
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0.0 <= given < math.inf:
        raise InvalidInputError(
            f"it gave {shown(given)}. Give the uncertainty of an answer as a number of at least 0, in nats a token."
        )
    return float(given)


class _Evidence:
    """What the reader is told: the facts always, of an episode its best message and title, or all its messages."""

    def __init__(self, answer: Recall, outline: Outline) -> None:
        self._facts = [_dated(one.text, one.at) for one in outline.facts]
        around: dict[str, list[Neighbour]] = {}
        for one in answer.beside:
            around.setdefault(one.of, []).append(one)
        self._summaries = [_summary(hit.record, outline) for hit in answer]
        self._messages = [_messages(hit.record, around.get(hit.id, ())) for hit in answer]

    def texts(self, context: Context) -> list[str]:
        told = [
            (self._summaries[part.episode] if part.detail == "summary" else self._messages[part.episode])
            for part in context
        ]
        return [*self._facts, *(text for texts in told for text in texts)]


def _summary(record: Record, outline: Outline) -> list[str]:
    place = outline.places.get(record.id)
    heading = [] if place is None or not place.heading else [place.heading]
    return [*heading, _dated(record.text, record.created_at)]


def _messages(record: Record, around: Sequence[Neighbour]) -> list[str]:
    before = [one.record for one in around if one.offset < 0]
    after = [one.record for one in around if one.offset > 0]
    return [_dated(one.text, one.created_at) for one in (*before, record, *after)]


def _dated(text: str, at: float | None) -> str:
    return text if at is None else f"[{date(at)}] {text}"


def _expanded(answer: Recall, found: Expansion) -> Recall:
    detail: Mapping[int, str] = dict(found.parts)
    kept = tuple(hit for place, hit in enumerate(answer.kept) if place in detail)
    whole = {answer.kept[place].id for place, told in detail.items() if told == "messages"}
    reason = ASKED_ENOUGH if found.stopped_early else NO_HELP
    last = max(detail, default=-1)
    out = [
        Dropped(hit.id, NO_HELP if place < last else reason, hit)
        for place, hit in enumerate(answer.kept)
        if place not in detail
    ]
    note = (
        f"the reader was asked {found.asked} times: {found.before:.3f} nats a token before, {found.after:.3f} with "
        f"{len(kept)} of {len(answer)} episodes, {len(whole)} of them in full"
    )
    return replace(
        answer,
        kept=kept,
        dropped=(*out, *answer.dropped),
        beside=tuple(one for one in answer.beside if one.of in whole),
        trace=(*answer.trace, note),
    )
