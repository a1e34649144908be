"""Which episodes help the reader? Those that make it less uncertain; Stage II, where the caller gave a reader."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from adaptive_memory_core.context.answer import Recall
from adaptive_memory_core.context.blocks import Outline
from adaptive_memory_core.context.times import date
from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.flow.calls.foreign_calls import answered
from adaptive_memory_core.flow.candidates.gather import said
from adaptive_memory_core.flow.candidates.request import Request
from adaptive_memory_core.hierarchy.expand import Context, Expansion, expand
from adaptive_memory_core.records import Dropped, Neighbour, Record
from adaptive_memory_core.shown_in_errors import shown

LEAST_DROP = 0.02  # nats per token by which an episode, then its messages, must make the reader less uncertain; guess
PATIENCE = 2  # episodes in a row that may fail to, before the reader is not asked any more; guess
NO_HELP = "its episode does not make the reader less uncertain"
ASKED_ENOUGH = "not asked about: the episodes before it did not make the reader less uncertain"


def helpful_episodes(request: Request, answer: Recall) -> Recall:
    """The answer with the episodes that help, in full where their messages help too, else with their narrative and
    best message. Where there is no reader, or it fails, all of them stay; themes, facts and hits of no episode always
    do."""
    policy = request.policy
    expands = policy.shape == "top_down" and policy.advanced.hierarchy.expand
    if not expands or request.reader is None or not answer.outline.places:
        return answer
    reader, evidence = request.reader, _Evidence(answer, answer.outline)

    def uncertainty(context: Context) -> float:
        cue, texts = request.cue.own_words or request.cue.text, evidence.texts(context)
        outcome = answered(reader.asked(policy.advanced.timeout_seconds, cue, texts))
        if outcome.error is not None:
            raise InvalidInputError(said(outcome.error)) from outcome.error
        return _nats(outcome.value)

    try:
        episodes = [place for place, hit in enumerate(answer) if hit.id in answer.outline.places]
        found = expand(uncertainty, episodes, episode_drop=LEAST_DROP, message_drop=LEAST_DROP, patience=PATIENCE)
    except InvalidInputError as error:
        return replace(answer, trace=(*answer.trace, f"the reader was left out: {error}"))
    return _expanded(answer, found)


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
    """What the reader is told: always the facts, by their theme, and hits of no episode; of an episode its title,
    narrative and best message, or all its messages."""

    def __init__(self, answer: Recall, outline: Outline) -> None:
        by_theme: dict[str, list[str]] = {}
        for fact in outline.facts:
            by_theme.setdefault(fact.theme or "", []).append(_dated(fact.text, fact.at))
        self._facts = [text for theme, facts in by_theme.items() for text in (theme, *facts) if text]
        alone = [hit.record for hit in answer if hit.id not in outline.places]
        self._facts += [_dated(one.text, one.created_at) for one in alone]
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
    told = [] if place is None else [one for one in (place.heading, place.narrative) if one]
    return [*told, _dated(record.text, record.created_at)]


def _messages(record: Record, around: Sequence[Neighbour]) -> list[str]:
    before = [one.record for one in around if one.offset < 0]
    after = [one.record for one in around if one.offset > 0]
    return [_dated(one.text, one.created_at) for one in (*before, record, *after)]


def _dated(text: str, at: float | None) -> str:
    return text if at is None else f"[{date(at)}] {text}"


def _expanded(answer: Recall, found: Expansion) -> Recall:
    detail: Mapping[int, str] = dict(found.parts)
    staying = {place for place, hit in enumerate(answer) if place in detail or hit.id not in answer.outline.places}
    kept = tuple(hit for place, hit in enumerate(answer.kept) if place in staying)
    whole = {answer.kept[place].id for place, told in detail.items() if told == "messages"}
    told = {one for one, place in answer.outline.places.items() if place.narrative}
    summed_up = frozenset(hit.id for hit in kept if hit.id not in whole and hit.id in told)
    reason = ASKED_ENOUGH if found.stopped_early else NO_HELP
    last = max(detail, default=-1)
    out = [
        Dropped(hit.id, NO_HELP if place < last else reason, hit)
        for place, hit in enumerate(answer.kept)
        if place not in staying
    ]
    episodes = len(detail) + len(out)
    note = (
        f"the reader was asked {found.asked} times: {found.before:.3f} nats a token before, {found.after:.3f} with "
        f"{len(detail)} of {episodes} episodes, {len(whole)} of them in full"
    )
    return replace(
        answer,
        kept=kept,
        dropped=(*out, *answer.dropped),
        outline=replace(answer.outline, summed_up=summed_up, judged=True),
        beside=tuple(one for one in answer.beside if one.of in whole),
        trace=(*answer.trace, note),
    )
