"""Which recalls does feedback on an answer concern? Ids of records, recalls or turns, resolved to recalls."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from adaptive_memory_core.errors import InvalidInputError, NotFoundError
from adaptive_memory_core.flow.calls.drive import Flow, ask
from adaptive_memory_core.flow.feedback import feedback
from adaptive_memory_core.flow.look_up import look_up
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.flow.said_anew import is_stale, said_anew
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import Scope
from adaptive_memory_core.reports import Change, LoggedRecall
from adaptive_memory_core.shown_in_errors import listed

MOST_LOOK_UPS = 1_000  # recalls of one turn that are judged: more than any agent makes for a question


class Used(NamedTuple):
    """What went into an answer: a record, and the recall that returned it where that is known.

    Without a recall, `id` is a record's id (the last recall that returned it is meant), a recall's own id, or the name
    of a turn: of the latter two, all that was returned. `shared` ones are passed over: their own users judge them.
    """

    id: str
    recall: str | None = None
    shared: bool = False


class Returned(NamedTuple):
    """A record and the recall that returned it; None where the log knows no such recall."""

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
) -> Flow[int]:
    """Judge what went into an answer, whichever recalls returned it; gives how many verdicts were new.

    A record that is gone, or whose recall has left the log, does not cost the others their verdict; where none is left,
    that is an error. A record that several recalls of one turn returned is judged once.
    """
    good = yield from _resolved(ports, scope, helpful, turn)
    bad = yield from _resolved(ports, scope, unhelpful, turn)
    _refuse_contradictions(good, bad)
    there = yield from _there(ports, scope, [*good, *bad], now=now)
    changed_words = yield from said_anew(ports, scope, there)
    liked, disliked = (judgeable(some, there, changed_words) for some in (good, bad))
    if (good or bad) and not (liked or disliked):
        raise _none_left(scope, [one.record for one in (*good, *bad)])
    changed = 0
    for recall in dict.fromkeys(recall for recall, _ in (*liked, *disliked)):
        ids = [[record for at, record in some if at == recall] for some in (liked, disliked)]
        changed += yield from feedback(ports, scope, recall, helpful=ids[0], unhelpful=ids[1], policy=policy, now=now)
    return changed


def _there(ports: Ports, scope: Scope, found: Sequence[Returned], *, now: float) -> Flow[Collection[str]]:
    """Which of the records there still are, in the scope that each was found in."""
    over = next((one.recall.over for one in found if one.recall is not None and one.recall.over is not None), None)
    names = list({one.record for one in found})
    present = yield from look_up(ports, Scope(scope.user, over=over), names, now=now)
    return present.keys()


def judgeable(
    found: Iterable[Returned], there: Collection[str], changed_words: Mapping[str, Change]
) -> list[tuple[str, str]]:
    """The recall and the id of each record that can be judged: it is there, says what it said, and the log still says
    it was returned.

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


def _resolved(ports: Ports, scope: Scope, used: Sequence[Used], turn: str | None) -> Flow[list[Returned]]:
    """Each record that is meant, with its recall as the log has it."""
    logged: dict[str, LoggedRecall | None] = {}
    turns: dict[int, list[LoggedRecall]] = {}
    found: list[Returned] = []
    for one in dict.fromkeys(one for one in used if not one.shared):
        if one.recall is None:
            found += yield from _named(ports, scope, one.id, turn)
            continue
        if one.recall not in logged:
            logged[one.recall] = yield from ask(ports.ledger.log.recall, scope, one.recall)
        found.append(Returned(one.id, logged[one.recall]))
    for place, (record, recall) in enumerate(found):
        if recall is not None and recall.turn is not None:
            found[place] = yield from _first(ports, scope, record, recall, turns)
    return found


def _first(
    ports: Ports, scope: Scope, record: str, recall: LoggedRecall, turns: dict[int, list[LoggedRecall]]
) -> Flow[Returned]:
    """The record with the first recall of the turn that returned it: so it is judged once, whichever one is named."""
    if recall.step not in turns:
        log = yield from _log(ports, scope, turn=recall.turn)
        turns[recall.step] = [one for one in reversed(log) if one.step == recall.step]
    return Returned(record, next((one for one in turns[recall.step] if _returned(one, record)), recall))


def _returned(recall: LoggedRecall, record: str) -> bool:
    return any(one.id == record for one in recall.kept)


def _named(ports: Ports, scope: Scope, name: str, turn: str | None) -> Flow[list[Returned]]:
    """What a bare name means: a record that was returned, else all that a recall, or a turn, returned."""
    returned = yield from _log(ports, scope, containing=name, turn=turn, limit=1)
    if returned or turn is not None:
        return [Returned(name, next(iter(returned), None))]
    recall = yield from ask(ports.ledger.log.recall, scope, name)
    recalls = (yield from _log(ports, scope, turn=name)) if recall is None else [recall]
    return [Returned(one.id, recall) for recall in recalls for one in recall.kept] or [Returned(name, None)]


def _log(
    ports: Ports, scope: Scope, *, containing: str | None = None, turn: str | None, limit: int = MOST_LOOK_UPS
) -> Flow[Sequence[LoggedRecall]]:
    return (
        yield from ask(
            ports.ledger.log.recalls, scope, since=None, until=None, limit=limit, containing=containing, turn=turn
        )
    )


def _refuse_contradictions(good: Sequence[Returned], bad: Sequence[Returned]) -> None:
    """One record of one turn cannot be both."""
    liked, disliked = ({(one.recall.id, one.record) for one in some if one.recall is not None} for some in (good, bad))
    if both := sorted(record for _, record in liked & disliked):
        raise InvalidInputError(f"{listed(both)} is given as helpful and as unhelpful. Give each record once.")


def _none_left(scope: Scope, names: Sequence[str]) -> NotFoundError:
    return NotFoundError(
        f"Nothing is left to judge for {scope} of {listed(dict.fromkeys(names))}: forgotten or written "
        "over since, or no recall in the log returned it. Give what a recall of this scope returned that was "
        "reinforced while the log was on and that is within its retention."
    )
