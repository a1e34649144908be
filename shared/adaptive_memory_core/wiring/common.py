"""What has every memory, whether its process holds the collection or not? Options, ledger, background, ports."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from adaptive_memory_core import arguments as check
from adaptive_memory_core.cue.unrelated_elsewhere import UNRELATED_IN
from adaptive_memory_core.fields import Fields
from adaptive_memory_core.flow.calibrate import calibrate
from adaptive_memory_core.flow.calls.drive import Flow
from adaptive_memory_core.flow.calls.foreign_calls import Theirs
from adaptive_memory_core.flow.calls.unanswered import Unanswered
from adaptive_memory_core.flow.candidates.sources import Stages, channels_of, stages_with
from adaptive_memory_core.flow.ports import Index, Ledger, Ports, Records, Search, WriteBack
from adaptive_memory_core.flow.ports.user_files import FileKind
from adaptive_memory_core.languages import all_languages
from adaptive_memory_core.models.embedder import Embedder, as_embedder
from adaptive_memory_core.models.entities import as_extract
from adaptive_memory_core.models.hierarchy_roles import as_roles
from adaptive_memory_core.models.reader import as_reader
from adaptive_memory_core.models.reranker import as_reranker, sources_of
from adaptive_memory_core.models.same_fact import as_rule
from adaptive_memory_core.opened import Parts
from adaptive_memory_core.options import Options, checked
from adaptive_memory_core.policy.keeping import Keeping
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.policy_in_force import PolicyInForce
from adaptive_memory_core.records import Scope
from adaptive_memory_core.reports import Finding
from adaptive_memory_core.store.background import Background, Chore, Going
from adaptive_memory_core.store.checkpoints import checkpoints_of
from adaptive_memory_core.store.chroma.changes import ChangeWatch
from adaptive_memory_core.store.embedder_check import CheckedEmbedder
from adaptive_memory_core.store.floor_keeper import FloorKeeper
from adaptive_memory_core.store.graph.compared_names import ComparedNames
from adaptive_memory_core.store.graph.index import GraphIndex
from adaptive_memory_core.store.graph.linked_users import LinkedUsers
from adaptive_memory_core.store.hierarchy.growing import Growing
from adaptive_memory_core.store.hierarchy.index import HierarchyIndex
from adaptive_memory_core.store.place_names import check_ledger, is_in_postgres
from adaptive_memory_core.store.postgres.ledger import reach
from adaptive_memory_core.store.question_index import QuestionIndex
from adaptive_memory_core.store.scheduled_pruning import ScheduledPruning
from adaptive_memory_core.store.user_files.keeper import UserFilesKeeper
from adaptive_memory_core.store.user_files.kept_copies import KeptCopies
from adaptive_memory_core.store.words.index import WordIndex
from adaptive_memory_core.store.words.up_to_date import UpToDateWords
from adaptive_memory_core.verbs.inspection import request_to_calibrate
from adaptive_memory_core.wiring.given_telemetry import as_telemetry


class Asked:
    """What was asked for, checked before anything is opened."""

    def __init__(self, options: Options) -> None:
        self.options = options
        check_ledger(options.get("ledger"))
        if is_in_postgres(in_postgres := options.get("ledger")):
            reach(in_postgres)
        if (embedder := options.get("embedder")) is not None:
            as_embedder(embedder)
        self.unanswered: defaultdict[str, Unanswered] = defaultdict(Unanswered)
        given = sources_of(options.get("channels"))
        self.channels = {name: Theirs(one, self.unanswered[name]) for name, one in given.items()}
        if (reranker := options.get("reranker")) is not None:
            as_reranker(reranker)
        rule = as_rule(options.get("same_fact"))
        self.same_fact = None if rule is None else Theirs(rule, self.unanswered["same_fact"])
        read = as_reader(options.get("reader"))
        self.reader = None if read is None else Theirs(read, self.unanswered["reader"])
        self.entities, self.roles = as_extract(options.get("entities")), as_roles(options.get("roles"))
        self.telemetry = as_telemetry(options.get("telemetry"))
        self.stages: Stages = self.telemetry.sources(stages_with(self.channels))
        policy = options["policy"] or Policy()
        self.in_force = PolicyInForce(policy, options["clock"], channels_of(self.stages))
        self.keeping, self.fields = options["keeping"] or Keeping(), options["fields"] or Fields()


def check_options(options: Options) -> None:
    """Refuse what no memory can be opened with, before anything is made."""
    given = checked(options, usual_clock=float)  # no clock is read
    Asked(given)
    check.shared(given["shared"])


@dataclass(frozen=True)
class Store:
    """Where records are kept and found, and who sees to it."""

    records: Records
    search: Search
    write_back: WriteBack
    indexes: tuple[Index, ...]
    chores: tuple[Chore, ...]
    whole: Callable[..., Sequence[Finding]]
    sync: Callable[[], object]
    finish: Callable[[], object]
    reembed: Callable[..., int]
    changes: ChangeWatch
    others_heard: Callable[[Callable[[Sequence[str]], object]], object] = id  # takes who hears of what others changed
    yet_to_come: Callable[[], int] = int  # how much of what other processes wrote the collection has yet to show


@dataclass(frozen=True)
class Common:
    """What was asked for, the embedder and the ledger, and the thread that does the chores."""

    asked: Asked
    name: str  # of the collection
    embedder: Embedder
    ledger: Ledger
    directory: Path | None
    background: Background = field(default_factory=Background)
    files: UserFilesKeeper = field(default_factory=UserFilesKeeper)

    def __post_init__(self) -> None:
        self.files.wake = self.background.wake

    def kept(self, kind: FileKind) -> KeptCopies:
        """Copies of users' rows in files beside the ledger."""
        return KeptCopies(kind, self.ledger.user_files, self.files, self.asked.keeping.file_records)

    def parts(self, store: Store, embedder: CheckedEmbedder) -> Parts:
        """Everything that a memory over this store calls."""
        made: list[Ports] = []  # the measuring of floors asks through the ports that it is a part of

        def measured(scope: Scope, policy: Policy, language: str, going: Going) -> Flow[object]:
            request = request_to_calibrate(self.asked.in_force, self.embedder.name, scope, policy)
            return calibrate(made[0], request, UNRELATED_IN[language], going=going)

        wake, ledger = self.background.wake, self.ledger
        ledger.user_files.sweep()
        index = WordIndex(ledger.words, self.asked.fields, ledger.afterwards, self.kept("words"))
        words = UpToDateWords(index, store.records, wake, store.changes, store.yet_to_come)
        store.others_heard(words.overwritten)
        fields, names = self.asked.fields, self.asked.entities
        linked = LinkedUsers(ledger.graph, store.records, fields, wake, read_only=ledger.read_only)
        compared = ComparedNames(ledger.graph.alike, embedder, self.embedder.name, read_only=ledger.read_only)
        graph = GraphIndex(ledger.graph, store.records, store.search, fields, wake, linked, compared, names)
        hierarchy = self._hierarchy(store, embedder)
        floors = FloorKeeper(embedder, self.embedder.name, store.records, measured, wake)
        in_force = self.asked.in_force
        pruning = ScheduledPruning(self.asked.keeping, lambda: in_force.regime, in_force.now, lambda: made[0])
        made.append(self._ports(store, embedder, words, graph, hierarchy, floors))
        return Parts(
            made[0],
            words,
            graph,
            hierarchy,
            (*store.chores, words, graph, hierarchy, floors, pruning, self.files, *checkpoints_of(ledger, wake)),
            store.whole,
            store.sync,
            store.finish,
            store.reembed,
        )

    def _hierarchy(self, store: Store, embedder: CheckedEmbedder) -> HierarchyIndex:
        asked, ledger = self.asked, self.ledger
        growing = Growing(
            rows=ledger.hierarchy,
            mirror=ledger.mirror,
            records=store.records,
            search=store.search,
            embedder=embedder,
            fields=asked.fields,
            roles=asked.roles,
            settings=lambda: asked.in_force.policy.hierarchy,
            now=asked.in_force.now,
            transaction=ledger.transaction,
        )
        return HierarchyIndex(growing, ledger.notes.uuid, self.background.wake, read_only=ledger.read_only)

    def _ports(
        self,
        store: Store,
        embedder: CheckedEmbedder,
        words: UpToDateWords,
        graph: GraphIndex,
        hierarchy: HierarchyIndex,
        floors: FloorKeeper,
    ) -> Ports:
        asked, languages = self.asked, self.asked.options.get("languages")
        return Ports(
            search=store.search,
            records=store.records,
            ledger=asked.telemetry.ledger(self.ledger),
            embedder=embedder,
            write_back=store.write_back,
            words=words,
            graph=graph,
            hierarchy=hierarchy,
            indexes=(words, graph, hierarchy, QuestionIndex(self.ledger.judged_questions), *store.indexes),
            floors=floors,
            background=self.background,
            write_through=asked.options["write"] == "through",
            log=asked.keeping.log,
            count_seconds=asked.keeping.count_seconds,
            fields=asked.fields,
            languages=all_languages() if languages is None else tuple(languages),
            channels=asked.channels,
            sources=asked.stages,
            unanswered=asked.unanswered,
        )
