"""A collection in which no record names a user is everyone's to read; the first record that names one ends that."""

from __future__ import annotations

import random
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import chromadb
import pytest
from chromadb import Collection

from adaptive_memory_core import AdaptiveMemory
from adaptive_memory_core.policy.keeping import Keeping
from adaptive_memory_core.records import Scope
from adaptive_memory_core.store import named_users
from adaptive_memory_core.store.chroma.chroma_records import ChromaRecords
from adaptive_memory_core.store.named_users import reading_everyones
from tests import forked
from tests.behaviour.conftest import eventually
from tests.behaviour.other_process import OtherProcess, by_letters
from tests.conftest import Open, word_vectors

DOCUMENTS = {"d1": "green tea at four", "d2": "black coffee at eight", "d3": "the red car is fast"}
SEEN_SECONDS = 0.05
PLACES = ["directory", "ram", pytest.param("server", marks=pytest.mark.hard("server"))]


def add(collection: Any, texts: dict[str, str], **metadata: Any) -> None:
    ids, said = list(texts), list(texts.values())
    metadatas = [dict(metadata)] * len(ids) if metadata else None
    collection.add(ids=ids, documents=said, metadatas=metadatas, embeddings=word_vectors(said))


class Place:
    """A memory over a collection of documents without users, and what others may do to that."""

    def __init__(self, collection: Collection, memory: AdaptiveMemory) -> None:
        self.collection, self.memory = collection, memory

    def seen(self, user: str = "alice", query: str = "green tea at four") -> set[str]:
        """What the user finds; on a server once others' writes are noticed."""
        return {hit.id for hit in reading_everyones(self.memory.for_user(user)).recall(query, k=50)}


@pytest.fixture(params=PLACES)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    client: Any = chromadb.PersistentClient(tmp_path / "store") if request.param == "directory" else None
    if request.param == "server":
        client = chromadb.HttpClient("127.0.0.1", request.getfixturevalue("chroma_server").port)
    client = chromadb.EphemeralClient() if client is None else client
    made = client.create_collection(f"documents-{uuid.uuid4()}", embedding_function=None)
    add(made, DOCUMENTS)
    ledger: Any = str(tmp_path / "ledger.sqlite3") if request.param == "server" else None
    keeping = Keeping(others_seen_seconds=SEEN_SECONDS)
    with closing(AdaptiveMemory(made, embedder=word_vectors, ledger=ledger, keeping=keeping)) as memory:
        yield Place(made, memory)


def by_us(place: Place) -> None:
    place.memory.for_user("bob").remember("bob drinks green tea", id="bobs")


def by_chroma(place: Place) -> None:
    add(place.collection, {"bobs": "bob drinks green tea"}, user_id="bob")


def by_a_number(place: Place) -> None:
    add(place.collection, {"bobs": "seven drinks green tea"}, user_id=7)


def by_what_is_no_name(place: Place) -> None:
    add(place.collection, {"bobs": "green tea"}, user_id=True)


def in_the_place_of_another(place: Place) -> None:
    place.collection.delete(ids=["d3"])
    by_chroma(place)


def before_many_others(place: Place) -> None:
    by_chroma(place)
    add(place.collection, {f"more{n}": f"green cup {n}" for n in range(300)})


FIRST: list[Callable[[Place], None]] = [
    *(by_us, by_chroma, by_a_number, by_what_is_no_name, in_the_place_of_another, before_many_others)
]


def eventually_only(place: Place, ids: set[str], user: str = "alice") -> None:
    """At once, but for a server, where what others wrote is noticed a moment later."""
    until = time.monotonic() + (20.0 if _is_server(place) else 0.0)
    while (found := place.seen(user)) != ids and time.monotonic() < until:
        time.sleep(0.02)
    assert found == ids


def _is_server(place: Place) -> bool:
    return "fastapi" in str(place.collection._client.get_settings().chroma_api_impl).lower()


@pytest.mark.parametrize("first", FIRST, ids=lambda one: one.__name__)
def test_the_first_record_that_names_a_user_ends_it_between_two_recalls(
    place: Place, first: Callable[[Place], None], caplog: pytest.LogCaptureFixture
) -> None:
    assert place.seen() == set(DOCUMENTS)
    assert place.seen("carl") == set(DOCUMENTS)
    first(place)
    eventually_only(place, set())
    assert place.seen("carl") == set()
    assert place.seen("bob") <= {"bobs"}
    place.collection.delete(ids=["bobs"])
    assert place.seen() == set(), "it stays strict until the memory is opened again"
    said = [one.message for one in caplog.records if one.name == named_users.__name__]
    assert ["read as everyone's" in one for one in said] == [True, False], "both are said once"
    assert "no longer returned" in said[1]


def test_a_record_that_is_given_a_user_in_place_is_hidden_at_once_and_ends_it_soon(place: Place) -> None:
    assert place.seen() == set(DOCUMENTS)
    place.collection.update(ids=["d1"], metadatas=[{"user_id": "bob"}])
    until = time.monotonic() + 60
    while not _is_server(place) and (found := place.seen()) and time.monotonic() < until:
        assert "d1" not in found
        time.sleep(0.05)
    if not _is_server(place):  # a server does not tell of it: all is compared again there every 30 seconds
        assert place.seen() == set()
        assert place.seen("bob") == {"d1"}


def test_ones_own_first_record_ends_it_too(place: Place) -> None:
    place.seen()
    place.memory.for_user("alice").remember("my tea is green", id="mine")
    assert place.seen() == {"mine"}
    assert place.seen("bob") == set()


def test_what_is_learned_meanwhile_is_the_readers_alone(place: Place) -> None:
    alice = reading_everyones(place.memory.for_user("alice"))
    recall = alice.recall("green tea at four", k=1)
    assert place.memory.for_user("alice").feedback(recall, helpful=["d1"]) == 1
    counts = [place.memory.for_user(one, over="everyone").get("d1").read.helpful for one in ("alice", "bob")]
    assert counts == [1, 0]
    assert place.memory.for_everyone().get("d1").read.retrieval_count == 0


def test_an_empty_memory_is_nobodys_to_read(collection: Collection, caplog: pytest.LogCaptureFixture) -> None:
    with closing(AdaptiveMemory(collection, embedder=word_vectors)) as memory:
        alice = memory.for_user("alice")
        assert reading_everyones(alice) is alice
        alice.remember("green tea")
        assert reading_everyones(memory.for_user("bob")).recall("green tea").ids == ()
    assert not [one for one in caplog.records if one.name == named_users.__name__], "nothing happened"


def test_who_says_it_otherwise_is_left_as_it_is(place: Place) -> None:
    memory = place.memory
    for user in (
        memory.for_everyone(),
        memory.for_user("alice", over="everyone"),
        memory.for_user("alice", fallback=memory.for_everyone()),
    ):
        assert reading_everyones(user) is user


def test_a_collection_too_large_to_look_at_is_not_known_to_be_everyones(
    over: Open, collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(named_users, "MOST_LOOKED_AT", 2)
    add(collection, DOCUMENTS)
    memory = over(keeping=Keeping(copy_limit=0))
    assert memory.ports().records.names_users() is None
    assert reading_everyones(memory.for_user("alice")).recall("green tea").ids == ()


def test_who_sees_one_users_records_alone_does_not_know(collection: Collection) -> None:
    add(collection, DOCUMENTS)
    records = ChromaRecords(collection, AdaptiveMemory(collection, embedder=word_vectors).fields, Scope("alice"))
    assert records.names_users() is None


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many records each look at the collection took."""
    sizes: list[int] = []
    look = ChromaRecords.owners_from

    def counted(records: ChromaRecords, offset: int, most: int) -> Any:
        found = look(records, offset, most)
        sizes.append(len(found))
        return found

    monkeypatch.setattr(ChromaRecords, "owners_from", counted)
    return sizes


def test_what_was_added_is_looked_at_and_not_all_again(
    over: Open, collection: Collection, looked: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(named_users, "ALWAYS_ALL", 0)
    monkeypatch.setattr(named_users, "AGAIN_SECONDS", 1e9)
    add(collection, {f"d{n}": f"green cup {n}" for n in range(900)})
    memory = over(keeping=Keeping(copy_limit=0))
    names_users = memory.ports().records.names_users
    assert [names_users() for _ in range(5)] == [False] * 5
    assert looked == [900]
    add(collection, {f"e{n}": f"green cup {n}" for n in range(150)})
    assert [names_users() for _ in range(5)] == [False] * 5
    assert looked == [900, 100, 400]
    collection.delete(ids=[f"e{n}" for n in range(100, 150)])
    assert names_users() is False, "what was known is gone, so all are looked at"
    assert sum(looked[3:]) == 1000
    add(collection, {"bobs": "bob's cup"}, user_id="bob")
    add(collection, {f"f{n}": f"green cup {n}" for n in range(450)})
    assert names_users() is True


@pytest.mark.hard("large")
def test_of_a_large_collection_in_a_directory_the_ledgers_copy_tells(tmp_path: Path, looked: list[int]) -> None:
    made = chromadb.PersistentClient(tmp_path).create_collection("documents", embedding_function=None)
    add(made, {f"d{n}": f"green cup {n}" for n in range(2_500)})
    with closing(AdaptiveMemory(made, embedder=word_vectors)) as memory:
        memory.sync()
        alice = memory.for_user("alice")
        assert all(reading_everyones(alice).recall("green cup 7", k=1) for _ in range(5))
        assert looked == []
        add(made, {"bobs": "green cup of bob"}, user_id="bob")
        assert reading_everyones(alice).recall("green cup 7", k=1).ids == ()
        assert sum(looked) <= 500


@pytest.mark.hard("processes")
def test_a_user_who_is_named_by_another_process_ends_it(tmp_path: Path) -> None:
    made: Any = chromadb.PersistentClient(tmp_path).create_collection("memories", embedding_function=None)
    plain = (
        "import sys, chromadb\n"
        "found = chromadb.PersistentClient(sys.argv[1]).get_collection(sys.argv[2], embedding_function=None)\n"
        "found.add(ids=[sys.argv[3]], documents=['tea'], embeddings=[[1.0] * 16], metadatas=[{'user_id': 'bob'}])\n"
    )
    texts = ["green tea", "black coffee"]
    made.add(ids=["d1", "d2"], documents=texts, embeddings=[[1.0] * 16] * 2)
    with closing(AdaptiveMemory(made, embedder=lambda said: [[1.0] * 16 for _ in said])) as memory:
        assert reading_everyones(memory.for_user("alice")).recall("tea")
        forked.said_by(plain, tmp_path, "memories", "bobs")
        assert eventually(lambda: reading_everyones(memory.for_user("alice")).recall("tea").ids == ())


@pytest.mark.hard("processes")
def test_processes_that_share_a_directory_notice_each_others_users(tmp_path: Path) -> None:
    alices = "[hit.id for hit in reading_everyones(memory.for_user('alice')).recall('tea')]"
    for named_by_the_guest in (True, False):
        directory = tmp_path / str(named_by_the_guest)
        with closing(AdaptiveMemory.open(directory, embedder=by_letters)) as memory:
            memory.for_everyone().remember("green tea", id="d1")
            memory.sync()
            before = "from adaptive_memory_core.store.named_users import reading_everyones"
            with OtherProcess(directory, before) as guest:
                assert not guest.holds
                assert reading_everyones(memory.for_user("alice")).recall("tea").ids == ("d1",)
                assert guest.do(alices) == ["d1"]
                if named_by_the_guest:
                    guest.do("memory.for_user('bob').remember('tea of bob', id='bobs')")
                else:
                    memory.for_user("bob").remember("tea of bob", id="bobs")
                assert reading_everyones(memory.for_user("alice")).recall("tea").ids == ()
                assert guest.do(alices) == []
                assert reading_everyones(memory.for_user("bob")).recall("tea").ids == ("bobs",)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("in_ram", [True, False], ids=["ram", "directory"])
def test_whatever_is_written_no_user_finds_what_names_another(tmp_path: Path, seed: int, in_ram: bool) -> None:
    """Random writes by us and by others: a user finds their own; what names nobody only while nothing names a user."""
    chance = random.Random(seed)
    client: Any = chromadb.EphemeralClient() if in_ram else chromadb.PersistentClient(tmp_path)
    made = client.create_collection(f"documents-{uuid.uuid4()}", embedding_function=None)
    add(made, DOCUMENTS)
    with closing(AdaptiveMemory(made, embedder=word_vectors)) as memory:
        place, has_named = Place(made, memory), False
        for number in range(20):
            text, owner = {f"r{number}": f"green tea {number}"}, chance.choice(["alice", "bob", 7, True])
            kind = chance.choice(["nobody", "nobody", "nobody", "user", "deleted", "recall"])
            if kind == "nobody":
                add(made, text, topic="tea")
            elif kind == "user" and number > 7:
                add(made, text, user_id=owner)
            elif kind == "deleted":
                made.delete(ids=chance.sample(made.get(include=[])["ids"], 1))
            rows: Any = made.get(include=["metadatas"])
            owners = {
                one: (data or {}).get("user_id") for one, data in zip(rows["ids"], rows["metadatas"], strict=True)
            }
            has_named = has_named or any(owner is not None for owner in owners.values())
            for user in ("alice", "bob"):
                own = {one for one, owner in owners.items() if owner == user}
                assert place.seen(user) == (own if has_named else {one for one in owners if owners[one] is None})
