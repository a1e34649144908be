"""Which records answered questions like this one? Verdicts on similar questions as a source, and as leads on all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from adaptive_memory_core.errors import LedgerError
from adaptive_memory_core.flow.calls.drive import Flow, attempt
from adaptive_memory_core.flow.candidates.request import Request
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.flow.ports.source import Answer, Asked
from adaptive_memory_core.learn.asked_before import NOTHING, Questions, Told, told
from adaptive_memory_core.learn.gain import unit
from adaptive_memory_core.policy.asked_before import AGAINST, AHEAD, NEAR, TRUSTED
from adaptive_memory_core.score.candidates import Candidates

MOST_EXPLAINED = 10  # records, the most trusted ones, whose question is read from the log
LONGEST = 200  # characters of an earlier question that are told
_SILENT = Told(0.0, 0.0, 0.0)


class AskedBefore:
    """Records of the user's that verdicts on similar questions speak for, or against."""

    name = "asked before"

    def wanted(self, request: Request) -> bool:
        """In the default blend; as of an earlier day later verdicts are not known."""
        policy = request.policy
        return policy.blending == "bounded" and policy.asked_before.weight > 0.0 and request.as_of is None

    def ask(self, ports: Ports, request: Request, asked: Asked) -> Flow[Answer]:
        """Nothing, where nothing was judged yet, or no question is like this one."""
        cue, numbers = asked.cue(request), request.policy.asked_before
        if cue.vector is None:
            return Answer(self.name)
        known = yield from attempt(LedgerError, ports.ledger.judged_questions.of, request.scope)
        if known.value is None:
            return Answer(self.name, error=known.error)
        said = _told(known.value, cue.vector, request)
        if not said:
            return Answer(self.name)
        best = sorted((one for one in said if said[one].trusted > 0.0), key=lambda one: -said[one].trusted)
        named = best if asked.passing is None else [one for one in best if one in asked.passing]
        because = yield from _because(ports, known.value, {one: said[one] for one in best[:MOST_EXPLAINED]})
        return Answer(self.name, named=named[: numbers.candidates], leads=Said(said), because=because)


@dataclass(frozen=True, slots=True)
class Said:
    """What is said of each candidate; nothing of one that no similar question was about."""

    said: Mapping[str, Told]

    def __call__(self, these: Candidates) -> dict[str, list[float]]:
        found = [self.said.get(one, _SILENT) for one in these.columns.stored_ids]
        return {
            NEAR: [one.near for one in found],
            TRUSTED: [one.trusted for one in found],
            AGAINST: [one.against for one in found],
            AHEAD: [one.ahead for one in found],
        }


def _told(questions: Questions, vector: object, request: Request) -> Mapping[str, Told]:
    """What is said; nothing where the questions are of another embedder."""
    direction = unit(vector)
    if direction.shape != questions.vectors.shape[1:]:
        return NOTHING
    return told(questions, direction, request.policy.asked_before)


def _because(ports: Ports, questions: Questions, said: Mapping[str, Told]) -> Flow[dict[str, str]]:
    """For each record the question that it was helpful for, in its words where the log still has them."""
    keys = {stored_id: questions.keys[one.row] for stored_id, one in said.items()}
    words = yield from attempt(LedgerError, ports.ledger.judged_questions.words, list(dict.fromkeys(keys.values())))
    known = words.value or {}
    return {
        stored_id: f"was helpful for {_named(known.get(key))}, {100 * said[stored_id].near:.0f} % like this one"
        for stored_id, key in keys.items()
    }


def _named(words: str | None) -> str:
    """
    >>> _named("who is\\nAna?"), _named(None)
    ("'who is Ana?'", 'an earlier question')
    """
    return "an earlier question" if words is None else repr(" ".join(words[:LONGEST].split()))
