"""How do judged questions leave a memory and come into another? As vectors in base64 with counts, and no words."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from typing import Any

from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.flow.calls.kept_whole import kept_whole
from adaptive_memory_core.flow.judged_question import MOST_OF_GAM_RAG
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.flow.ports.judged_questions import Imported
from adaptive_memory_core.graph.ports import MOST_PLACES
from adaptive_memory_core.learn.asked_before import MOST_QUESTIONS
from adaptive_memory_core.policy.ranges import Range
from adaptive_memory_core.records import Scope
from adaptive_memory_core.shown_in_errors import shown

COUNT, AHEAD = Range(0, 10**9, whole=True), Range(-2, 2)
SENTENCES = Range(0, 2**MOST_PLACES - 1, whole=True)
Line = Mapping[str, Any]


def exported(ports: Ports, scope: Scope, stored_ids: Sequence[str]) -> dict[str, list[list[Any]]]:
    """What is kept of these records: for each question its vector, the helpful and unhelpful verdicts, and how
    far ahead it stood where that is known; where the graph activated sentences, these and the vector of the time."""
    found = ports.ledger.judged_questions.export(scope, stored_ids)
    return {one: [_line(question) for question in questions] for one, questions in found.items()}


def embedder_of(ports: Ports, lines: Sequence[Line]) -> dict[str, Any]:
    """Whose vectors these are; nothing where there are none."""
    if not any("questions" in line for line in lines):
        return {}
    return {"embedder": list(ports.ledger.notes.embedder())}


def questions_in(ports: Ports, given: object) -> dict[str, list[Imported]]:
    """The questions of each record of an exported state, by its id; none where they are of another embedder."""
    if not isinstance(given, Mapping) or given.get("embedder") != list(ports.ledger.notes.embedder()):
        return {}
    return {line["id"]: _questions(line) for line in given["records"] if line.get("questions")}


@kept_whole
def restore_questions(
    ports: Ports, scope: Scope, targets: Mapping[str, str], questions: Mapping[str, Sequence[Imported]]
) -> None:
    """Into those of the records, by stored id, that have none yet."""
    for stored_id, record_id in targets.items():
        if record_id in questions:
            given = questions[record_id]
            most = MOST_OF_GAM_RAG if any(one.activated for one in given) else MOST_QUESTIONS
            ports.ledger.judged_questions.restore(scope, stored_id, given, most=most)


def _line(one: Imported) -> list[Any]:
    line = [base64.b64encode(one.vector).decode(), one.helpful, one.unhelpful]
    if one.activated:
        time = None if one.time is None else base64.b64encode(one.time).decode()
        return [*line, one.ahead if one.ahead is None else round(one.ahead, 4), one.activated, one.supports, time]
    return line if one.ahead is None else [*line, round(one.ahead, 4)]


def _questions(line: Line) -> list[Imported]:
    """
    >>> _questions({"id": "a", "questions": [["ADw=", 1, 0]]})
    [Imported(vector=b'\\x00<', helpful=1, unhelpful=0, ahead=None, activated=0, supports=0, time=None)]
    """
    given = line["questions"]
    try:
        found = [_imported(*one) for one in given]
    except (TypeError, ValueError, binascii.Error):
        found = []
    whole = all(one.vector and len(one.vector) % 2 == 0 for one in found)
    counted = all(one.helpful in COUNT and one.unhelpful in COUNT for one in found)
    counted = counted and all(one.ahead is None or one.ahead in AHEAD for one in found)
    counted = counted and all(one.activated in SENTENCES and one.supports in SENTENCES for one in found)
    if not (found and whole and counted and len(found) == len(given) <= MOST_OF_GAM_RAG):
        raise InvalidInputError(
            f"Record {shown(line['id'])} of the state has damaged 'questions': {shown(given)}. Each is a vector in "
            "base64, "
            "with how often the record was helpful and unhelpful for it, and how far ahead it stood. Export it "
            "anew, or leave them out."
        )
    return found


def _imported(vector: str, helpful: int, unhelpful: int, ahead: float | None = None, *gam_rag: Any) -> Imported:
    """One question; what GAM-RAG's memories are made of stands last, where there is any."""
    activated, supports, time = gam_rag or (0, 0, None)
    own = None if time is None else base64.b64decode(time, validate=True)
    return Imported(base64.b64decode(vector, validate=True), helpful, unhelpful, ahead, activated, supports, own)
