"""Feedback on an answer: ids of records, recalls or turns are resolved to the recalls that returned them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from adaptive_memory_core.error_messages import listed
from adaptive_memory_core.errors import InvalidInputError, JudgeError, NotFoundError
from adaptive_memory_core.fields import Fields
from adaptive_memory_core.flow.feedback import NOT_SAID, feedback
from adaptive_memory_core.flow.forget import is_stale, texts_changed_at
from adaptive_memory_core.flow.look_up import look_up
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.flow.ports.records import Stored
from adaptive_memory_core.graph.build import record_title, sentences_below
from adaptive_memory_core.graph.ports import places_in
from adaptive_memory_core.policy.advanced import ACTIVATED
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import Record, Scope
from adaptive_memory_core.reports import Change, LoggedRecall

if TYPE_CHECKING:
    from adaptive_memory_core.models.judges import Judge

MOST_LOOK_UPS = 1_000  # recalls per turn that are judged, more than an agent makes for a question


class Used(NamedTuple):
    """A record that an answer used, and the recall that returned it, if known.

    Without a recall, `id` is a record's id (for the last recall that returned it), a recall's own id, or the name of a
    turn. A recall or turn means all records that it returned. `shared` records are skipped: only their own users judge
    them.
    """

    id: str
    recall: str | None = None
    shared: bool = False


class Returned(NamedTuple):
    """A record and the recall that returned it; None if the log does not contain the recall."""

    record: str
    recall: LoggedRecall | None


def feedback_on_answer(
    ports: Ports,
    scope: Scope,
    helpful: Sequence[Used],
    unhelpful: Sequence[Used],
    *,
    turn: str | None,
    policy: Policy,
    now: float,
    judge: Judge | None = None,
    answer: str | None = None,
) -> int:
    """Judge the records that an answer used, from any number of recalls; return how many verdicts were new. With the
    `answer`, the judge decides which of `helpful` it is based on.

    Records that were deleted, or whose recall is no longer in the log, are skipped; if none is left, an error is
    raised. A record that several recalls of one turn returned is judged once.
    """
    good = _resolved(ports, scope, helpful, turn)
    bad = _resolved(ports, scope, unhelpful, turn)
    _refuse_contradictions(good, bad)
    there = _there(ports, scope, [*good, *bad], now=now)
    changed_words = texts_changed_at(ports, scope, there)
    liked, disliked = (judgeable(some, there, changed_words) for some in (good, bad))
    if (good or bad) and not (liked or disliked):
        raise _none_left(scope, [one.record for one in (*good, *bad)])
    changed = 0
    for recall in dict.fromkeys(recall for recall, _ in (*liked, *disliked)):
        ids, supports = [[record for at, record in some if at == recall] for some in (liked, disliked)], NOT_SAID
        if answer is not None:
            logged = next(one.recall for one in good if one.recall is not None and one.recall.id == recall)
            supports = supported(judge, ports.fields, logged, answer, [there[one].record for one in ids[0]])
            ids = [[one for one in ids[0] if supports[one]], [one for one in ids[0] if not supports[one]]]
        good_ids, bad_ids = ids
        changed += feedback(
            ports,
            scope,
            recall,
            helpful=good_ids,
            unhelpful=bad_ids,
            policy=policy,
            now=now,
            judge=judge,
            supports=supports,
        )
    return changed


def supported(
    judge: Judge | None, fields: Fields, recall: LoggedRecall, answer: str, shown: Sequence[Record]
) -> dict[str, int]:
    """The sentences of each record that the answer is based on, as bits by record id; 0 if none. The judge sees the
    sentences that the graph activated, or the whole text if there are none."""
    if judge is None or judge.supports is None:
        raise InvalidInputError(
            "An answer was given, and there is no judge that could say what it rests on. Give a chat model or "
            "judges.Judge(supports=...) as judge=, to the memory or to this call."
        )
    bits = {one.id: round(one.signals.get(ACTIVATED, 0.0)) for one in recall.candidates}
    pieces = [piece for one in shown for piece in _pieces(one, fields, bits.get(one.id, 0))]
    found = judge.supports(recall.cue, answer, [piece.text for piece in pieces])
    if found.places is None:
        raise JudgeError(f"Nothing was learned of the answer: {found.note}. Check the model, and judge it again.")
    supports = {one.id: 0 for one in shown}
    for place in found.places:
        supports[pieces[place].record] |= pieces[place].bits
    return supports


class _Piece(NamedTuple):
    """A text for the judge, with its record's id and the bits of its sentences."""

    record: str
    text: str
    bits: int


def _pieces(record: Record, fields: Fields, activated: int) -> list[_Piece]:
    sentences = sentences_below(record.text, record_title(record.metadata, fields))[1]
    own = [_Piece(record.id, sentences[one], 1 << one) for one in places_in(activated) if one < len(sentences)]
    return own or [_Piece(record.id, record.text, 1)]


def _there(ports: Ports, scope: Scope, found: Sequence[Returned], *, now: float) -> Mapping[str, Stored]:
    """The records that still exist, looked up in the scope of the recalls."""
    over = next((one.recall.over for one in found if one.recall is not None and one.recall.over is not None), None)
    names = list({one.record for one in found})
    return look_up(ports, Scope(scope.user, over=over), names, now=now)


def judgeable(
    found: Iterable[Returned], there: Collection[str], changed_words: Mapping[str, Change]
) -> list[tuple[str, str]]:
    """The recall and the id of each record that can be judged: the record exists, its text is unchanged, and the log
    shows that it was returned.

    >>> nothing = LoggedRecall("r", 1, 0.0, "", 1, "", ())
    >>> judgeable([Returned("x", nothing), Returned("y", None)], {"x", "y"}, {})
    []
    """
    pairs = [
        (recall.id, record)
        for record, recall in found
        if recall is not None and record in there and _returned(recall, record)
        if not is_stale(changed_words.get(record), recall.step, recall.at)
    ]
    return list(dict.fromkeys(pairs))


def _resolved(ports: Ports, scope: Scope, used: Sequence[Used], turn: str | None) -> list[Returned]:
    """Each record with its recall from the log."""
    logged: dict[str, LoggedRecall | None] = {}
    turns: dict[int, list[LoggedRecall]] = {}
    found: list[Returned] = []
    for one in dict.fromkeys(one for one in used if not one.shared):
        if one.recall is None:
            found += _named(ports, scope, one.id, turn)
            continue
        if one.recall not in logged:
            logged[one.recall] = ports.ledger.log.recall(scope, one.recall)
        found.append(Returned(one.id, logged[one.recall]))
    for place, (record, recall) in enumerate(found):
        if recall is not None and recall.turn is not None:
            found[place] = _first(ports, scope, record, recall, turns)
    return found


def _first(
    ports: Ports, scope: Scope, record: str, recall: LoggedRecall, turns: dict[int, list[LoggedRecall]]
) -> Returned:
    """The record with the first recall of the turn that returned it, so that it is judged once per turn."""
    if recall.step not in turns:
        log = _log(ports, scope, turn=recall.turn)
        turns[recall.step] = [one for one in reversed(log) if one.step == recall.step]
    return Returned(record, next((one for one in turns[recall.step] if _returned(one, record)), recall))


def _returned(recall: LoggedRecall, record: str) -> bool:
    return any(one.id == record for one in recall.kept)


def _named(ports: Ports, scope: Scope, name: str, turn: str | None) -> list[Returned]:
    """The records that a name stands for: a returned record, else all records that a recall or a turn returned."""
    returned = _log(ports, scope, containing=name, turn=turn, limit=1)
    if returned or turn is not None:
        return [Returned(name, next(iter(returned), None))]
    recall = ports.ledger.log.recall(scope, name)
    recalls = _log(ports, scope, turn=name) if recall is None else [recall]
    return [Returned(one.id, recall) for recall in recalls for one in recall.kept] or [Returned(name, None)]


def _log(
    ports: Ports, scope: Scope, *, containing: str | None = None, turn: str | None, limit: int = MOST_LOOK_UPS
) -> Sequence[LoggedRecall]:
    return ports.ledger.log.recalls(scope, since=None, until=None, limit=limit, containing=containing, turn=turn)


def _refuse_contradictions(good: Sequence[Returned], bad: Sequence[Returned]) -> None:
    """Raise an error if a record is both helpful and unhelpful for one recall."""
    liked, disliked = ({(one.recall.id, one.record) for one in some if one.recall is not None} for some in (good, bad))
    if both := sorted(record for _, record in liked & disliked):
        raise InvalidInputError(f"{listed(both)} is given as helpful and as unhelpful. Give each record once.")


def _none_left(scope: Scope, names: Sequence[str]) -> NotFoundError:
    return NotFoundError(
        f"Nothing is left to judge for {scope} of {listed(dict.fromkeys(names))}: forgotten or written "
        "over since, or no recall in the log returned it. Give what a recall of this scope returned that was "
        "reinforced while the log was on and that is within its retention."
    )
