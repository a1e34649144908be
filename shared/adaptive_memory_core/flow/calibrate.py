"""Measurement of the relevance floor with unrelated questions, and recalls of labelled questions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from adaptive_memory_core.arguments.recalls import Labelled
from adaptive_memory_core.context.answer import Recall
from adaptive_memory_core.cue.unrelated_questions import common_language
from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.flow.calls.one_transaction import in_one_transaction
from adaptive_memory_core.flow.count_reading import judge
from adaptive_memory_core.flow.past_recall import HitsUnder, Rankable, rankable
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.flow.ports.ledger_values import Moves, Rewritten
from adaptive_memory_core.flow.ports.records import JudgedQuestion, Stored
from adaptive_memory_core.flow.recall import look_for, with_leads
from adaptive_memory_core.identity import text_digest
from adaptive_memory_core.learn.decay import Timeline
from adaptive_memory_core.learn.verdicts import Judging, StateHistory, boost_for_everyone
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.record_metadata import SHARED, state_in_metadata
from adaptive_memory_core.records import NEVER_READ, Cue, Hit, ReadState, Record, Scope, Seen, Verdict
from adaptive_memory_core.reports import Calibration, Unrelated
from adaptive_memory_core.score.nothing_found import Best, chance, fitted_floor, most_relevant
from adaptive_memory_core.score.ranking import as_candidates
from adaptive_memory_core.sources.ask import ask_sources
from adaptive_memory_core.sources.gather import gather
from adaptive_memory_core.sources.request import Request

AT_ONCE = 1_000  # ids that are looked up together
JUST_NOW = 10.0  # seconds; a time less far back counts as the present, as in a recall


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question with its candidates, the ids that were returned, and the ids that answer it."""

    question: Rankable
    returned: tuple[str, ...]
    gold: frozenset[str]


def ask_labelled(ports: Ports, asked: Request, pairs: Sequence[Labelled]) -> list[AskedQuestion]:
    """Ask each pair's question under the policy of `asked`, without changing anything."""
    known = _known_ids(ports, asked, pairs)
    found: list[AskedQuestion] = []
    for pair in pairs:
        request = _request(asked, pair)
        answer, gathered = look_for(ports, request)
        hits = candidates_of(answer)
        past = None if request.as_of is None else StateHistory(request.now, answer.use.step, {}, {})
        then = request._replace(cue=answer.cue, intent=answer.intent, past=past)
        question = rankable(ports, then, gathered, _always(hits), answer.unrelated)
        found.append(AskedQuestion(question, answer.ids, _gold(pair.answers, known, [one.record for one in hits])))
    return found


def _request(asked: Request, pair: Labelled) -> Request:
    """A read-only request for the pair's question, as of an earlier day if the pair gives a time."""
    now = asked.now if pair.now is None else pair.now
    earlier = pair.now is not None and pair.now <= asked.now - JUST_NOW
    return asked._replace(cue=Cue(pair.question), now=now, as_of=now if earlier else None, reinforce=False)


def candidates_of(answer: Recall) -> list[Hit]:
    """All candidates of a recall that some policy might return."""
    dropped = (one.hit if one.scored is None else one.scored.hit for one in answer.dropped)
    return [*(one.hit for one in answer.kept), *(hit for hit in dropped if hit is not None)]


def _always(hits: Sequence[Hit]) -> HitsUnder:
    """The same candidates under each policy: the compared policies differ in scoring, not in what they search."""

    columns = as_candidates(hits)

    def under(_: Policy) -> Sequence[Hit]:
        return columns

    return under


def _known_ids(ports: Ports, asked: Request, pairs: Iterable[Labelled]) -> set[str]:
    """The answers that are ids of records."""
    named = list(dict.fromkeys(one for pair in pairs for one in pair.answers if len(one) <= AT_ONCE))
    known: set[str] = set()
    for start in range(0, len(named), AT_ONCE):
        known |= set(ports.records.fetch(asked.scope, named[start : start + AT_ONCE]))
    return known


def _gold(answers: Iterable[str], known: set[str], records: Sequence[Record]) -> frozenset[str]:
    """The ids that answer a question. For an answer given as a text: the candidates with exactly this text, else those
    that contain it, else the text itself, which matches no record."""
    gold: set[str] = set()
    for one in answers:
        same = [] if one in known else [record.id for record in records if text_digest(record.text) == text_digest(one)]
        within = [record.id for record in records if one.casefold() in record.text.casefold()]
        gold |= {one} if one in known else set(same or within or [one])
    return frozenset(gold)


FOR_ALL = "judged by a reader"  # in everyone's audit trail: it names nobody


def judge_and_share(
    ports: Ports,
    scope: Scope,
    recall_id: str,
    given: Mapping[str, tuple[Verdict, Stored]],
    rule: Judging,
    policy: Policy,
    *,
    question: JudgedQuestion | None = None,
    now: float,
) -> int:
    """Write verdicts, and their share for everyone's records, in one transaction; return how many were new."""
    verdicts = {one: (verdict, stored.seen) for one, (verdict, stored) in given.items()}
    shared = {one: stored for one, (_, stored) in given.items() if stored.shared}
    if not shared or policy.learning.common_share == 0.0:
        return judge(ports, scope, recall_id, verdicts, rule, question=question, now=now)
    return _judge_with(ports, scope, recall_id, verdicts, shared, rule, policy, question=question, now=now)


@in_one_transaction
def _judge_with(
    ports: Ports,
    scope: Scope,
    recall_id: str,
    verdicts: Mapping[str, tuple[Verdict, Seen]],
    shared: Mapping[str, Stored],
    rule: Judging,
    policy: Policy,
    *,
    question: JudgedQuestion | None,
    now: float,
) -> int:
    """Write verdicts, and apply the common share of their effect to the states that all users see."""
    known = ports.ledger.states.known
    before = known(scope, list(shared)).states
    changed = judge(ports, scope, recall_id, verdicts, rule, question=question, now=now)
    after = known(scope, list(shared)).states
    for one, stored in shared.items():
        moved = after[one].boost - before.get(one, NEVER_READ).boost
        everyones = stored.seen._replace(state=state_in_metadata(stored.record.stored, ports.fields), shared=False)
        learned_of = known(SHARED, [one]).text_digests.get(one)
        if learned_of not in (None, everyones.text_digest):  # another program has changed the text since
            fresh = Rewritten(learned_of, everyones._replace(state=NEVER_READ))
            ports.ledger.inheritance.settle(SHARED, Moves(rewritten={one: fresh}), by="collection", now=now)
        step = partial(_step, moved=moved, policy=policy)
        ports.ledger.states.change(SHARED, one, everyones, step, what=FOR_ALL, by="common share", now=now)
    return changed


def _step(seen: Seen, *, timeline: Timeline, moved: float, policy: Policy) -> ReadState:  # noqa: ARG001 - of any rule
    return replace(seen.state, boost=boost_for_everyone(seen.state.boost, moved, policy))


SHOWN = 5  # number of unrelated questions in the result, those with the best matches


def calibrate(
    ports: Ports, request: Request, questions: Sequence[str], *, going: Callable[[], bool] = lambda: True
) -> Calibration:
    """Measure and store the floor of the request's scope under its policy. The request's own cue is not used.

    If `going` returns False, the measurement stops and stores nothing.
    """
    records = ports.records.count(request.scope)
    if not records:
        raise InvalidInputError(
            f"There are no records of {request.scope}, so there is nothing that could be found by chance. Remember "
            "something first, then calibrate."
        )
    asked, quick = quiet(request), replace(ports, embedder=ports.floors.embedder)
    found: list[Best] = []
    for question in questions:
        if not going():
            raise InterruptedError("The memory is being closed.")
        found.append(probe(quick, asked._replace(cue=Cue(question))))
    floor = fitted_floor(found, records=records)
    manner = ports.floors.manner(request.policy, common_language(questions))
    ports.ledger.floors.keep(request.scope, manner, floor, now=request.now)
    tried = [Unrelated(text, one.similarity, chance(floor, one)) for text, one in zip(questions, found, strict=True)]
    return Calibration(
        scope=str(request.scope),
        records=records,
        questions=len(questions),
        at=request.now,
        similarity=floor.similarity,
        spread=floor.similarity_spread,
        nearest=tuple(sorted(tried, key=lambda one: one.chance)[:SHOWN]),
    )


def quiet(request: Request) -> Request:
    """The request without relevance floors, time words, and records that were helpful lately."""
    policy = request.policy
    policy = policy.replace(
        min_similarity=0.0,
        min_score=0.0,
        time_words="off",
        learning={"usefulness": 0.0},
        advanced={"unrelated_answered": 0.0},
    )
    return request._replace(policy=policy, reinforce=False, where=None, refuse=None, turn=None)


def probe(ports: Ports, request: Request) -> Best:
    """The best match of one question."""
    answers = ask_sources(ports, request)
    gathered = gather(ports, request, answers)
    best = most_relevant(with_leads(gathered.hits, answers), request.policy, now=request.now)
    return Best(0.0, 0.0) if best is None else best
