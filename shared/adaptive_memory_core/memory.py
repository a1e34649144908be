"""`AdaptiveMemory`, the entry point: opening, closing, maintaining and dividing a memory by user."""

from __future__ import annotations

import time
import warnings
import weakref
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from typing_extensions import Self, Unpack

from adaptive_memory_core import arguments as check
from adaptive_memory_core import users_together, wiring
from adaptive_memory_core.error_messages import no_attribute
from adaptive_memory_core.errors import DamagedStoreError
from adaptive_memory_core.fields import Fields
from adaptive_memory_core.flow.calls.running_calls import ClosedByWith
from adaptive_memory_core.flow.calls.workers import in_worker
from adaptive_memory_core.flow.fallback import fallback_of
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.in_force import OwnPolicy, keep_policy, random_ids
from adaptive_memory_core.models.embedder import bundled_unless
from adaptive_memory_core.opened import NOT_PICKLED
from adaptive_memory_core.options import Options, checked
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import Scope
from adaptive_memory_core.reports import CheckReport
from adaptive_memory_core.store import locations, process_locks
from adaptive_memory_core.store.backup import back_up
from adaptive_memory_core.store.embedder_check import notes_on
from adaptive_memory_core.store.held_elsewhere import HeldElsewhere, HolderGoneError
from adaptive_memory_core.store.locations import check_collection_name
from adaptive_memory_core.store.postgres.postgres_ledger import create_ledger_tables
from adaptive_memory_core.user_memory import UserMemory

if TYPE_CHECKING:
    from chromadb import Collection

READ_ONLY = (
    "{directory!r} may not be written, so the memory is open for reading only: recalls are not counted, and nothing "
    "can be stored. Give read_only=True to open it this way without a warning."
)


class AdaptiveMemory(ClosedByWith):
    """Memory over a Chroma collection that learns from being read.

    `collection` is any `chromadb.Collection`; `Options` lists all other arguments, of which `embedder`, `ledger` and
    `policy` are the usual ones. Close it, or use `with`. A memory that is dropped is closed in the background.

    >>> import chromadb
    >>> letters = lambda texts: [[float(text.count(letter)) for letter in "aeiou"] for text in texts]
    >>> collection = chromadb.EphemeralClient().create_collection("doctest-front-door", embedding_function=None)
    >>> with AdaptiveMemory(collection, embedder=letters) as memory:
    ...     alice = memory.for_user("alice")
    ...     _ = alice.remember_many(["tea", "coffee"])
    ...     alice.recall("tea", k=1)[0].text
    'tea'
    """

    def __init__(self, collection: Collection | HeldElsewhere, **options: Unpack[Options]) -> None:
        given = checked(options, usual_clock=time.time)
        self.shared = check.shared(given["shared"])
        self.opened = wiring.opened(collection, given)
        weakref.finalize(self, self.opened.background.leave).atexit = False
        self.fields, self.keeping = self.opened.fields, self.opened.keeping

    @classmethod
    def open(
        cls, path: str | Path, collection: str = "memories", *, read_only: bool = False, **options: Unpack[Options]
    ) -> Self:
        """Open (or create) a memory in a directory: embedded Chroma and the ledger in one place.

        It takes the same options. Without an `embedder` it uses the bundled embedder, which needs the extra `local`.
        Any number of processes may have a directory open: one process holds Chroma, the others use the ledger's copies.

        With `read_only` nothing is written: recalls are not counted, with a note in `recall.trace`, and every other
        write raises LedgerError. A directory without write permission is opened this way with a warning.
        """
        only_read = check.flag(read_only, "read_only")
        given = checked(options, usual_clock=time.time)
        wiring.OpenRequest(given)  # invalid options raise before a directory is created
        check_collection_name(collection)
        options["shared"], options["languages"] = check.shared(given["shared"]), given.get("languages")  # read once
        options["embedder"] = source = bundled_unless(options.get("embedder"))
        directory = locations.checked_path(path)
        if not only_read and not locations.is_writable(directory):
            only_read = True
            warnings.warn(READ_ONLY.format(directory=str(directory)), RuntimeWarning, stacklevel=2)
        if only_read:
            return cls(HeldElsewhere(directory, collection, read_only=True), **options)
        while True:
            with process_locks.held_if_free(directory) as holds:
                if holds:
                    return cls._hold(directory, collection, notes_on(source), options)
            with suppress(HolderGoneError):
                return cls(HeldElsewhere(directory, collection), **options)

    @classmethod
    def _hold(cls, directory: Path, name: str, notes: Mapping[str, str | int], options: Options) -> Self:
        """Open it as the process that holds the directory."""
        client = locations.open_client(directory)
        try:
            memory = cls(locations.open_collection(client, name, notes), **options)
        except BaseException:
            locations.close_client(client)
            raise
        memory.opened.handles.callback(locations.close_client, client)
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
        rebuild: bool = False,
    ) -> CheckReport:
        """Repair a memory in a directory, even if it cannot be opened, and return the faults. No read is lost.

        A damaged index is rebuilt from the collection's own records; the old files stay. If Chroma's database or the
        collection is damaged or missing, it is rebuilt from the ledger's copy. Vectors that are neither readable nor in
        the ledger are computed again with `embedder` (omitted, the bundled embedder); `progress` is called with the
        number of records done and the total. With `rebuild` an intact index is rebuilt too: until then Chroma's files
        contain the vectors of forgotten records, and so do the old files until you delete them. A check follows.
        """
        heard, afresh = check.progress(progress), check.flag(rebuild, "rebuild")
        found = wiring.repaired(path, collection, embedder, ledger, heard, rebuild=afresh)
        try:
            with cls.open(path, collection, embedder=embedder, ledger=ledger, fields=fields) as memory:
                return CheckReport((*found, *memory.check(repair=True).findings))
        except DamagedStoreError:
            if rebuild:
                raise
        return cls.repair(  # damage that only Chroma itself detects
            path, collection, embedder=embedder, ledger=ledger, fields=fields, progress=progress, rebuild=True
        )

    @staticmethod
    def create_tables(ledger: str) -> bool:
        """Create the tables of a ledger in PostgreSQL, with a role that may; True if there were none before.

        Opening a memory creates them if its role is allowed to. Several processes may call this at the same time.
        """
        return create_ledger_tables(ledger)

    @staticmethod
    def move_ledger(
        source: str | Path,
        target: str | Path,
        *,
        progress: Callable[[int, int], object] | None = None,
        source_stays: bool = False,
    ) -> int:
        """Move a ledger from a SQLite file to a PostgreSQL database, or back; return the number of rows copied.

        The memory stays usable during the move, except for a brief pause at the end. After that, writing to or opening
        the source raises an error that names the new place; with `source_stays` the ledger is only copied, and the
        source stays in use. The target must be empty. If a call was interrupted or killed, repeat it; it continues from
        that point. `progress` is called with the number of rows copied and the total.
        """
        from adaptive_memory_core.store.ledger_move import move_between

        stays = check.flag(source_stays, "source_stays")
        return move_between(source, target, check.progress(progress), source_stays=stays)

    def check(self, repair: bool = False) -> CheckReport:
        """Check all files that this memory uses, and report faults and remedies. This reads every file.

        With `repair`, faults that can be repaired while the memory is open are repaired: records missing from the
        index, two records with one id, reads that only a newer collection has.
        """
        return self.opened.check(repair=check.flag(repair, "repair"))

    def for_user(
        self,
        user: str | int,
        *,
        over: Literal["everyone"] | None = None,
        policy: Policy | None = None,
        fallback: str | UserMemory | None = None,
        fallback_below: int = 1,
    ) -> UserMemory:
        """The memory of one user. Every read and write goes through such a scope; creating one costs nothing.

        An empty or missing user raises ScopeError. A number is a user whose metadata contain that number, not the user
        with that text as name. With `over="everyone"` recalls also find the records that belong to no user, labelled
        (`hit.shared`), and the state learned about them is this user's (docs/guides/users.md). A `policy` is stored for
        this user in the ledger immediately. It applies to every call without a policy, in later processes too, until
        another is given or `reset_policy()` is called. `fallback` fills up recalls of a user without records: a user
        named in `shared` when this memory was created, or `for_everyone()`. It ends when the user has `fallback_below`
        records, and nothing is learned about the records it shows.
        """
        scope = check.over(check.user_scope(user), over, fallback)
        self.opened.check_scope(scope)
        own = OwnPolicy() if policy is None else OwnPolicy(keep_policy(self.ports(), scope, policy))
        check.count(fallback_below, "fallback_below")
        if fallback is None:
            return UserMemory(self, scope, own_policy=own)
        behind = fallback.scope_in(self) if isinstance(fallback, UserMemory) else check.user_scope(fallback)
        return UserMemory(self, scope, fallback_of(scope, behind, self.shared, fallback_below), own)

    def for_everyone(self) -> UserMemory:
        """The memory of the records that belong to no user; it never returns a user's record."""
        self.opened.check_scope(Scope(None))
        return UserMemory(self, Scope(None))

    users, ausers = users_together.users, users_together.ausers
    forget_user, aforget_user = users_together.forget_user, users_together.aforget_user
    replay, areplay = users_together.replay, users_together.areplay
    report, areport = users_together.report, users_together.areport
    tune, atune = users_together.tune, users_together.atune

    def backup(self, path: str | Path, *, progress: Callable[[int, int], object] | None = None) -> Path:
        """Copy the memory during use to a new directory, which can be opened like this one, and return its path.

        The copy contains every collection of the directory, and the ledger. Writes to the collection wait; recalls
        continue. `progress` is called with the bytes copied and the total. See docs/guides/operations.md on how to
        restore.
        """
        target, heard = locations.checked_path(path), check.progress(progress)
        self.flush()  # so that both halves of the copy are complete
        with self.opened.call():
            return back_up(*locations.directory_and_ledger(self.ports()), target, heard)

    async def abackup(self, path: str | Path, *, progress: Callable[[int, int], object] | None = None) -> Path:
        """`backup`, async."""
        return await in_worker(self.opened.workers, partial(self.backup, path, progress=progress))

    def reembed(self, embedder: Any, *, progress: Callable[[int, int], object] | None = None) -> int:
        """Give every record a vector of another embedder, during use, and return the number of records.

        Ids, texts, metadata, reads, verdicts, pins and links stay. Recalls use the old vectors until all new vectors
        are stored, and then switch at once. Work is done in batches, and `progress` is called with the number of
        records done and the total. If it is interrupted, by an error or by the end of the process, the next call with
        an embedder of the same name and the same vectors continues (five texts are compared); any other embedder starts
        again. With the collection's current embedder, all vectors are deliberately computed again. Other memories over
        the collection then reject their embedder, and its `chromadb.Collection` objects have to be fetched again by
        name, even after a call with the same embedder: docs/guides/models.md.
        """
        return self.opened.reembed(embedder, check.progress(progress))

    async def async_reembed(self, embedder: Any, *, progress: Callable[[int, int], object] | None = None) -> int:
        """`reembed`, async."""
        return await in_worker(self.opened.workers, partial(self.reembed, embedder, progress=progress))

    def flush(self) -> None:
        """Write all learned state into the collection's metadata before returning."""
        self.opened.flush()

    async def aflush(self) -> None:
        """`flush`, async."""
        await in_worker(self.opened.workers, self.flush)

    def sync(self) -> None:
        """Import other programs' writes to the collection before returning.

        Recalls notice such writes automatically: immediately in an embedded Chroma, on a server within
        `Keeping.others_seen_seconds`.
        """
        self.opened.sync()

    async def async_sync(self) -> None:
        """`sync`, async."""
        await in_worker(self.opened.workers, self.sync)

    def close(self) -> None:
        """Wait for all calls to end, write back what is pending, and release everything. A failed write warns, and its
        data stays in the ledger."""
        self.opened.close()

    async def aclose(self) -> None:
        """`close`, async: the event loop and the calls awaited on it continue."""
        import asyncio

        await asyncio.to_thread(self.close)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            raise no_attribute(AdaptiveMemory, name, "for_user(user).", UserMemory)

    def __reduce__(self) -> NoReturn:
        raise TypeError(NOT_PICKLED)

    @property
    def policy(self) -> Policy:
        """The policy for recalls that don't give their own; it can be set during use."""
        return self.opened.in_force.policy

    @policy.setter
    def policy(self, policy: Policy) -> None:
        self.opened.change_policy(policy)

    @property
    def embedder_name(self) -> str:
        """The name of the embedder of the vectors, as stored in the collection."""
        return self.opened.embedder_name

    @property
    def closed(self) -> bool:
        """Whether it was closed, or belongs to another process."""
        return not self.opened.usable

    def ports(self) -> Ports:
        """The ports that the verbs use. Raises ClosedError if this memory was closed or belongs to another process."""
        return self.opened.checked_ports()

    def now(self) -> float:
        return self.opened.in_force.now()

    def new_id(self) -> str:
        return random_ids.next()
