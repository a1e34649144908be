"""The graph as an index: updated when records are written and removed, with one setting for all processes.

It follows the rows of words, so records written by any program are noticed, and their passages are rebuilt. Records
written by this memory are added in the same call. Nothing is done until the graph is needed.

Another setting replaces the present one once, and the graph is rebuilt in the background. A memory whose setting was
replaced uses the graph unchanged, so that two processes don't undo each other's work.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from adaptive_memory_core.fields import Fields
from adaptive_memory_core.flow.ports.graph import NO_LIFTS, GamRagQuery, GraphFound, Lifts, Suffices
from adaptive_memory_core.flow.ports.models import Sufficient
from adaptive_memory_core.flow.ports.records import Stored, Vector
from adaptive_memory_core.graph.alike_names import unknown_names
from adaptive_memory_core.graph.names import MOST_LOOKED_UP, Extract, names_in_sentence
from adaptive_memory_core.graph.paper import propagate_as_published
from adaptive_memory_core.graph.ports import SentenceKey, passage_of
from adaptive_memory_core.length_limits import start_and_end
from adaptive_memory_core.policy.advanced import Graphs
from adaptive_memory_core.records import Scope
from adaptive_memory_core.reports import Finding
from adaptive_memory_core.score.surprise import UNMEASURED, Baseline
from adaptive_memory_core.store.background import Going
from adaptive_memory_core.store.graph import graph_lookup as looking
from adaptive_memory_core.store.graph.graph_building import ComparedNames, GraphAdditions, LinkedUsers
from adaptive_memory_core.store.graph.graph_lookup import SentenceTexts, SentenceVectorBuilder

if TYPE_CHECKING:
    from adaptive_memory_core.store.ledger.graph_rows import LedgerGraph
    from adaptive_memory_core.store.ledger_records import LedgerRecords
    from adaptive_memory_core.store.mirror.record_search import RecordSearch

NONE_UNKNOWN: Mapping[str, Vector] = MappingProxyType({})
NOT_COMPARED = "not all names have been compared with similar ones yet; the rest follows in the background"
NOT_MADE = (
    "the graph is left out until it contains all records: it has {made:,} of {count:,}, and the rest is being added"
)
AT_ONCE = 100  # records that a recall waits for; if there are more, they are added in the background


class GraphIndex:
    """Finds records by the names in a query. A look-up may add new records to the graph."""

    name = "graph"

    def __init__(
        self,
        rows: LedgerGraph,
        store: LedgerRecords,
        search: RecordSearch,
        fields: Fields,
        wake: Callable[[], object],
        linked: LinkedUsers,
        compared: ComparedNames,
        spoken: SentenceVectorBuilder,
        indexed: Callable[[Scope], int],
        extract: Extract | None = None,
    ) -> None:
        """`indexed` returns the number of a user's records that have words; the graph is built from these."""
        self._rows, self._wake, self.linked, self._compared, self._indexed = rows, wake, linked, compared, indexed
        self._spoken, self._texts = spoken, SentenceTexts(store, fields)
        self._made = GraphSetting(rows, fields, extract)
        self._taking_in = GraphAdditions(rows, store, search, fields, linked, self._made)
        self._due = False  # whether there may be something to add

    @property
    def _asked(self) -> bool:
        """Whether the graph of all users is needed; until then only graphs built automatically are updated."""
        return self.linked.everybody

    def expect(self) -> None:
        """Begin to build the graph of all users; records written from now on are added at once."""
        if not self._asked:
            self._made.begin()
            self.linked.everybody = True
            self._hurry()

    def look(
        self,
        scope: Scope,
        cue: str,
        vector: Vector | None,
        settings: Graphs,
        seeds: Mapping[str, float],
        lifts: Lifts = NO_LIFTS,
        unknown: Mapping[str, Vector] = NONE_UNKNOWN,
        baseline: Baseline = UNMEASURED,
    ) -> GraphFound:
        """The records that the query's names lead to; none, with a note, until the graph contains nearly all records.
        In a graph built automatically, other programs' records are added in the background of recalls that count."""
        note = NOT_COMPARED if settings.names_alike > 0.0 and self._compared.due else None
        if self._asked or settings.asks != "linked":
            note = self._caught_up(scope) or note
        count = sum(map(self._indexed, scope.parts))  # while no connection is held
        with self._rows.view(scope) as graph:
            if (lacking := self._lacking(scope, graph.passages, count)) is not None:
                return GraphFound({}, {}, lacking, asked=False)
            found = looking.look_up_graph(graph, cue, vector, settings, seeds, lifts, unknown, baseline)
        return found if note is None else replace(found, note=note)

    def look_as_published(
        self, scope: Scope, asked: GamRagQuery, settings: Graphs, suffices: Suffices | None
    ) -> GraphFound:
        """The records found by GAM-RAG's equations 3 to 9; none, with a note, until all sentences have vectors. Between
        rounds `suffices` receives the activated sentences."""
        self.embed_sentences()
        notes = [self._caught_up(scope), None]
        count = sum(map(self._indexed, scope.parts))
        with self._rows.view(scope) as graph:
            lacking = self._lacking(scope, graph.passages, count)
        if lacking is None and (lacking := self._spoken.note(scope)) is not None:
            self._hurry()
        if lacking is not None:
            return GraphFound({}, {}, lacking, asked=False)
        with self._rows.view(scope) as graph:
            question = looking.linked_as_published(graph, asked)

        def enough(keys: Sequence[SentenceKey]) -> bool:
            with self._rows.view(scope) as graph:
                ids = graph.ids_of({passage_of(key) for key in keys})
            found = Sufficient(False) if suffices is None else suffices(self._texts.at(keys, ids))
            notes[1] = found.note
            return found.answer is True

        evidence = propagate_as_published(lambda: self._rows.view(scope), question, settings, enough)
        with self._rows.view(scope) as graph:
            found = looking.found_as_published(graph, evidence)
        reported = [note for note in (*notes, looking.rounds_made(evidence, settings, suffices is not None)) if note]
        return replace(found, note="; ".join(reported) or None)

    def embed_sentences(self) -> None:
        """Begin to embed names and sentences, as GAM-RAG's form needs."""
        if self._spoken.want():
            self._hurry()

    def extracted(self, cue: str) -> Sequence[str]:
        """The names in a text, found by the same extractor as in records."""
        return list(dict.fromkeys((self._made.extract or names_in_sentence)(start_and_end(cue, MOST_LOOKED_UP))))

    def _caught_up(self, scope: Scope) -> str | None:
        self.expect()
        self._keep_up(scope)
        return self._made.note()

    def _lacking(self, scope: Scope, made: int, count: int) -> str | None:
        """A note if the graph contains `made` of `count` records and these are too few to use it; otherwise None."""
        if not made:
            self.linked.forget(scope)
        if count - made > AT_ONCE and self._made.is_ours():
            return NOT_MADE.format(made=made, count=count)
        return None

    def compare_names(self) -> None:
        """Begin to compare names in the background, because a policy uses similar names."""
        if self._compared.want():
            self._hurry()

    def unknown_names(self, scope: Scope, cue: str) -> Sequence[str]:
        """The names in a query that are not in this scope's graph."""
        read = start_and_end(cue, MOST_LOOKED_UP)
        with self._rows.view(scope) as graph:
            return unknown_names(read, looking.linked(graph, read)) if graph.passages else ()

    def made(self, scope: Scope) -> bool:
        """Whether the graph of this scope exists or the graph of all users was requested."""
        return self._asked or self.linked.made(scope)

    def want(self, scope: Scope) -> None:
        """Build the scope's graph in the background."""
        self.linked.want(scope)

    def wrote(self, scope: Scope, records: Sequence[Stored], vectors: Sequence[Vector]) -> None:
        """Add the records at once; with a custom extractor, which may be slow, in the background."""
        self.linked.wrote(scope, len(records))
        if not self._asked and not self.linked.follows(scope):
            return
        if self._made.extract is not None or not self._made.is_ours():
            self._rows.drop([one.stored_id for one in records])
            self._catch_up_with(scope)
        else:
            self._rows.drop([one.stored_id for one in records])
            self._taking_in.written(scope, records, vectors)
            self._names_changed()

    def removed(self, scope: Scope, stored_ids: Sequence[str]) -> None:  # noqa: ARG002 - an ID has one scope
        self._rows.drop(stored_ids)

    def catch_up(self, scope: Scope) -> None:
        """Count a recall of this scope and add its new records in the background, if its graph is needed."""
        for part in scope.parts:
            if self.linked.counted(part) or self.linked.everybody:
                self._catch_up_with(part)

    def stored_ids(self) -> set[str]:
        return self._rows.stored_ids()

    def sync(self) -> None:
        """Bring the graph up to date now: sample records that are due, and add, compare and embed what is needed."""
        while self._see_to_users():
            pass
        while self._taking_in.page(growth=1.0):
            pass
        self._compared.complete()
        self._spoken.complete()

    def rebuild(self) -> None:
        """Remove the graph and build it again for all users."""
        self._taking_in.anew()
        self.linked.everybody = True
        self.sync()

    def check(self, *, repair: bool) -> list[Finding]:
        """The faults found in the graph; with `repair` it is rebuilt."""
        wrong, other = self._rows.faults(), self._made.finding(repaired=repair) if self._asked else None
        if repair and (wrong or other):
            self._make_anew()
        advice = "Call check(repair=True), which rebuilds the graph from the records."
        found = [Finding("graph", " ".join(wrong), advice, repair)] if wrong else []
        return found if other is None else [*found, other]

    def _make_anew(self) -> None:
        """Rebuild the graph of all users. If graphs were built automatically for some users only, remove them: each is
        built again when a question mentions a title."""
        if self._asked or not self._rows.links.anybody():
            self.rebuild()
        else:
            self._taking_in.anew()
            self.linked.forget()

    def wait(self) -> float | None:
        return 0.0 if self._due or self.linked.due else None

    def work(self, _going: Going) -> None:
        """Do the next page of work; after an error, the next recall continues."""
        self._due = False
        self._due = self._see_to_users() or self._take_in() or self._compared.page() or self._spoken.page()

    def _take_in(self) -> bool:
        more = self._taking_in.page()
        if more:
            self._compared.changed()
        return more

    def _names_changed(self) -> None:
        self._compared.changed()
        if self._compared.due or self._spoken.wanted:
            self._hurry()

    def _see_to_users(self) -> bool:
        """Sample the next user's records, or begin to build the next user's graph. Return whether there was a user."""
        with self.linked.turn:
            if not self.linked.anybody_wanted:
                return self.linked.look_through()
            self._made.begin()
            self._catch_up_with(self.linked.next_wanted())
            return True

    def _catch_up_with(self, scope: Scope) -> None:
        self._taking_in.catch_up_with(scope)
        self._hurry()

    def _hurry(self) -> None:
        self._due = True
        self._wake()

    def _keep_up(self, scope: Scope) -> None:
        """Remove passages without words, and add new records: at once if they are few, otherwise in the background."""
        self._rows.drop_gone()
        waiting = self._rows.waiting(scope, AT_ONCE + 1)
        if waiting > AT_ONCE:
            self._hurry()
        elif waiting:
            self._taking_in.page()
            self._names_changed()


_BY = " by "  # between the titles' key and the name of a custom extractor
_ADVICE = (
    "Give all that share this memory the same fields= and entities=, or call check(repair=True) here, which "
    "rebuilds the graph with this memory's setting."
)


class GraphSetting:
    """This memory's setting of the graph, compared with the setting that the graph was built with."""

    def __init__(self, rows: LedgerGraph, fields: Fields, extract: Extract | None) -> None:
        self._rows, self.setting, self.extract = rows, setting_of(fields.title, extract), extract

    def begin(self, *, from_start: bool = False) -> None:
        """Make this memory's setting the graph's, unless it was replaced before; with `anew` in any case."""
        self._rows.made_as(self.setting, from_start=from_start)

    def is_ours(self) -> bool:
        return self._rows.made_as() in (None, self.setting)

    def note(self) -> str | None:
        """A note if other memories build the graph with another setting."""
        return None if self.is_ours() else f"{self._said()} {_ADVICE}"

    def finding(self, *, repaired: bool) -> Finding | None:
        return None if self.is_ours() else Finding("graph", self._said(), _ADVICE, repaired)

    def _said(self) -> str:
        return (
            f"the graph was built with {described(self._rows.made_as() or '')}, which replaced "
            f"{described(self.setting)}, this memory's setting; it is used unchanged."
        )


def setting_of(title_key: str, extract: Extract | None) -> str:
    """A short description of the setting, stored with the graph.

    >>> setting_of("title", None), setting_of("title", lambda sentence: [])
    ('title', 'title by a function')
    """
    return title_key if extract is None else f"{title_key}{_BY}{getattr(extract, 'name', 'a function')}"


def described(setting: str) -> str:
    """The setting, in the words of a message.

    >>> described("title"), described("headline by spacy")
    ("titles under 'title'", "titles under 'headline' and names by 'spacy'")
    """
    title, _, extractor = setting.partition(_BY)
    return f"titles under {title!r}" + (f" and names by {extractor!r}" if extractor else "")
