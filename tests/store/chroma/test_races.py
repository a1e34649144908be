"""The table of races: what two parties do with the same records, in which order, and what must hold at the end.

`we` and `another` are memories over one ledger, as in two processes. `they` are a program elsewhere, which no memory
hears; `here` is another client of this process. `at written: ...` has a step done at that moment of the next one:

    sent, written    before the exporter writes into the collection, and after that, before it settles
    asked, read      after the importer has asked what is pending, and after it has read, before it compares
    listed           after the importer has asked the collection for its ids
    looked           after the write-back has asked what the collection shows
    showing, shown   before the write-back writes read states into the collection, and after that, before it settles

`meanwhile` has it done in another thread, which may have to wait; `overtake` does it as if our lock had lapsed; `die`
ends the process, and another one opens the memory. `known` is in the ledger and exported. Behind the arrow are the
records at the end, which both sides have, and recalls find. `python -m benchmarks.race_mutations` takes one rule at a
time out of the code, and runs this table.
"""

from __future__ import annotations

import itertools
import math
import re
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, nullcontext
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any

import chromadb
import numpy as np
import pytest

from adaptive_memory_core import AdaptiveMemory, Policy
from adaptive_memory_core.errors import StoreError
from adaptive_memory_core.store.background import Background
from adaptive_memory_core.store.chroma import exporter
from adaptive_memory_core.store.chroma.chroma_changes import as_own_call
from adaptive_memory_core.store.chroma.chroma_records import ChromaRecords
from adaptive_memory_core.store.chroma.importer import MOST_GONE, Importer
from adaptive_memory_core.store.ledger.outbox import LedgerDueRecords
from tests.chroma_server import ChromaServer
from tests.conftest import Clock, contents, word_vectors
from tests.postgres_server import new_database
from tests.store.chroma.conftest import LATE, in_ledger, rows

TABLE = """
pending, and changed elsewhere
    known a one; we remember a two; they update a theirs; we compare; ledger has a two -> a two
pending, and deleted elsewhere
    known a one; we remember a two; they delete a; we compare; ledger imported 0 -> a two
new and pending, and added elsewhere
    we remember a one; they add a theirs; we compare -> a one
forgotten and pending, and changed elsewhere
    known a one; we forget a; they update a theirs; we compare; ledger lacks a ->
pending, and changed here
    we remember a one; here update a theirs; ledger has a theirs -> a theirs
pending, and its metadata changed here
    known a one; we remember a two; here tag a; chroma tags a -> a two
pending, and deleted here by a filter
    we remember a one; here delete_all; ledger lacks a ->
forgotten and pending, and added here
    known a one; we forget a; here add a one; ledger has a one -> a one
added elsewhere
    known a one; they add b theirs; we compare; ledger has b theirs -> a one, b theirs
changed elsewhere
    known a one; they update a theirs; we compare; ledger has a theirs -> a theirs
its metadata changed elsewhere
    known a one; they tag a; we compare; chroma tags a -> a one
its vector changed elsewhere
    known a one; they move a; we compare; ledger moves a -> a one
deleted elsewhere
    known a one; known b two; they delete a; we compare; ledger lacks a -> b two
deleted elsewhere, and another one added
    known a one; known b two; they delete a; they add c theirs; we compare; we find c theirs -> b two, c theirs
deleted elsewhere, and added again
    known a one; they delete a; they add a again; we compare; ledger has a again -> a again
deleted elsewhere while we write
    known a one; known b two; they delete a; we remember c three; we flush; we compare; ledger lacks a
    -> b two, c three
written back here to what it was
    known a one; here copy a; we remember a two; settle; here restore a; ledger has a one -> a one
forgotten, and added again elsewhere
    known a one; we forget a; settle; they add a theirs -> a theirs
most of them deleted elsewhere
    we fill; settle; they delete_all; refused: we compare; we compare; ledger full; we sync ->
most of them deleted elsewhere, as is pending
    we fill; settle; we clear; they delete_all; we compare ->
most of them deleted elsewhere, which a sync follows
    we fill; settle; they delete_all; we sync ->
most of them deleted here
    we fill; settle; here delete_all; ledger lacks m7 ->
most of them pending, and another one added elsewhere
    we fill; they add b theirs; we compare; ledger has b theirs; we clear -> b theirs
most of them deleted elsewhere, and written again
    we fill; settle; they delete_all; refused: we compare; we repair; chroma shows m7 note7; we clear ->
read, and deleted elsewhere
    known a one; we read a one; they delete a ->
read, and its metadata changed elsewhere
    known a one; we read a one; they tag a; settle; chroma tags a; chroma counts a 1 -> a one
read, and given to another user elsewhere
    known a one; we read a one; they give a; settle; chroma counts a 0 -> a one
read, and its count changed elsewhere
    known a one; we read a one; settle; they count a; settle; we read a one; settle; chroma counts a 2 -> a one
read before it is exported
    we remember a one; we read a one; settle; chroma counts a 1 -> a one
read, and written back before it is exported
    we remember a one; we read a one; we show; settle; chroma counts a 1 -> a one
read by two processes
    known a one; we read a one; another read a one; we flush; chroma counts a 2 -> a one
an export under way, and read
    we remember a one; at written: we read a one; we export; settle; chroma counts a 1 -> a one
an export under way, and forgotten
    we remember a one; at written: we forget a; we export ->
an export under way, and changed
    we remember a one; at written: we remember a two; we export -> a two
an export about to write, and forgotten
    we remember a one; at sent: we forget a; we export ->
a removal under way, and stored again
    known a one; we forget a; at written: we remember a two; we export -> a two
an export under way, and changed here
    known a one; we remember a two; at sent: meanwhile here update a theirs; we export; ledger has a theirs -> a theirs
an export under way, and another one added elsewhere
    known a one; we remember a two; at sent: they add b theirs; we export; we compare; ledger has b theirs
    -> a two, b theirs
two exports at once
    we remember a one; at sent: another remember a two; at sent: meanwhile another export; we export;
    chroma shows a two -> a two
an export overtaken by another process
    we remember a one; at sent: another remember a two; at sent: another overtake export; we export -> a two
an export overtaken by a write-back
    known a one; we read a one; we remember a one; at sent: another overtake show; we export; settle; chroma counts a 1
    -> a one
a removal overtaken by another process
    known a one; we forget a; at sent: another remember a two; at sent: another overtake export; we export -> a two
killed before the write
    we remember a one; at sent: we die; we export -> a one
killed after the write
    we remember a one; at written: we die; we export; we compare; ledger imported 0 -> a one
killed after the write, and changed
    known a one; here tag a; we remember a two; at written: we die; we export; we compare; ledger has a two -> a two
killed after the write, and forgotten
    we remember a one; at written: we die; we export; we forget a; we compare ->
killed after the removal, and stored again
    known a one; we forget a; at written: we die; we export; we remember a two; we compare -> a two
killed after the write, which arrives again once the record has changed
    we remember a one; at written: they copy a; at written: we die; we export; we remember a two; settle;
    they restore a; we compare; ledger has a two -> a two
an import under way, and forgotten
    known a one; they update a theirs; at read: we forget a; we compare; ledger lacks a ->
an import under way, and changed
    known a one; they update a theirs; at read: we remember a two; we compare; ledger has a two -> a two
an import under way, and superseded
    known a one; they update a theirs; at read: we supersede a two; we compare; settle; ledger supersedes a
    -> a one, a2 two
an import under way, and forgotten and removed
    known a one; they update a theirs; at read: we forget a; at read: we flush; we compare; ledger lacks a ->
an import under way, and imported, forgotten and removed by another process
    known a one; they add b theirs; at read: another sync; at read: another forget b; at read: another flush;
    we compare; ledger lacks b -> a one
an import under way, and changed and exported
    known a one; they update a theirs; at read: another remember a two; at read: we flush; we compare; ledger has a two
    -> a two
an import under way, and changed before it is read and exported after
    known a one; they tag a; at asked: we remember a two; at read: we flush; we compare; ledger has a two -> a two
an import under way, and changed elsewhere again
    known a one; they update a theirs; at read: they update a again; we compare -> a again
an import under way, and its reads written back
    known a one; we read a one; they tag a; at read: we show; we compare; chroma tags a -> a one
an import under way, and marked by a repair
    known a one; they delete a; at read: we mark a; we compare; ledger has a one -> a one
ids listed, and one stored meanwhile
    known a one; known b two; they delete b; they add c theirs; at listed: we remember d own; at listed: we flush;
    we compare; we find d own -> a one, c theirs, d own
a write-back under way, and read again
    known a one; we read a one; at shown: we read a one; we show; settle; chroma counts a 2 -> a one
a write-back under way, and another record under the id
    known a one; we read a one; at shown: we forget a; at shown: we remember a two; we show; settle; chroma counts a 0
    -> a two
a write-back about to write, and deleted elsewhere
    known a one; we read a one; at showing: they delete a; we show ->
a write-back overtaken by another process
    known a one; we read a one; at showing: another read a one; at showing: another overtake show; we show; settle;
    chroma counts a 2 -> a one
a write-back and an export at once
    we remember a one; we read a one; at looked: meanwhile we export; we show; settle; chroma counts a 1 -> a one
a write-back of what was stored again, overtaken by another process
    known a one; another read a one; settle; we remember a two; at shown: another overtake show; we show; settle;
    chroma counts a 0 -> a two
killed after a write-back
    known a one; we read a one; at shown: we die; we show; settle; chroma counts a 1 -> a one
killed after a write-back of what was stored again
    known a one; we read a one; settle; we remember a two; at shown: we die; we show; settle; chroma counts a 0
    -> a two
"""
STEPS = dict(re.findall(r"^(\S.*)\n((?: +.*\n)+)", TABLE, re.MULTILINE))  # of each race, and what there is at the end
PLACES = ("RAM", "file", "server", "PostgreSQL")  # of the ledger; the last two are next to a server's collection
COSINE = {"hnsw": {"space": "cosine"}}
MANY = 2 * MOST_GONE + 40
EVERY_READ_COUNTS = Policy(refresh_floor_seconds=0.0)


class KilledError(BaseException):
    """The process ends here."""


class Ours:
    """A process of ours with its memory."""

    def __init__(self, opened: Callable[[], AdaptiveMemory]) -> None:
        self._opened = opened
        self.begin()

    def begin(self) -> None:
        self.memory = self._opened()
        records: Any = self.memory.ports().records
        self.alice, self.access, self.parts = self.memory.for_user("alice"), records._access, records._access.open
        self.due = self.memory.ports().ledger.due_records
        self.imported = itertools.count()
        follow = self.parts.importer.imported
        self.parts.importer.imported = lambda gone: (next(self.imported), follow(gone))

    def end(self) -> None:
        """As by a kill: nothing of it is written any more."""
        self.parts.importer.is_over, self.access.open = True, None
        self.memory.close()

    def compare(self) -> None:
        """As the background does, of everything if it is time for that."""
        importer: Importer = self.parts.importer
        if importer._in_ram:  # where the background need not
            importer.sync()
            return
        with importer.turn:  # without the background
            importer._all_at = -math.inf
            importer.work(bool)
            while importer._left is not None:
                importer.work(bool)

    def overtake(self, verb: str) -> None:
        """Do it as if the others' lock had lapsed."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(self.memory.ports().ledger.outbox, "alone", lambda _: nullcontext())
            OURS[verb](self)

    def die(self) -> None:
        raise KilledError


NOTES = [{"id": f"m{one}", "text": f"note{one}"} for one in range(MANY)]
OURS: dict[str, Callable[..., Any]] = {
    "remember": lambda we, record, text: we.alice.remember(text, id=record),
    "supersede": lambda we, record, text: we.alice.remember(text, id=f"{record}2", supersedes=record),
    "forget": lambda we, record: we.alice.forget(record),
    "fill": lambda we: we.alice.remember_many(NOTES),
    "clear": lambda we: [we.alice.forget(one["id"]) for one in NOTES],
    "read": lambda we, record, text: holds(we.alice.recall(text, k=1).ids == (record,)),
    "find": lambda we, record, text: holds(we.alice.recall(text, k=1, reinforce=False).ids == (record,)),
    "mark": lambda we, record: we.due.mark([record], gone=False),
    "export": lambda we: we.parts.exporter.settle(),
    "show": lambda we: we.parts.write_back.flush(),
    "flush": lambda we: we.memory.flush(),
    "sync": lambda we: we.memory.sync(),
    "repair": lambda we: we.memory.check(repair=True),
    **{verb: getattr(Ours, verb) for verb in ("compare", "overtake", "die")},
}
THEIRS: dict[str, Callable[..., tuple[str, dict[str, Any]]]] = {
    "add": lambda record, text: ("add", rows(**{record: text})),
    "update": lambda record, text: ("update", rows(**{record: text})),
    "tag": lambda record: ("update", {"ids": [record], "metadatas": [{"tag": True}]}),
    "count": lambda record: ("update", {"ids": [record], "metadatas": [{"retrieval_count": 99}]}),
    "give": lambda record: ("update", {"ids": [record], "metadatas": [{"user_id": "bob"}]}),
    "move": lambda record: ("update", {"ids": [record], "embeddings": word_vectors(["elsewhere"])}),
    "delete": lambda record: ("delete", {"ids": [record]}),
    "delete_all": lambda: ("delete", {"where": {"user_id": "alice"}}),
}
COLUMNS = ("ids", "documents", "metadatas", "embeddings")
SEEN: dict[str, Callable[..., bool]] = {
    "has": lambda world, record, text: in_ledger(world.we.memory)[record] == text,
    "lacks": lambda world, record: record not in in_ledger(world.we.memory),
    "full": lambda world: len(in_ledger(world.we.memory)) == MANY,
    "imported": lambda world, times: next(world.we.imported) == int(times),
    "supersedes": lambda world, record: world.we.alice.get(record).superseded_by == f"{record}2",
    "moves": lambda world, record: np.allclose(world.vector(record), word_vectors(["elsewhere"])[0], atol=1e-5),
    "shows": lambda world, record, text: contents(world.raw)[record][0] == text,
    "tags": lambda world, record: world.copy(record)["tag"] and world.shown(record)["tag"],
    "counts": lambda world, record, times: world.counts(record) == (int(times), int(times)),
}


def holds(condition: bool) -> None:
    assert condition


class World:
    """Two memories of ours over a collection, and programs that write into it."""

    def __init__(self, place: str, folder: Path, server: Callable[[], ChromaServer], clock: Clock) -> None:
        self.place, self.folder, self.server, self.clock = place, folder, server, clock
        self.name = f"race-{uuid.uuid4()}"
        if place != "file":
            self.client().create_collection(self.name, embedding_function=None, configuration=COSINE)
        self.we = Ours(self.opened)
        self.raw = self.client().get_collection(self.name, embedding_function=None)
        self.copies: dict[str, Any] = {}
        self.at: dict[str, list[str]] = {}
        self.threads: list[threading.Thread] = []

    @cached_property
    def another(self) -> Ours:
        return Ours(self.opened)

    def client(self) -> Any:
        if self.place == "RAM":
            return chromadb.EphemeralClient()
        if self.place == "file":
            return chromadb.PersistentClient(str(self.folder / "memory"))
        return chromadb.HttpClient("127.0.0.1", self.server().port)

    def opened(self) -> AdaptiveMemory:
        given: dict[str, Any] = {"embedder": word_vectors, "clock": self.clock, "keeping": LATE}
        given["policy"] = EVERY_READ_COUNTS
        if self.place == "file":
            return AdaptiveMemory.open(self.folder / "memory", collection=self.name, **given)
        if self.place != "RAM":
            given["ledger"] = self.folder / "ledger.sqlite3" if self.place == "server" else database()
        return AdaptiveMemory(self.client().get_collection(self.name, embedding_function=None), **given)

    def close(self) -> None:
        self.we.memory.close()
        if "another" in self.__dict__:
            self.another.memory.close()

    def run(self, steps: str) -> None:
        if "another " in steps:  # it is open from the beginning, and does not wait for an export to open
            holds(self.another.parts is not None)
        for step in steps.split("; "):
            if step.startswith("at "):
                moment, _, then = step[3:].partition(": ")
                self.at.setdefault(moment, []).append(then)
                continue
            try:
                self.do(step)
            except KilledError:
                self.we.end()
                self.we.begin()
            for thread in self.threads:
                thread.join()
            assert not self.at, f"it never came to {self.at}"

    def comes_to(self, moment: str) -> None:
        for step in self.at.pop(moment, ()):
            self.do(step)

    def do(self, step: str) -> None:
        first, _, rest = step.partition(" ")
        if first == "meanwhile":
            self.threads.append(threading.Thread(target=self.do, args=(rest,)))
            self.threads[-1].start()
            self.threads[-1].join(0.2)
        elif first == "refused:":
            with pytest.raises(StoreError):
                self.do(rest)
        elif first == "known":
            self.do(f"we remember {rest}")
            self.settle()
        elif first == "settle":
            self.settle()
        else:
            self.act(first, *rest.split(" "))

    def act(self, party: str, verb: str, *given: str) -> None:
        if party in ("ledger", "chroma"):
            assert SEEN[verb](self, *given), f"{party} {verb} {' '.join(given)}"
        elif party in ("we", "another"):
            OURS[verb](getattr(self, party), *given)
        else:
            call = partial(self.theirs, verb, *given)
            call() if party == "here" else as_own_call(call)

    def theirs(self, verb: str, *given: str) -> None:
        if verb == "copy":
            self.copies = self.raw.get(ids=list(given), include=list(COLUMNS[1:]))
        elif verb == "restore":
            self.raw.upsert(**{column: self.copies[column] for column in COLUMNS})
        else:
            name, values = THEIRS[verb](*given)
            getattr(self.raw, name)(**values)

    def copy(self, record: str) -> Any:
        return self.we.memory.ports().ledger.mirror.rows([record])[0][2]

    def shown(self, record: str) -> Any:
        return contents(self.raw)[record][1]

    def vector(self, record: str) -> Any:
        return np.frombuffer(self.we.memory.ports().ledger.mirror.vectors([record])[record], dtype="<f4")

    def counts(self, record: str) -> tuple[int, int]:
        """How often it was read, as the collection and the ledger know it."""
        metadata = self.shown(record)
        owner = self.we.memory.for_user(metadata["user_id"])
        return metadata.get("retrieval_count", 0), owner.get(record).read.retrieval_count

    def settle(self) -> None:
        """What the background does in the end."""
        for _ in range(2):
            self.we.memory.flush()
            self.we.compare()

    def end(self, end: str) -> None:
        """Both sides are the same, and recalls find just that."""
        self.settle()
        memory = self.we.memory
        mirror, there = memory.ports().ledger.mirror, contents(self.raw)
        known, vectors = mirror.rows(sorted(mirror.stored_ids())), mirror.vectors(sorted(there))
        assert {row[0]: row[1:] for row in known} == {one: (text, data or {}) for one, (text, data, _) in there.items()}
        for one, (_, _, vector) in there.items():
            np.testing.assert_allclose(np.frombuffer(vectors[one], dtype="<f4"), vector, atol=1e-5)
        assert in_ledger(memory) == dict(one.split(" ") for one in end.strip().split(", ") if one)
        assert memory.ports().ledger.due_records.waiting() == memory.ports().ledger.outbox.waiting() == 0
        own = {one: text for one, (text, data, _) in there.items() if is_current(data or {})}
        assert {hit.id: hit.text for hit in self.we.alice.recall("any", k=9, reinforce=False)} == own


def is_current(metadata: dict[str, Any]) -> bool:
    return metadata["user_id"] == "alice" and "superseded_by" not in metadata


@cache
def database() -> str:
    return new_database()


@pytest.fixture(scope="module")
def one_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], ChromaServer]]:
    """The server of all races that need one, started by the first of them."""
    with ExitStack() as stack:

        @cache
        def started() -> ChromaServer:
            server = stack.enter_context(closing(ChromaServer(tmp_path_factory.mktemp("chroma"))))
            server.start()
            return server

        yield started


@pytest.fixture
def world(
    request: pytest.FixtureRequest,
    one_server: Callable[[], ChromaServer],
    tmp_path: Path,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[World]:
    monkeypatch.setattr(Background, "_round", lambda _: None)  # nothing is done but the steps
    made = World(request.param, tmp_path, one_server, clock)
    moments: list[tuple[Any, str, str, str]] = [
        (exporter, "overwrite", "sent", "written"),
        (ChromaRecords, "update_metadata", "showing", "shown"),
        (ChromaRecords, "metadata", "", "looked"),
        (Importer, "_read", "", "read"),
        (LedgerDueRecords, "among", "", "asked"),
        (ChromaRecords, "ids", "", "listed"),
    ]
    for owner, name, before, after in moments:
        monkeypatch.setattr(owner, name, with_moments(made, getattr(owner, name), before, after))
    yield made
    made.close()


def with_moments(world: World, call: Callable[..., Any], before: str, after: str) -> Callable[..., Any]:
    def called(*given: Any) -> Any:
        world.comes_to(before)
        found = call(*given)
        world.comes_to(after)
        return found

    return called


def is_possible(steps: str, place: str) -> bool:
    """A ledger in RAM has one process, and an embedded collection gets no late writes."""
    if place == "RAM":
        return not any(one in steps for one in ("another ", "die", "restore", "overtake", "refused"))
    return place in ("server", "PostgreSQL") or not any(one in steps for one in ("restore", "overtake"))


HARD = {"server": [pytest.mark.hard("server")], "PostgreSQL": [pytest.mark.hard("PostgreSQL")]}


@pytest.mark.parametrize(
    ("world", "race"),
    [
        pytest.param(place, race, marks=HARD.get(place, []), id=f"{race} ({place})")
        for place in PLACES
        for race, steps in STEPS.items()
        if is_possible(steps, place)
    ],
    indirect=["world"],
)
def test_a_race_ends_as_the_table_says(world: World, race: str) -> None:
    steps, _, end = " ".join(STEPS[race].split()).partition(" ->")
    world.run(steps)
    world.end(end)
