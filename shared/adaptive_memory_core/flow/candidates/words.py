"""Which records share words with the cue? The word index as a source of candidates and of leads for all of them."""

from __future__ import annotations

from adaptive_memory_core.flow.calls.foreign_calls import Question, answered
from adaptive_memory_core.flow.candidates.request import Request
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.flow.ports.source import Answer, Asked
from adaptive_memory_core.flow.ports.words import WordsFound
from adaptive_memory_core.frozen import changed
from adaptive_memory_core.policy.channels_and_kinds import LEXICAL


class Words:
    """The channel "lexical"."""

    name = LEXICAL

    def wanted(self, request: Request) -> bool:
        return LEXICAL in request.policy.ways and bool(request.cue.own_words.strip())

    def ask(self, ports: Ports, request: Request, asked: Asked) -> Answer:
        """The records with most of the cue's words; in this thread, unless there is a limit of time."""
        policy = request.policy

        def look() -> WordsFound:
            words, limit = request.cue.own_words, request.candidates
            return ports.words.look(request.scope, words, policy.advanced.fusion, limit, asked.passing)

        outcome = answered(Question(look, policy.advanced.timeout_seconds, ports.unanswered[LEXICAL]))
        if outcome.value is None:
            return Answer(LEXICAL, error=outcome.error)
        if outcome.value.note is not None:
            return Answer(LEXICAL, notes=(outcome.value.note,))
        return _answer(request, outcome.value)


def _answer(request: Request, found: WordsFound) -> Answer:
    """What was found. The vectors look for the cue less the speaker it names, unless the cue has words of its own."""
    cue = None if request.cue.words is not None else changed(request.cue, text=found.cue)
    return Answer(LEXICAL, named=found.best, leads=found, cue=cue)
