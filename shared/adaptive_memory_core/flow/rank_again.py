"""Past recalls ranked again under another policy, from their logged candidates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from adaptive_memory_core.context.answer import Recall
from adaptive_memory_core.flow.calls.foreign_calls import Outcome
from adaptive_memory_core.flow.count_reading import LOGGED_CUE
from adaptive_memory_core.flow.past_recall import FORGOTTEN, PastCandidates, Rankable, past_candidates, rankable
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.flow.ports.ledger_values import KnownStates
from adaptive_memory_core.flow.ports.source import Found
from adaptive_memory_core.learn.decay import Timeline
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import Cue, Scope, Verdict
from adaptive_memory_core.reports import LoggedRecall
from adaptive_memory_core.score.ranking import as_candidates
from adaptive_memory_core.sources.gather import Gathered
from adaptive_memory_core.sources.request import Request
from adaptive_memory_core.sources.times_and_feedback import understand_time

AT_ONCE = 200  # recalls whose records are fetched together
MOST_CHANGES = 1_000_000  # lines of the audit trail that are searched for verdicts
LAST_DIGIT = 1e-6  # of a similarity in the log
TIMES_MOVED = (0.0, 1.0, 8.0, 64.0)  # how many last digits similarities may be shifted; guess
OTHER_WORDS = "the cue was built from other words than the user's own, which the log does not keep"
CUT = "of the cue the log keeps the beginning alone"
NO_POLICY = "the policy of that recall is not in the log any more"
NOT_REPRODUCED = "its own policy does not give the recorded ranking again: something besides the log has changed"
WAY_DOWN = "to which episodes the themes lead (the shape 'top_down'): the log does not keep it"


@dataclass(frozen=True, slots=True)
class RankedAgain:
    """A past recall, and its candidates as ranked by another policy. `reproduced` is True if the recall's own policy
    gives the recorded ranking again."""

    line: LoggedRecall
    own: Policy | None
    again: Recall
    reproduced: bool
    verdicts: Mapping[str, Verdict]
    notes: tuple[str, ...] = ()


def rank_again(
    ports: Ports, asked: Request, *, since: float | None, until: float | None, limit: int
) -> list[RankedAgain]:
    """Rank the recalls of a period again, oldest first, for the scope and under the policy of `asked`."""
    scope, log = asked.scope, ports.ledger.log
    lines = log.recalls(scope, since=since, until=until, limit=limit, containing=None)
    verdicts = verdicts_in_log(ports, scope)
    policies: dict[str, Policy | None] = {}
    found: list[RankedAgain] = []
    for over, some in over_the_same(sorted(lines, key=_when)):
        reader = Scope(scope.user, over)
        records = recalled_records(ports, reader, some)
        for line in some:
            if line.policy_hash not in policies:
                text = log.policy(line.policy_hash)
                policies[line.policy_hash] = None if text is None else Policy.from_json(text)
            own = policies[line.policy_hash]
            past = past_candidates(line, own or asked.policy, records, reader, ports.fields)
            found.append(_one(ports, _request(asked, line, reader), past, own, verdicts.get(line.id, {})))
    return found


def _one(
    ports: Ports, asked: Request, past: PastCandidates, own: Policy | None, verdicts: Mapping[str, Verdict]
) -> RankedAgain:
    """Rank one recall by its own policy, to check that the log is sufficient, and by the other policy."""
    notes = list(past.notes)
    if any(one.then.get("own_words") for one in past.line.candidates):
        notes.append(OTHER_WORDS)
    if len(past.line.cue) >= LOGGED_CUE:
        notes.append(CUT)
    if own is None:
        again = _ranked(ports, asked, past, asked.policy)
        return RankedAgain(past.line, None, again, False, verdicts, (*notes, NO_POLICY))
    past, before, reproduced = as_it_was(ports, asked, past, own)
    again = before if reproduced and asked.policy == own else _ranked(ports, asked, past, asked.policy)
    notes += _limits_of_log(past, own, asked.policy, reproduced=reproduced)
    return RankedAgain(past.line, own, again, reproduced, verdicts, tuple(notes))


def as_it_was(ports: Ports, asked: Request, past: PastCandidates, own: Policy) -> tuple[PastCandidates, Recall, bool]:
    """The candidates with corrected last digits, the ranking by the recall's own policy, and whether it is the recorded
    ranking."""
    for times in TIMES_MOVED:
        tried = past.moved(times * LAST_DIGIT) if times else past
        before = _ranked(ports, asked, tried, own)
        if _is_as_logged(before, past.line):
            return tried, before, True
    return past, before, False


def _limits_of_log(past: PastCandidates, own: Policy, other: Policy, *, reproduced: bool) -> list[str]:
    """Notes on why the log does not suffice for the recorded ranking, or for the other policy's."""
    if other.shape == "top_down" and not (reproduced and other == own):
        return [WAY_DOWN]
    if reproduced:
        return []
    if own.shape == "top_down":
        return [WAY_DOWN]
    return [FORGOTTEN if past.forgotten else NOT_REPRODUCED]


def _ranked(ports: Ports, asked: Request, past: PastCandidates, policy: Policy) -> Recall:
    """The candidates ranked by the steps of a recall that follow the search."""
    question = past_question(ports, asked, past, policy)
    return question.ranked(policy)


def past_question(ports: Ports, asked: Request, past: PastCandidates, policy: Policy) -> Rankable:
    """The question and candidates of a past recall, to be ranked under this policy and others with the same
    channels."""
    request = understand_time(ports, asked._replace(policy=policy, k=past.k))
    states = KnownStates({}, Timeline(past.line.step), balance=past.balance)
    hits = as_candidates(past.under(policy))
    gathered = Gathered(
        request.cue, hits=hits, near=len(hits), known=Outcome(states), asked=len(hits), absent=tuple(past.absent)
    )
    return rankable(ports, request, gathered, past.under, past.unrelated)


def _request(asked: Request, line: LoggedRecall, scope: Scope) -> Request:
    return asked._replace(id=line.id, scope=scope, cue=Cue(line.cue), k=line.k, now=line.at)


def _is_as_logged(answer: Recall, line: LoggedRecall) -> bool:
    """Whether the same records were returned in the same order, and all others dropped for the same reasons."""
    dropped = {one.id: one.reason for one in answer.dropped}
    logged = {one.id: one.reason for one in line.candidates if one.reason is not None}
    return answer.ids == tuple(one.id for one in line.kept) and dropped == logged


def _when(line: LoggedRecall) -> tuple[float, int]:
    return line.at, line.step


def over_the_same(lines: Sequence[LoggedRecall]) -> Iterator[tuple[str | None, Sequence[LoggedRecall]]]:
    """The recalls in order, in batches of the same `over`."""
    start = 0
    for place, line in enumerate(lines):
        if place > start and (line.over != lines[start].over or place - start == AT_ONCE):
            yield lines[start].over, lines[start:place]
            start = place
    if lines:
        yield lines[start].over, lines[start:]


def recalled_records(ports: Ports, scope: Scope, lines: Sequence[LoggedRecall]) -> dict[str, Found]:
    """The candidates of these recalls that still exist, by id."""
    ids = list(dict.fromkeys(one.id for line in lines for one in line.candidates if one.signals))
    found: dict[str, Found] = {}
    for start in range(0, len(ids), 1_000):
        found |= ports.records.fetch(scope, ids[start : start + 1_000])
    return found


def verdicts_in_log(ports: Ports, scope: Scope) -> dict[str, dict[str, Verdict]]:
    """The latest verdict on each record, by recall and record."""
    changes = ports.ledger.audit.changes(scope, (), limit=MOST_CHANGES)
    known = {one.value: one for one in Verdict}
    found: dict[str, dict[str, Verdict]] = {}
    for change in changes:
        if change.what in known:
            found.setdefault(change.by.removeprefix("recall "), {}).setdefault(change.id, known[change.what])
    return found
