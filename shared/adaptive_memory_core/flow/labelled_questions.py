"""What is found for questions whose answers are known? Each is looked for once, and can be ranked under any policy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from adaptive_memory_core.arguments.recalls import Labelled
from adaptive_memory_core.context.answer import Recall
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.flow.rankable import HitsUnder, Rankable, rankable
from adaptive_memory_core.flow.recall import look_for
from adaptive_memory_core.learn.verdicts import StateHistory
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import Cue, Hit, Record
from adaptive_memory_core.score.candidates import columns_of
from adaptive_memory_core.sources.request import Request
from adaptive_memory_core.text_identity import said

AT_ONCE = 1_000  # ids that are looked up together
JUST_NOW = 10.0  # seconds before the present that are no other day; as in a recall


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question with its candidates, what was returned for it, and the ids that answer it."""

    question: Rankable
    returned: tuple[str, ...]
    gold: frozenset[str]


def ask_labelled(ports: Ports, asked: Request, pairs: Sequence[Labelled]) -> list[AskedQuestion]:
    """Each pair's question, asked by the policy of `asked` without changing anything."""
    known = _known_ids(ports, asked, pairs)
    found: list[AskedQuestion] = []
    for pair in pairs:
        request = _request(asked, pair)
        answer, gathered = look_for(ports, request)
        hits = candidates_of(answer)
        past = None if request.as_of is None else StateHistory(request.now, answer.use.step, {}, {})
        then = replace(request, cue=answer.cue, intent=answer.intent, past=past)
        question = rankable(ports, then, gathered, _always(hits), answer.unrelated)
        found.append(AskedQuestion(question, answer.ids, _gold(pair.answers, known, [one.record for one in hits])))
    return found


def _request(asked: Request, pair: Labelled) -> Request:
    """One that changes nothing; of an earlier day, if the pair says when it is asked."""
    now = asked.now if pair.now is None else pair.now
    earlier = pair.now is not None and pair.now <= asked.now - JUST_NOW
    return replace(asked, cue=Cue(pair.question), now=now, as_of=now if earlier else None, reinforce=False)


def candidates_of(answer: Recall) -> list[Hit]:
    """All that was looked at and that some policy might return."""
    dropped = (one.hit if one.scored is None else one.scored.hit for one in answer.dropped)
    return [*(one.hit for one in answer.kept), *(hit for hit in dropped if hit is not None)]


def _always(hits: Sequence[Hit]) -> HitsUnder:
    """The same candidates under each policy: those to compare differ in what candidates count, not in what is asked."""

    columns = columns_of(hits)

    def under(_: Policy) -> Sequence[Hit]:
        return columns

    return under


def _known_ids(ports: Ports, asked: Request, pairs: Iterable[Labelled]) -> set[str]:
    """Which of the answers are ids of records."""
    named = list(dict.fromkeys(one for pair in pairs for one in pair.answers if len(one) <= AT_ONCE))
    known: set[str] = set()
    for start in range(0, len(named), AT_ONCE):
        known |= set(ports.records.fetch(asked.scope, named[start : start + AT_ONCE]))
    return known


def _gold(answers: Iterable[str], known: set[str], records: Sequence[Record]) -> frozenset[str]:
    """The ids that answer: those that were given; and of a text, the candidates that say just that, else those that say
    it among other things, else the text itself, which nothing returns."""
    gold: set[str] = set()
    for one in answers:
        same = [] if one in known else [record.id for record in records if said(record.text) == said(one)]
        within = [record.id for record in records if one.casefold() in record.text.casefold()]
        gold |= {one} if one in known else set(same or within or [one])
    return frozenset(gold)
