"""Where does it all begin? The front door: a memory over a Chroma collection, and the one reader of the clock."""

from __future__ import annotations

import atexit
import os
import threading
import time
import uuid
import warnings
import weakref
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from adaptive_memory_core import arguments as check
from adaptive_memory_core.arguments import channels as check_channels
from adaptive_memory_core.arguments import moment, user_scope
from adaptive_memory_core.check_report import CheckReport
from adaptive_memory_core.cue.time.english import English
from adaptive_memory_core.cue.time.intent import Language
from adaptive_memory_core.cue.unrelated import UNRELATED
from adaptive_memory_core.errors import AdaptiveMemoryError, ClosedError, InvalidInputError, PolicyError, ScopeError
from adaptive_memory_core.flow.calibrate import calibrate
from adaptive_memory_core.flow.calls.drive import Flow
from adaptive_memory_core.flow.calls.foreign_calls import Theirs, Unanswered, UnansweredBy
from adaptive_memory_core.flow.candidates.shared_scope import fallback_of
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.models.embedder import Embedder, as_embedder, of_collection
from adaptive_memory_core.models.reranker import Reranker, Source, as_reranker, sources_of
from adaptive_memory_core.policy.decay import Phase, Regime
from adaptive_memory_core.policy.keeping import Keeping
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import Fields, Scope
from adaptive_memory_core.store import locations as place
from adaptive_memory_core.store import process_lock
from adaptive_memory_core.store.check_memory import compare_on_opening, whole_memory
from adaptive_memory_core.store.chroma.damage import refuse_damaged
from adaptive_memory_core.store.chroma.records import ChromaStore
from adaptive_memory_core.store.chroma.repair import repair_index
from adaptive_memory_core.store.embedder_check import CheckedEmbedder, notes_on
from adaptive_memory_core.store.floor_keeper import FloorKeeper
from adaptive_memory_core.store.ledger.outbox import trim
from adaptive_memory_core.store.ledger.sqlite_ledger import SQLiteLedger
from adaptive_memory_core.store.words.channel import LexicalChannel
from adaptive_memory_core.store.words.index import WordIndex
from adaptive_memory_core.store.write_back import BackgroundProjector
from adaptive_memory_core.upkeep_verbs import request_to_calibrate
from adaptive_memory_core.user_memory import UserMemory

if TYPE_CHECKING:
    from chromadb import Collection

THREADS = 8  # of the async twins
_open: weakref.WeakSet[AdaptiveMemory] = weakref.WeakSet()


class AdaptiveMemory:
    """Memory over a Chroma collection that learns from being read.

    `collection` is any `chromadb.Collection`, with or without records of ours. `embedder` is a callable from a list
    of texts to a list of vectors, an embedder of this package, or None for the collection's own embedding function.
    `ledger` is a path; omitted, it is a file in the directory of a persistent client and RAM for an ephemeral one.
    `write="through"` shows every read in the collection before `recall` returns, instead of a few seconds later.
    `languages` read the words about time in a question; omitted, `English()`, whose days are those of UTC.
    `channels` are further ways to find records, which a policy may name: functions of a cue, a user and a limit to ids
    with a number in [0, 1] each. `reranker` reads a cue and texts together: a function of both to one number each, or
    an object with `predict(pairs)`, such as a sentence-transformers CrossEncoder. Both may be async.
    `shared` names the users whose records any user may be given to fall back to; nobody else's can be.

    >>> import chromadb
    >>> letters = lambda texts: [[float(text.count(letter)) for letter in "aeiou"] for text in texts]
    >>> collection = chromadb.EphemeralClient().create_collection("doctest-front-door", embedding_function=None)
    >>> with AdaptiveMemory(collection, embedder=letters) as memory:
    ...     alice = memory.for_user("alice")
    ...     _ = alice.remember_many(["tea", "coffee"])
    ...     alice.recall("tea", k=1)[0].text
    'tea'
    """

    def __init__(
        self,
        collection: Collection,
        *,
        embedder: Any = None,
        ledger: str | Path | SQLiteLedger | None = None,
        policy: Policy | None = None,
        fields: Fields | None = None,
        clock: Callable[[], float] = time.time,
        write: Literal["behind", "through"] = "behind",
        keeping: Keeping | None = None,
        languages: Iterable[Language] | None = None,
        channels: Mapping[str, Source] | None = None,
        reranker: Reranker | None = None,
        shared: Iterable[str] = (),
    ) -> None:
        if write not in ("behind", "through"):
            raise PolicyError(f"write is {write!r}. It must be 'behind' or 'through'.")
        self._unanswered: defaultdict[str, Unanswered] = defaultdict(Unanswered)
        self._reranking = UnansweredBy()
        self._channels = {name: Theirs(one, self._unanswered[name]) for name, one in sources_of(channels).items()}
        self._reranker = self._theirs(reranker)
        self.policy = Policy() if policy is None else policy
        self.fields = Fields() if fields is None else fields
        self.keeping = Keeping() if keeping is None else keeping
        self._clock, self._pid, self._closed = clock, os.getpid(), False
        self._languages = (English(),) if languages is None else tuple(languages)
        self.shared = check.shared(shared)
        self._closing = threading.Lock()
        self._client: Any = None
        place.check_collection(collection)
        self._executor: ThreadPoolExecutor | None = None
        self._directory = place.directory_of(collection)
        if self._directory is not None:
            process_lock.claim(self._directory)
        try:
            if self._directory is not None:
                refuse_damaged(self._directory, str(collection.id), collection.name)
            self._build(collection, embedder, ledger, through=write == "through")
        except BaseException:
            self._leave()
            raise
        _open.add(self)

    @classmethod
    def open(
        cls,
        path: str | Path,
        collection: str = "memories",
        *,
        embedder: Any = None,
        ledger: str | Path | SQLiteLedger | None = None,
        policy: Policy | None = None,
        fields: Fields | None = None,
        clock: Callable[[], float] = time.time,
        write: Literal["behind", "through"] = "behind",
        keeping: Keeping | None = None,
        languages: Iterable[Language] | None = None,
        channels: Mapping[str, Source] | None = None,
        reranker: Reranker | None = None,
        shared: Iterable[str] = (),
    ) -> AdaptiveMemory:
        """A memory in a directory: embedded Chroma and the ledger in one place.

        Without an `embedder` it is the bundled one, which needs the extra `local`.
        """
        source = _embedder(embedder)
        with process_lock.held(place.checked(path)):
            client = place.open_client(path)
            try:
                memory = cls(
                    place.open_collection(client, collection, notes_on(source)),
                    embedder=source,
                    ledger=ledger,
                    policy=policy,
                    fields=fields,
                    clock=clock,
                    write=write,
                    keeping=keeping,
                    languages=languages,
                    channels=channels,
                    reranker=reranker,
                    shared=shared,
                )
            except BaseException:
                place.close_client(client)
                raise
        memory._client = client
        return memory

    @classmethod
    def repair(
        cls,
        path: str | Path,
        collection: str = "memories",
        *,
        embedder: Any = None,
        ledger: str | Path | None = None,
        fields: Fields | None = None,
        progress: Callable[[int, int], object] | None = None,
    ) -> CheckReport:
        """Mend a memory in a directory, one that cannot be opened as well; gives what was wrong. No read is lost.

        A damaged index is made anew from the collection's own records. Vectors that cannot be read any more are made
        again with `embedder` (omitted, the bundled one); `progress` is called with how many records are done, of how
        many. The old files are kept. Then the memory is opened, and what `check(repair=True)` mends is mended.
        """
        beside = place.checked(path) / place.LEDGER_NAME if ledger is None else Path(ledger)
        made = partial(_embedder, embedder)
        found = repair_index(place.checked(path), collection, made, beside, progress)
        with cls.open(path, collection, embedder=made(), ledger=ledger, fields=fields) as memory:
            return CheckReport((*found, *memory.check(repair=True).findings))

    def check(self, repair: bool = False) -> CheckReport:
        """Look at everything this memory stands on, and say what is wrong and what can be done; this reads every file.

        With `repair`, what can be mended while the memory is open is mended: records the index lacks, two records of
        one id, reads that a newer collection knows of.
        """
        self.ports()
        parts = (self._directory, self._store, self._ledger, self._checked.embed_documents)
        return CheckReport(tuple(whole_memory(*parts, repair=repair, now=self.now())))

    def for_user(self, user: str, *, fallback: str | UserMemory | None = None, fallback_below: int = 1) -> UserMemory:
        """The memory of one user; every read and write goes through such a scope.

        `fallback` is what recalls of a user without a history fill up with: a user named in `shared` when this memory
        was made, or `for_everyone()`. It ends when the user has `fallback_below` records of their own.
        """
        scope = user_scope(user)
        if fallback is None:
            return UserMemory(self, scope)
        if isinstance(fallback, UserMemory) and fallback.memory is not self:
            raise ScopeError(f"The fallback {fallback!r} is of another memory. Give one of this memory's scopes.")
        behind = fallback.scope if isinstance(fallback, UserMemory) else user_scope(fallback)
        return UserMemory(self, scope, fallback_of(scope, behind, self.shared, fallback_below))

    def for_everyone(self) -> UserMemory:
        """The memory of the records that belong to no user; it never returns one that belongs to a user."""
        return UserMemory(self, Scope(None))

    def flush(self) -> None:
        """Write everything learned so far into the collection's metadata, before this returns."""
        self.ports()
        self._projector.flush()
        self._projector.tidy()

    def close(self) -> None:
        """Flush and let go. What could not be written back waits in the ledger for the next time it is opened."""
        with self._closing:
            if self._closed:
                return
            self._closed = True
        if self._pid == os.getpid():
            _open.discard(self)
            self._floors.close()
            self._words.close()
            self._flush_last()
            self._projector.close()
            self._leave()

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "A memory cannot be pickled: it holds an open ledger and a lock. Open it in the process that uses it, e.g. "
            "AdaptiveMemory.open('./memory')."
        )

    def __enter__(self) -> AdaptiveMemory:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def policy(self) -> Policy:
        """How recalls rank, unless a call brings its own policy; may be set while the memory is in use."""
        return self._policy

    @policy.setter
    def policy(self, policy: Policy) -> None:
        if not isinstance(policy, Policy):
            raise PolicyError(f"policy is {policy!r}. Give a Policy, e.g. memory.policy.replace(half_life_days=7).")
        check_channels(policy, self._channels)
        regime: Regime | None = getattr(self, "_regime", None)
        if regime is not None:
            self._regime = regime.followed_by(policy.pace, at=self.now())
        self._policy = policy
        self._expect_words()

    @property
    def regime(self) -> Regime:
        """The paces of this memory's policies so far."""
        return self._regime

    @property
    def embedder_name(self) -> str:
        """What the vectors here are made with, as a collection remembers it."""
        return self._embedder_name

    @property
    def executor(self) -> ThreadPoolExecutor:
        """The threads that the async twins do their I/O in."""
        self.ports()
        if self._executor is None:
            with self._closing:
                self._executor = self._executor or ThreadPoolExecutor(THREADS, thread_name_prefix="adaptive-memory")
        return self._executor

    def ports(self) -> Ports:
        """What the flows ask; refuses where this memory was closed or came over from another process."""
        if self._closed:
            raise ClosedError("This memory was closed. Open it again: AdaptiveMemory.open(...) or AdaptiveMemory(...).")
        if self._pid != os.getpid():
            raise ClosedError(
                "This memory was opened in the parent process. Neither Chroma nor SQLite survives a fork: open it in "
                "the process that uses it; for several processes use a Chroma server."
            )
        return self._ports

    def now(self) -> float:
        """The time, read once for each call of a verb."""
        now = moment(self._clock(), "the clock's time")
        if now is None:
            raise InvalidInputError("The clock gave None. Give a function that returns POSIX seconds, e.g. time.time.")
        return now

    def new_id(self) -> str:
        return str(uuid.uuid4())

    def reranker_of(self, given: Reranker | None) -> Theirs | None:
        """What a call brings, else this memory's."""
        return self._reranker if given is None else self._theirs(given)

    def _theirs(self, given: Reranker | None) -> Theirs | None:
        return None if given is None else Theirs(as_reranker(given), self._reranking.of(given))

    def _build(self, collection: Collection, embedder: Any, ledger: Any, *, through: bool) -> None:
        if not callable(self._clock):
            raise InvalidInputError(f"clock is {self._clock!r}. Give a function that returns POSIX seconds.")
        if not isinstance(self.fields, Fields) or not isinstance(self.keeping, Keeping):
            raise InvalidInputError(
                f"fields is {self.fields!r}, keeping is {self.keeping!r}. Give Fields(...) and Keeping(...)."
            )
        self._regime = Regime((Phase(self._policy.pace, self.now()),))
        source = of_collection(collection) if embedder is None else as_embedder(embedder)
        self._embedder_name = source.name
        self._store = ChromaStore(collection, self.fields)
        self._ledger = place.open_ledger(collection, ledger, durability=self.keeping.durability)
        self._ledger.attach(str(collection.id), collection.name)
        compare_on_opening(self._store, self._ledger, now=self.now())
        self._checked = checked = CheckedEmbedder(source, collection, self._ledger)
        self._projector = BackgroundProjector(self._ledger, self._store, self.keeping, self._trim)
        self._words = LexicalChannel(WordIndex(self._ledger, self.fields), self._store)
        self._floors = FloorKeeper(checked, source.name, self._store, self._measured)
        self._expect_words()
        own = (self._store, self._ledger, checked, self._projector, self._words, self._floors)
        self._ports = Ports(*own, through, self.keeping.log, self._languages, self._channels, self._unanswered)

    def _measured(self, scope: Scope, policy: Policy, going: Callable[[], bool]) -> Flow[object]:
        return calibrate(self._ports, request_to_calibrate(self, scope, policy), UNRELATED, going=going)

    def _expect_words(self) -> None:
        """Index words as they are written, not when they are first asked for, where this memory finds by them."""
        channel: LexicalChannel | None = getattr(self, "_words", None)
        if channel is not None and "lexical" in self._policy.suited(self._embedder_name).channels:
            channel.expect()

    def _trim(self) -> None:
        keep = self.keeping
        now = self.now()
        trim(self._ledger, now=now, log_days=keep.log_days, log_recalls=keep.log_recalls)
        self._ledger.sample(self.regime, every=keep.sample_recalls, now=now)

    def _flush_last(self) -> None:
        try:
            self._projector.flush()
            self._projector.tidy()
        except AdaptiveMemoryError as error:
            warnings.warn(
                f"Not everything could be written back into the collection: {error} It waits in the ledger and is "
                "written when this memory is opened again.",
                RuntimeWarning,
                stacklevel=3,
            )

    def _leave(self) -> None:
        if self._executor is not None:
            self._executor.shutdown(wait=True)
        ledger = getattr(self, "_ledger", None)
        if ledger is not None and ledger.file.path != place.IN_MEMORY:
            ledger.close()
        if self._client is not None:
            place.close_client(self._client)
        if self._directory is not None:
            process_lock.release(self._directory)


def _embedder(given: Any) -> Embedder:
    """What was given, else the bundled one."""
    if given is None:
        from adaptive_memory_core.models.local import LocalEmbedder

        given = LocalEmbedder()
    return as_embedder(given)


@atexit.register
def _close_all() -> None:
    """A normal end of the interpreter loses nothing."""
    for memory in list(_open):
        memory.close()
