"""Vectors of all names and sentences, which only GAM-RAG's form of the graph needs: made once somebody asks for them.

A sentence begins its two memories with its own vector and with that of the words that say when it holds. The embedder
and the judge are asked while no connection and no lock that a recall needs is held.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive_memory_core.flow.ports.graph import GraphAlike, UnspokenPassage
from adaptive_memory_core.graph.alike_names import unit_rows
from adaptive_memory_core.graph.build import sentences_below
from adaptive_memory_core.graph.ports import PassageKey, SentenceKey, passage_of, place_of
from adaptive_memory_core.graph.titles import title_of
from adaptive_memory_core.store.graph.graph_building import ComparedNames

if TYPE_CHECKING:
    from adaptive_memory_core.fields import Fields
    from adaptive_memory_core.flow.ports import Records
    from adaptive_memory_core.flow.ports.models import Embedder
    from adaptive_memory_core.records import Scope

PAGE = 100  # passages at a time
AT_ONCE = 100  # passages that a recall waits for, where no model is asked about their times
NOT_EMBEDDED = "the graph is left out until the sentences of all records have vectors; the rest is under way"
TimeOf = Callable[[str], str | None]  # of a text, the words that say when it holds


class SentenceTexts:
    """The sentences of records, as the graph numbers them."""

    def __init__(self, store: Records, fields: Fields) -> None:
        self._store, self._fields = store, fields

    def of(self, stored_ids: Sequence[str]) -> Mapping[str, Sequence[str]]:
        """By record."""
        rows = self._store.rows(list(stored_ids))
        return {one: sentences_below(text or "", title_of(known, self._fields))[1] for one, text, known in rows}

    def at(self, keys: Sequence[SentenceKey], ids: Mapping[PassageKey, str]) -> list[str]:
        """Those with these keys, of what is still there."""
        found = self.of(list(dict.fromkeys(ids.values())))
        own = [(found.get(ids.get(passage_of(key), ""), ()), place_of(key)) for key in keys]
        return [texts[place] for texts, place in own if place < len(texts)]


class SentenceVectors:
    """`wanted` once somebody asks for GAM-RAG's form in this process."""

    def __init__(
        self,
        rows: GraphAlike,
        names: ComparedNames,
        texts: SentenceTexts,
        embedder: Embedder,
        made_by: str | None,
        time_of: TimeOf,
        *,
        slow: bool,
        read_only: bool,
    ) -> None:
        """`slow`: whether a model says which times they name, so that no recall is to wait for it."""
        self._rows, self._names, self._texts, self._embedder, self._made_by = rows, names, texts, embedder, made_by
        self._time_of, self._at_once, self._read_only = time_of, 0 if slow else AT_ONCE, read_only
        self._turn = threading.Lock()  # `sync` and the background; no recall waits for it
        self.wanted = False

    def page(self) -> bool:
        """Some more; whether there may be more still. One thread at a time: no text goes to a model twice."""
        with self._turn:
            return self.wanted and self._add(self._rows.unspoken(PAGE))

    def complete(self) -> None:
        """All there is, now."""
        while self.page():
            pass

    def want(self) -> bool:
        """Whether nobody did before."""
        begins = not self.wanted and not self._read_only
        self.wanted = self.wanted or begins
        return begins

    def note(self, scope: Scope) -> str | None:
        """Why this user's graph is to be left out; None where it is complete. A little that lacks is made now."""
        waiting = self._rows.unspoken(self._at_once + 1, scope)
        if len(waiting) <= self._at_once and self.wanted:
            return None if not waiting or self._add(waiting) else NOT_EMBEDDED
        return NOT_EMBEDDED if waiting else None

    def _add(self, found: Sequence[UnspokenPassage]) -> bool:
        """Names first: a passage with vectors has no name without one."""
        if not found:
            return False
        self._names.embed_all()
        texts = self._texts.of([one.stored_id for one in found])
        same = [one for one in found if len(texts.get(one.stored_id, ())) == one.sentences]  # else it is made again
        said = [text for one in same for text in texts[one.stored_id]]
        times = [self._time_of(text) for text in said]
        vectors = iter(self._embedded([*said, *dict.fromkeys(filter(None, times))]))
        own = list(islice(vectors, len(said)))
        of_time = dict(zip(dict.fromkeys(filter(None, times)), vectors, strict=True))
        spoken: dict[PassageKey, tuple[Any, Any]] = {}
        begin, none = 0, np.zeros_like(own[0]) if own else np.zeros(0)
        for one in same:
            end = begin + one.sentences
            when = [none if time is None else of_time[time] for time in times[begin:end]]
            spoken[one.passage] = np.array(own[begin:end]), np.array(when)
            begin = end
        return self._rows.speak(self._made_by, spoken) and bool(spoken)

    def _embedded(self, texts: Sequence[str]) -> Any:
        return unit_rows(np.asarray(self._embedder.embed_documents(texts))) if texts else ()
