"""Export and import of the state learned about a user's records."""

from __future__ import annotations

import base64
import binascii
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, fields, replace
from functools import partial
from typing import Any

from adaptive_memory_core.error_messages import shown
from adaptive_memory_core.errors import InvalidInputError, ScopeError
from adaptive_memory_core.flow.calls.one_transaction import in_one_transaction
from adaptive_memory_core.flow.feedback import MOST_OF_GAM_RAG
from adaptive_memory_core.flow.look_up import look_up
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.flow.ports.ledger_values import Advance
from adaptive_memory_core.flow.ports.records import Imported, Stored
from adaptive_memory_core.flow.ports.source import Found
from adaptive_memory_core.graph.ports import MOST_PLACES
from adaptive_memory_core.identity import exported_mark
from adaptive_memory_core.learn.after_read import state_from_values
from adaptive_memory_core.learn.asked_before import MOST_QUESTIONS
from adaptive_memory_core.learn.decay import Timeline, met, settled
from adaptive_memory_core.learn.verdicts import within_bounds
from adaptive_memory_core.policy.learning import Regime
from adaptive_memory_core.ranges import Range
from adaptive_memory_core.record_metadata import hits_of
from adaptive_memory_core.records import NEVER_READ, UNKNOWN_STEP, ReadState, Record, Scope, Seen
from adaptive_memory_core.reports import Restored
from adaptive_memory_core.sources.gather import known_states

COUNT, AHEAD = Range(0, 10**9, whole=True), Range(-2, 2)
SENTENCES = Range(0, 2**MOST_PLACES - 1, whole=True)
Line = Mapping[str, Any]


def exported(ports: Ports, scope: Scope, stored_ids: Sequence[str]) -> dict[str, list[list[Any]]]:
    """The judged questions of these records: for each its vector, the numbers of helpful and unhelpful verdicts, and
    the record's lead if known. If the graph activated sentences, these and the vector of the time as well."""
    found = ports.ledger.judged_questions.export(scope, stored_ids)
    return {one: [_question_line(question) for question in questions] for one, questions in found.items()}


def embedder_of_export(ports: Ports, lines: Sequence[Line]) -> dict[str, Any]:
    """The embedder of the exported vectors; empty if there are none."""
    if not any("questions" in line for line in lines):
        return {}
    return {"embedder": list(ports.ledger.notes.embedder())}


def exported_questions(ports: Ports, given: object) -> dict[str, list[Imported]]:
    """The questions of an exported state by record id; empty if they come from another embedder."""
    if not isinstance(given, Mapping) or given.get("embedder") != list(ports.ledger.notes.embedder()):
        return {}
    return {line["id"]: _questions(line) for line in given["records"] if line.get("questions")}


@in_one_transaction
def restore_questions(
    ports: Ports, scope: Scope, targets: Mapping[str, str], questions: Mapping[str, Sequence[Imported]]
) -> None:
    """Write the questions of the records that have none yet; `targets` maps stored ids to record ids."""
    for stored_id, record_id in targets.items():
        if record_id in questions:
            given = questions[record_id]
            most = MOST_OF_GAM_RAG if any(one.activated for one in given) else MOST_QUESTIONS
            ports.ledger.judged_questions.restore(scope, stored_id, given, most=most)


def _question_line(one: Imported) -> list[Any]:
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
            "with how often the record was helpful and unhelpful for it, and how far ahead it was. Export the state "
            "again, or leave them out."
        )
    return found


def _imported(vector: str, helpful: int, unhelpful: int, ahead: float | None = None, *gam_rag: Any) -> Imported:
    """One question; the values for GAM-RAG's memories come last, if there are any."""
    activated, supports, time = gam_rag or (0, 0, None)
    own = None if time is None else base64.b64decode(time, validate=True)
    return Imported(base64.b64decode(vector, validate=True), helpful, unhelpful, ahead, activated, supports, own)


FORMAT, VERSION = "adaptive-memory-state", 1
RECORDS_OF_A_PAGE = 1_000
MOST_OCTAVES = 1e3  # limit of an imported balance; the policy's bounds are far narrower
RESTORED_AT_ONCE = 100  # records per batch, during which no other process writes them
_STATE = tuple(field.name for field in fields(ReadState))
_UNTOUCHED = ("settled_step", "fresh_step", "settled_at", "fresh_at", "useful_step")  # bookkeeping, not learned


def export_state(ports: Ports, scope: Scope, *, regime: Regime, now: float) -> dict[str, Any]:
    """The learned state of this scope's records, with ids and digests of documents and texts to recognise the records.
    Strengths are as of now."""
    lines: list[dict[str, Any]] = []
    pages: Iterator[list[Found]] = ports.records.pages(scope)
    while (page := next(pages, None)) is not None:
        known = known_states(ports, scope, page, now=None)
        timeline = known.timeline.under(regime)
        questions = exported(ports, scope, [one.stored_id for one in page])
        for one in page:
            hit = hits_of(scope, [one], known.states, ports.fields)[0]
            record = hit.record
            state = (
                settled(record.read, record.kind, timeline, now=now) if one.stored_id in known.states else record.read
            )
            if _learned(state):
                since = {"useful_step": state.useful_step - timeline.step}  # steps differ between ledgers
                whose = {} if hit.shared is None else {"shared": hit.shared}
                mark = exported_mark(one.text, one.metadata)
                line = {"id": record.id, "origin": mark.hex(), "state": {**asdict(state), **since}}
                asked = {"questions": questions[one.stored_id]} if one.stored_id in questions else {}
                lines.append({**line, **whose, **asked})
    balance = ports.ledger.states.known(scope, []).balance
    heading = {"format": FORMAT, "version": VERSION, "user": scope.name, "exported_at": now, "balance": balance}
    over = {} if scope.over is None else {"over": scope.over}
    return {**heading, **over, **embedder_of_export(ports, lines), "records": lines}


def restore_state(ports: Ports, scope: Scope, given: object, *, now: float) -> Restored:
    """Give records the exported state of the same record, or of the same document and text under another id."""
    lines = _checked(scope, given)
    balance = within_bounds(_balance(given))
    questions = exported_questions(ports, given)
    everyones = _everyones(given)
    found = look_up(ports, scope, list(lines), now=now)
    found = {one: stored for one, stored in found.items() if stored.shared == (one in everyones)}
    targets = {one: found[one] for one, (mark, _) in lines.items() if one in found and mark == _mark(found[one].record)}
    missing = {one: line for one, line in lines.items() if one not in targets}
    if missing:
        targets |= _by_origin(ports, scope, missing, taken={one.stored_id for one in targets.values()})
    places, restored = {one.record.id: one_id for one_id, one in targets.items()}, set[str]()
    for ids in (list(places)[start : start + RESTORED_AT_ONCE] for start in range(0, len(places), RESTORED_AT_ONCE)):
        befores = {one: lines[places[one]][1] for one in ids}
        done = _restore_all(ports, scope, befores, now=now)
        restored |= {places[one] for one in done}
        done_at = {targets[places[one]].stored_id: places[one] for one in done}
        restore_questions(ports, scope, done_at, questions)
    here = ports.ledger.states.known(scope, [])
    if balance != 0.0 and here.balance == 0.0:  # no verdict has changed it here
        ports.ledger.verdicts.set_balance(scope, balance)
    ports.write_back.wake()
    return Restored(len(restored), tuple(one for one in lines if one not in restored))


def _restore_all(ports: Ports, scope: Scope, befores: Mapping[str, ReadState], *, now: float) -> list[str]:
    """Restore the states of records that still exist, while no process can forget them; return their ids."""
    present = look_up(ports, scope, list(befores), now=now)
    for record_id, target in present.items():
        rule = partial(_restored, before=befores[record_id], now=now)
        _restore(ports, scope, target, rule, now=now)
    return list(present)


@in_one_transaction
def _restore(ports: Ports, scope: Scope, target: Stored, rule: Advance, *, now: float) -> None:
    """Restore one record's state."""
    how = {"what": "restored", "by": "restore_state"}
    ports.ledger.states.change(scope, target.stored_id, target.seen, rule, **how, now=now)


def _by_origin(
    ports: Ports, scope: Scope, missing: Mapping[str, tuple[bytes, ReadState]], *, taken: set[str]
) -> dict[str, Stored]:
    """Records with the same document and text but another id here; each is used once."""
    wanted: dict[bytes, list[str]] = {}
    for record_id, (mark, _) in missing.items():
        wanted.setdefault(mark, []).append(record_id)
    targets: dict[str, Stored] = {}
    pages: Iterator[list[Found]] = ports.records.pages(scope)
    while (page := next(pages, None)) is not None:
        matches = [
            (named, one) for one in page if one.stored_id not in taken and (named := _next_of(wanted, one)) is not None
        ]
        known = ports.ledger.states.known(scope, [one.stored_id for _, one in matches])
        for record_id, one in matches:
            targets[record_id] = Stored(hits_of(scope, [one], known.states, ports.fields)[0].record, one.stored_id)
    return targets


def _next_of(wanted: Mapping[bytes, list[str]], one: Found) -> str | None:
    """The next exported id with this record's document and text, or None."""
    waiting = wanted.get(exported_mark(one.text, one.metadata))
    return waiting.pop(0) if waiting else None


def _restored(seen: Seen, *, timeline: Timeline, before: ReadState, now: float) -> ReadState:
    """The imported state with its decay started again, unless the record was read later here."""
    if _reads(seen.state) > _reads(before):
        return seen.state
    useful_step = timeline.step + before.useful_step
    same = replace(before, **{name: getattr(seen.state, name) for name in _UNTOUCHED}) == seen.state
    if same:
        unknown = seen.state.useful_at is not None and seen.state.useful_step <= UNKNOWN_STEP
        return replace(seen.state, useful_step=useful_step) if unknown else seen.state
    return met(timeline, replace(before, useful_step=useful_step), now=now)


def _reads(state: ReadState) -> tuple[float, int, float]:
    last, useful = (float("-inf") if one is None else one for one in (state.last_read, state.useful_at))
    return (last, state.retrieval_count, useful)


def _learned(state: ReadState) -> bool:
    return any(getattr(state, name) != getattr(NEVER_READ, name) for name in _STATE if name not in _UNTOUCHED)


def _mark(record: Record) -> bytes:
    return exported_mark(record.text, record.stored)


def _checked(scope: Scope, given: object) -> dict[str, tuple[bytes, ReadState]]:
    """The records of an exported state by id, each with its digest and read state."""
    if not isinstance(given, Mapping) or given.get("format") != FORMAT or given.get("version") != VERSION:
        raise InvalidInputError(
            f"This is not the state of a memory (format {FORMAT!r}, version {VERSION}). Give what export_state() "
            "returned, or its JSON read again: json.loads(...)."
        )
    user = given.get("user")
    if user != scope.name or type(user) is not type(scope.name):
        raise ScopeError(
            f"This is the state of {Scope.of(user)}, not of {scope}. Restore it through that user's memory."
        )
    lines = given.get("records")
    if not isinstance(lines, list | tuple):
        raise InvalidInputError(f"The state's 'records' are {type(lines).__name__}. Give what export_state() returned.")
    return dict(_line(line) for line in sorted(lines, key=_is_own))


def _balance(given: object) -> float:
    """The earned weight of usefulness in the state; 0 if there is none.

    >>> _balance({"balance": 10**400}), _balance({"balance": -0.5}), _balance({})
    (1000.0, -0.5, 0.0)
    """
    balance: Any = given.get("balance", 0.0) if isinstance(given, Mapping) else 0.0
    if isinstance(balance, bool) or not isinstance(balance, int | float) or not -math.inf < balance < math.inf:
        raise InvalidInputError(
            f"The state's 'balance' is {shown(balance)}. It must be a number from 0 to 4, what usefulness has "
            "earned. Export the state again, or leave 'balance' out."
        )
    return float(min(MOST_OCTAVES, max(-MOST_OCTAVES, balance)))  # an int may be too large for a float


def _everyones(given: object) -> set[str]:
    """The ids of everyone's records in the state, except ids that an own record has as well."""
    lines = given.get("records", ()) if isinstance(given, Mapping) else ()
    own = {line["id"] for line in lines if _is_own(line)}
    return {line["id"] for line in lines} - own


def _is_own(line: object) -> bool:
    return not isinstance(line, Mapping) or line.get("shared") is None


def _line(line: object) -> tuple[str, tuple[bytes, ReadState]]:
    """One record's id, the digest of its document and text, and its read state."""
    try:
        if isinstance(line, Mapping) and isinstance(line["id"], str):
            return line["id"], (bytes.fromhex(line["origin"]), state_from_values(line["state"]))
    except InvalidInputError as error:
        raise InvalidInputError(f"Record {shown(line['id'])} of the state: {error}") from None  # type: ignore[index]
    except (KeyError, TypeError, ValueError):
        pass
    raise InvalidInputError(
        f"The state is damaged: one of its records is {shown(line)}. It must have an 'id', an 'origin' in "
        "hexadecimal digits and a 'state'. Export the state again."
    )
