"""The two main sources: the nearest vectors, and the records with most of the cue's words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from adaptive_memory_core.errors import EmbedderError, EmbedderMismatchError, StoreError
from adaptive_memory_core.flow.calls.foreign_calls import in_time
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.flow.ports.source import Answer, SourceQuery
from adaptive_memory_core.policy.advanced import BASELINE, DENSE, LEXICAL, SPREAD
from adaptive_memory_core.score.ranking import Candidates
from adaptive_memory_core.score.surprise import Baseline
from adaptive_memory_core.sources.request import Request, compared, embedded


class VectorsSource:
    """The channel "dense". It is asked after the sources that may shorten the cue."""

    name = DENSE

    def ask(self, ports: Ports, request: Request, asked: SourceQuery) -> Answer:
        """The nearest records, and the cue with its vector. After a failure, the error is part of the answer if another
        source has results, unless the caller wants embedder errors raised. An embedder mismatch is always raised."""
        cue = asked.cue
        try:
            if cue.vector is None:
                vector = embedded(ports, cue.text, request.policy)
                cue = replace(cue, vector=vector)
            named = list(dict.fromkeys([one for answer in asked.earlier for one in answer.named]))
            found = compared(ports, request, cue.vector, named)
        except EmbedderMismatchError:
            raise
        except (EmbedderError, StoreError) as error:
            if isinstance(error, EmbedderError) and not request.words_alone:
                raise
            if not any(one.says_something for one in asked.earlier):
                raise
            return Answer(DENSE, cue=cue, error=error)
        # without another channel the similarity is the relevance
        leads = None if request.policy.ways == (DENSE,) else BaselineLeads(found.baseline)
        if found.named is None:
            return Answer(DENSE, found=found.nearest, cue=cue, leads=leads)
        looked_up = frozenset(named)
        return Answer(DENSE, found=found.nearest, cue=cue, leads=leads, beside=found.named, looked_up=looked_up)


@dataclass(frozen=True, slots=True)
class BaselineLeads:
    """The scores of unrelated texts, the same for all candidates."""

    measured: Baseline

    def __call__(self, these: Candidates) -> dict[str, Sequence[float]]:
        count = len(these.columns.ids)
        return {BASELINE: [self.measured.mean] * count, SPREAD: [self.measured.spread] * count}


class WordsSource:
    """The channel "lexical"."""

    name = LEXICAL

    def ask(self, ports: Ports, request: Request, asked: SourceQuery) -> Answer:
        """The records with most of the cue's words, searched in this thread unless there is a time limit. The answer's
        cue for the vector search omits the speaker it names, unless the cue has separate words."""
        cue, advanced, look = request.cue, request.policy.advanced, ports.words.look
        query = request.scope, cue.own_words, advanced.fusion, request.candidates, asked.passing, request.version
        seconds = advanced.timeout_seconds
        try:
            found = in_time(ports.unanswered[LEXICAL], seconds, look, *query) if seconds else look(*query)
        except Exception as error:  # noqa: BLE001 - vectors answer without words, and a note says so
            return Answer(LEXICAL, error=error)
        if found.note is not None:
            return Answer(LEXICAL, notes=(found.note,))
        if cue.words is not None or found.cue == cue.text:
            return Answer(LEXICAL, named=found.best, leads=found)
        return Answer(LEXICAL, named=found.best, leads=found, cue=replace(cue, text=found.cue))
