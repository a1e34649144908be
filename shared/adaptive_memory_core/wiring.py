"""How are the parts of a memory put together? Ports over a collection, as the options say."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adaptive_memory_core.cue.time.english import English
from adaptive_memory_core.cue.unrelated import UNRELATED
from adaptive_memory_core.flow.calibrate import calibrate
from adaptive_memory_core.flow.calls.drive import Flow
from adaptive_memory_core.flow.calls.foreign_calls import Theirs
from adaptive_memory_core.flow.calls.unanswered import Unanswered
from adaptive_memory_core.flow.candidates.sources import channels_of, stages_with
from adaptive_memory_core.flow.ports import Index, Ledger, Ports
from adaptive_memory_core.models.embedder import Embedder, as_embedder, bundled_unless, of_collection
from adaptive_memory_core.models.reranker import Reranker, as_reranker, sources_of
from adaptive_memory_core.opened import Opened
from adaptive_memory_core.options import Options
from adaptive_memory_core.policy.keeping import Keeping
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.policy_in_force import PolicyInForce
from adaptive_memory_core.records import Fields, Scope
from adaptive_memory_core.reports import Finding
from adaptive_memory_core.store import locations, process_lock
from adaptive_memory_core.store.background import Background, Chore, Going
from adaptive_memory_core.store.check_memory import compare_on_opening, whole_memory
from adaptive_memory_core.store.chroma.changes import ChangeWatch
from adaptive_memory_core.store.chroma.damage import refuse_damaged
from adaptive_memory_core.store.chroma.records import ChromaRecords
from adaptive_memory_core.store.chroma.repair import repair_index
from adaptive_memory_core.store.chroma.search import ChromaSearch
from adaptive_memory_core.store.embedder_check import CheckedEmbedder, recorded
from adaptive_memory_core.store.floor_keeper import FloorKeeper
from adaptive_memory_core.store.gone_collections import forget_gone_collections, is_beside
from adaptive_memory_core.store.mirror.assembled import mirrored
from adaptive_memory_core.store.words.index import WordIndex
from adaptive_memory_core.store.words.up_to_date import UpToDateWords
from adaptive_memory_core.store.write_back import WriteBack
from adaptive_memory_core.verbs.inspection import request_to_calibrate

if TYPE_CHECKING:
    from chromadb import Collection


def opened(collection: Collection, options: Options) -> Opened:
    """All parts of a memory over a collection, at work; where one cannot be made, none is left open."""
    locations.check_collection(collection)
    unanswered: defaultdict[str, Unanswered] = defaultdict(Unanswered)
    channels = {name: Theirs(one, unanswered[name]) for name, one in sources_of(options.get("channels")).items()}
    if (reranker := options.get("reranker")) is not None:
        as_reranker(reranker)
    stages = stages_with(channels)
    in_force = PolicyInForce(options["policy"] or Policy(), options["clock"], channels_of(stages))
    directory = locations.directory_of(collection)
    with ExitStack() as handles:
        if directory is not None:
            _claim(directory, handles)
            refuse_damaged(directory, str(collection.id), collection.name)
        given = options.get("embedder")
        embedder = of_collection(collection) if given is None else as_embedder(given)
        ledger = _ledger(collection, options, handles)
        parts = _Parts(collection, options, in_force, embedder, ledger)
        languages = options.get("languages")
        parts.ports = Ports(
            search=parts.mirror.search,
            records=parts.records,
            ledger=ledger,
            embedder=parts.embedder,
            write_back=parts.write_back,
            words=parts.words,
            indexes=parts.indexes,
            floors=parts.floors,
            background=parts.background,
            write_through=options["write"] == "through",
            log=parts.keeping.log,
            count_seconds=parts.keeping.count_seconds,
            fields=parts.fields,
            languages=(English(),) if languages is None else tuple(languages),
            channels=channels,
            sources=stages,
            unanswered=unanswered,
        )
        return parts.start(handles.pop_all(), options.get("reranker"))
    raise AssertionError("An ExitStack swallows nothing.")


class _Parts:
    """The parts while they are being put together: some need each other."""

    ports: Ports

    def __init__(
        self,
        collection: Collection,
        options: Options,
        in_force: PolicyInForce,
        embedder: Embedder,
        ledger: Ledger,
    ) -> None:
        self.keeping = options["keeping"] or Keeping()
        self.in_force, self.embedder_name, self.ledger = in_force, embedder.name, ledger
        self.fields = options["fields"] or Fields()
        self.records = ChromaRecords(collection, self.fields)
        self.directory = locations.directory_of(collection)
        self._look_for_gone = is_beside(self.directory, options.get("ledger"))
        compare_on_opening(self.directory, self.records, ledger, now=in_force.now())
        self.embedder = CheckedEmbedder(embedder, collection.name, ledger, recorded(collection, ledger))
        self.background = Background()
        wake = self.background.wake
        search = ChromaSearch(collection, self.fields)
        self.mirror = mirrored(self.records, search, ledger, self.keeping, self.directory, wake)
        self.write_back = WriteBack(ledger, self.records, self.keeping, self._trim, wake)
        index = WordIndex(ledger.words, self.fields, ledger.afterwards)
        self.words = UpToDateWords(index, self.records, wake, ChangeWatch(self.directory))
        self.indexes: tuple[Index, ...] = (self.words, *self.mirror.indexes)
        self.floors = FloorKeeper(self.embedder, embedder.name, self.records, self._measured, wake)

    def start(self, handles: ExitStack, reranker: Reranker | None) -> Opened:
        chores: tuple[Chore, ...] = (self.write_back, self.words, *self.mirror.chores, self.floors)
        opened = Opened(
            ports=self.ports,
            in_force=self.in_force,
            fields=self.fields,
            keeping=self.keeping,
            embedder_name=self.embedder_name,
            write_back=self.write_back,
            words=self.words,
            mirror=self.mirror.keeper,
            background=self.background,
            whole=self._whole,
            handles=handles,
            reranker=reranker,
        )
        opened.expect_words()
        self.background.start(chores, opened.let_go)
        return opened

    def _whole(self, *, repair: bool) -> list[Finding]:
        parts = (self.directory, self.records, self.ledger, self.embedder.embed_documents)
        return whole_memory(*parts, repair=repair, now=self.in_force.now())

    def _trim(self) -> None:
        keep, now = self.keeping, self.in_force.now()
        if self.directory is not None and self._look_for_gone:
            self._look_for_gone = False
            forget_gone_collections(self.directory, self.ledger)
        self.ledger.retention.trim(now=now, log_days=keep.log_days, log_recalls=keep.log_recalls)
        self.ledger.statistics.sample(self.in_force.regime, every=keep.sample_recalls, now=now)

    def _measured(self, scope: Scope, policy: Policy, going: Going) -> Flow[object]:
        request = request_to_calibrate(self.in_force, self.embedder_name, scope, policy)
        return calibrate(self.ports, request, UNRELATED, going=going)


def _claim(directory: Path, handles: ExitStack) -> None:
    process_lock.claim(directory)
    handles.callback(process_lock.release, directory)


def _ledger(collection: Collection, options: Options, handles: ExitStack) -> Ledger:
    keeping = options["keeping"] or Keeping()
    ledger = locations.open_ledger(collection, options.get("ledger"), durability=keeping.durability)
    if ledger.outlives_process:
        handles.callback(ledger.close)
    ledger.attach(str(collection.id), collection.name)
    return ledger


def repaired(
    path: str | Path,
    collection: str,
    embedder: Any,
    ledger: str | Path | None,
    progress: Callable[[int, int], object] | None,
    *,
    anew: bool,
) -> Sequence[Finding]:
    """What was wrong with the index in a directory, and was mended."""
    directory = locations.there(path)
    beside = directory / locations.LEDGER_NAME if ledger is None else Path(ledger)
    return repair_index(directory, collection, partial(bundled_unless, embedder), beside, progress, anew=anew)
