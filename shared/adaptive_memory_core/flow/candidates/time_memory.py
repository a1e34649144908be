"""Which times were records helpful for? The paper's time memory, as gates of sentences, for a question with a time.

It is made of the verdicts each time it is asked for, as the task memory is, and of the words that the log still has of
the judged questions. Only records that were judged have one: before the first verdict the gate of equation 4 is 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from adaptive_memory_core.cue.time.intent import understand
from adaptive_memory_core.errors import AdaptiveMemoryError, LedgerError
from adaptive_memory_core.flow.calls.drive import Flow, attempt, tried
from adaptive_memory_core.flow.calls.embed_texts import embedded_texts
from adaptive_memory_core.flow.candidates.request import Request
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.graph.build import sentences_below
from adaptive_memory_core.graph.titles import title_of
from adaptive_memory_core.learn.asked_before import Questions
from adaptive_memory_core.learn.gain import unit
from adaptive_memory_core.learn.time_memory import JudgedTime, time_gates

MOST_RECORDS = 200  # that have a time memory in one recall: those with the latest verdicts; guess
Times = Mapping[str, Sequence[str | None]]  # by id in the collection: the time that each sentence says
Verdicts = Mapping[str, Sequence[tuple[str, bool]]]  # by id in the collection: times asked about, and the verdicts


def gates_of_times(ports: Ports, request: Request, questions: Questions) -> Flow[dict[str, Sequence[float]]]:
    """By how much time memory multiplies each sentence of the records that were judged for a time, by their ids."""
    asked = _time_in(request.cue.own_words, ports, request)
    if asked is None:
        return {}
    words = yield from attempt(LedgerError, ports.ledger.judged_questions.words, list(questions.keys))
    verdicts = _verdicts(questions, [_time_in((words.value or {}).get(one), ports, request) for one in questions.keys])
    rows = yield from attempt(AdaptiveMemoryError, ports.records.rows, list(verdicts))
    said: Times = {
        stored_id: [_time_in(one, ports, request) for one in sentences_below(text, title_of(known, request.fields))[1]]
        for stored_id, text, known in rows.value or []
        if text
    }
    told = (time for stored_id in said for time, _ in verdicts[stored_id])
    vectors = yield from _vectors(ports, [asked, *told, *(one for own in said.values() for one in own if one)])
    if vectors is None:
        return {}
    gain = request.policy.gain
    return {
        stored_id: time_gates(
            [None if one is None else vectors[one] for one in own],
            [JudgedTime(vectors[time], supports) for time, supports in verdicts[stored_id]],
            vectors[asked],
            gain,
        )
        for stored_id, own in said.items()
    }


def _time_in(text: str | None, ports: Ports, request: Request) -> str | None:
    """The words of a text that say when, as the languages of this memory read it."""
    if not text:
        return None
    read = tried(Exception, understand, text, ports.languages, now=request.now)  # a language may be the caller's
    return None if read.value is None else ", ".join(read.value.phrases) or None


def _verdicts(questions: Questions, times: Sequence[str | None]) -> Verdicts:
    """The verdicts for questions that named a time, of the records that were judged last."""
    found: dict[str, list[tuple[str, bool]]] = {}
    for record, row, helpful in zip(questions.records, questions.rows, questions.helpful, strict=True):
        if (time := times[row]) is not None:
            found.setdefault(questions.stored_ids[record], []).append((time, bool(helpful)))
    return dict(list(found.items())[-MOST_RECORDS:])


def _vectors(ports: Ports, phrases: Iterable[str]) -> Flow[Mapping[str, Any] | None]:
    """The unit vector of each; None where the embedder fails, since a recall can do without."""
    texts = list(dict.fromkeys(phrases))
    try:
        made = yield from embedded_texts(ports.embedder, texts)
    except AdaptiveMemoryError:
        return None
    return {text: unit(np.asarray(one, dtype=np.float64)) for text, one in zip(texts, made, strict=True)}
