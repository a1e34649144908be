"""Do the records get vectors of another embedder while everything else about them stays, and goes on?"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import chromadb
import numpy as np
import pytest
from chromadb import Collection

from adaptive_memory_core import AdaptiveMemory, Keeping, Policy, as_embedder
from adaptive_memory_core.errors import EmbedderError, EmbedderMismatchError, StoreInUseError
from adaptive_memory_core.flow.ports.ledger_values import MirrorRow
from adaptive_memory_core.store import reembedding
from adaptive_memory_core.store.chroma.chroma_calls import only_writer, overwrite, reload_index
from adaptive_memory_core.store.reembedding import PROBES
from adaptive_memory_core.store.write_back import WritePace
from adaptive_memory_core.wiring import common
from tests.behaviour.other_process import OtherProcess, by_letters
from tests.chroma_server import ChromaServer
from tests.conftest import Clock, Open, Vectors, word_vectors
from tests.store.chroma.conftest import collection_of, importer_of

EVERY = Policy(refresh_floor_seconds=0.0)
RECORDS = 230  # more than two batches


def turned(texts: Sequence[str]) -> Vectors:
    """Vectors of another length in which the same texts are alike."""
    vectors = word_vectors(texts)
    return np.concatenate([vectors[:, ::-1], np.zeros((len(vectors), 8), dtype=np.float32)], axis=1)


class Counting:
    """An embedder that notes what it was asked, and may fail."""

    def __init__(self, most: float = float("inf")) -> None:
        self.texts, self.most = list[str](), most
        self.named = as_embedder(self, name="turned")

    def __call__(self, texts: Sequence[str]) -> Vectors:
        if len(self.texts) + len(texts) > self.most:
            raise RuntimeError("the model went away")
        self.texts += texts
        return turned(texts)


def told(one: int) -> str:
    return f"note {one} about topic{one}"


@pytest.fixture
def memory(open_memory: Open) -> AdaptiveMemory:
    memory = open_memory(policy=EVERY)
    fill(memory)
    return memory


def fill(memory: AdaptiveMemory) -> None:
    alice = memory.for_user("alice")
    alice.remember_many([{"id": f"m{one}", "text": told(one), "metadata": {"n": one}} for one in range(RECORDS)])
    memory.for_user("bob").remember("bob's tea", id="m3")
    alice.remember("note 4 told better", id="later", supersedes="m4")
    alice.feedback(alice.recall("topic7", k=2), helpful=["m7"])
    alice.pin("m5")
    memory.flush()


def assert_all_stayed(memory: AdaptiveMemory) -> None:
    """Ids, texts, metadata, reads, verdicts, pins, links and users; and what is near is found."""
    alice = memory.for_user("alice")
    assert alice.stats().records == RECORDS + 1
    for one in (0, 99, 100, RECORDS - 1):
        assert alice.recall(told(one), k=1, reinforce=False).ids == (f"m{one}",)
        assert (alice.get(f"m{one}").text, alice.get(f"m{one}").metadata["n"]) == (told(one), one)
    assert alice.get("m7").read.retrieval_count == 1
    assert alice.get("m7").read.helpful == 1
    assert alice.get("m5").read.pinned
    assert alice.get("later").supersedes == "m4"
    assert memory.for_user("bob").recall("tea", k=3, reinforce=False).ids == ("m3",)
    assert [one.cue for one in alice.recalls()] == ["topic7"]
    assert memory.check().ok, str(memory.check())


def vectors_in(collection: Collection) -> dict[str, Any]:
    found: Any = collection.get(include=["embeddings", "documents"])
    rows = zip(found["ids"], found["documents"], found["embeddings"], strict=True)
    return {one: (text, vector) for one, text, vector in rows}


def assert_of(collection: Collection, embed: Callable[[Sequence[str]], Any]) -> None:
    """The collection's vectors are all what the embedder makes of its texts."""
    for text, vector in vectors_in(collection).values():
        np.testing.assert_allclose(vector, embed([text])[0], atol=1e-5)


def test_everything_but_the_vectors_stays(memory: AdaptiveMemory, tmp_path: Path, clock: Clock) -> None:
    heard: list[tuple[int, int]] = []
    new = Counting()
    assert memory.reembed(new.named, progress=lambda done, total: heard.append((done, total))) == RECORDS + 2
    assert heard == [(100, 232), (200, 232), (232, 232)]
    assert len(new.texts) == RECORDS + 2
    assert memory.embedder_name == "turned"
    assert_all_stayed(memory)
    memory.for_user("alice").remember("another note about rivers", id="new")
    assert memory.for_user("alice").recall("rivers", k=1).ids == ("new",)
    memory.close()
    with pytest.raises(EmbedderMismatchError, match=r"memory\.reembed\("):
        AdaptiveMemory.open(tmp_path / "memory", embedder=word_vectors)
    with AdaptiveMemory.open(tmp_path / "memory", embedder=new.named, policy=EVERY, clock=clock) as again:
        again.for_user("alice").forget("new")
        again.for_user("alice").forget("later")
        again.for_user("alice").remember("note 4 told better", id="later", supersedes="m4")
    client = chromadb.PersistentClient(str(tmp_path / "memory"))
    assert [one.name for one in client.list_collections()] == ["memories"]
    assert_of(client.get_collection("memories", embedding_function=None), turned)


def test_the_graph_has_the_new_vectors(open_memory: Open) -> None:
    memory = open_memory(policy=EVERY.replace(channels=("dense", "graph")))
    alice = memory.for_user("alice")
    alice.remember_many(["Ana Berg works for Acme in Oslo.", "Acme sells boats to Ben Holm."])
    alice.recall("Who does the employer of Ana Berg sell to?")
    memory.sync()
    memory.reembed(Counting().named)
    memory.sync()
    ledger: Any = memory.ports().ledger
    with ledger.file.reading() as sql:
        query = "SELECT text, graph_passages.vector FROM graph_passages JOIN mirror USING (stored_id)"
        found = sql.execute(query).fetchall()
    assert len(found) == 2
    for text, vector in found:
        np.testing.assert_allclose(np.frombuffer(vector, dtype="<f2"), turned([text])[0], atol=1e-2)


def test_an_embedder_that_fails_is_gone_on_with_by_the_next_call(memory: AdaptiveMemory) -> None:
    failing = Counting(most=150)
    with pytest.raises(EmbedderError, match="went away"):
        memory.reembed(failing.named)
    assert memory.embedder_name == "word_vectors"
    assert_all_stayed(memory)
    again, heard = Counting(), list[tuple[int, int]]()
    memory.reembed(again.named, progress=lambda done, total: heard.append((done, total)))
    assert heard[0] == (200, 232)
    assert set(failing.texts) & set(again.texts) == set(
        failing.texts[:PROBES]
    )  # compared; the others are not paid twice
    assert_all_stayed(memory)


def test_with_a_third_embedder_it_begins_anew(memory: AdaptiveMemory) -> None:
    with pytest.raises(EmbedderError):
        memory.reembed(Counting(most=150).named)
    memory.reembed(as_embedder(lambda texts: -word_vectors(texts), name="negative"))
    assert memory.embedder_name == "negative"
    assert_all_stayed(memory)
    assert_of(memory.ports().records.collection, lambda texts: -word_vectors(texts))


def unnamed(sign: float, most: float = float("inf")) -> Callable[[Sequence[str]], Vectors]:
    """Callables that differ, and are called the same."""
    counting = Counting(most)
    return lambda texts: sign * counting(texts)


def test_with_another_callable_of_the_same_name_it_begins_anew(
    memory: AdaptiveMemory, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(EmbedderError, match="went away"):
        memory.reembed(unnamed(1.0, most=150))
    heard = list[tuple[int, int]]()
    memory.reembed(unnamed(-1.0), progress=lambda done, total: heard.append((done, total)))
    assert heard[0] == (100, 232)
    assert_of(memory.ports().records.collection, lambda texts: -turned(texts))
    assert "100 vectors of an interrupted reembed()" in caplog.text


def test_with_vectors_of_another_length_under_the_same_name_it_begins_anew(memory: AdaptiveMemory) -> None:
    with pytest.raises(EmbedderError, match="went away"):
        memory.reembed(Counting(most=150).named)
    memory.reembed(as_embedder(word_vectors, name="turned"))
    assert_of(memory.ports().records.collection, word_vectors)


def test_vectors_of_nothing_but_zeros_are_refused(memory: AdaptiveMemory) -> None:
    broken = as_embedder(lambda texts: np.zeros((len(texts), 8)), name="broken")
    with pytest.raises(
        EmbedderError,
        match=r"'broken' gave vectors of nothing but zeros for 100 .* need different vectors.* Fix the embedder",
    ):
        memory.reembed(broken)
    assert memory.embedder_name == "word_vectors"
    assert_of(memory.ports().records.collection, word_vectors)
    half = as_embedder(lambda texts: (0.0 if told(150) in texts else 1.0) * turned(texts), name="half")
    with pytest.raises(EmbedderError, match="nothing but zeros for 100 "):
        memory.reembed(half)
    assert_all_stayed(memory)


def test_a_few_texts_without_a_known_word_may_have_zeros(memory: AdaptiveMemory) -> None:
    known = as_embedder(lambda texts: turned(texts) * [["?" not in text] for text in texts], name="known")
    memory.for_user("alice").remember_many([{"id": f"q{one}", "text": "?" * one} for one in (1, 2, 3)])
    memory.reembed(known, progress=lambda *_: memory.for_user("alice").remember("??", id="q4"))
    assert memory.embedder_name == "known"
    assert memory.for_user("alice").stats().records == RECORDS + 5


def test_with_the_embedder_that_it_has_all_is_made_anew(memory: AdaptiveMemory) -> None:
    asked = Counting()
    memory.reembed(asked.named)
    asked.texts.clear()
    assert memory.reembed(asked.named) == RECORDS + 2
    assert len(asked.texts) == RECORDS + 2
    assert_all_stayed(memory)


def test_what_is_written_meanwhile_is_in_it(memory: AdaptiveMemory) -> None:
    alice, steps = memory.for_user("alice"), list[int]()
    plain: Any = memory.ports().records.collection._collection  # type: ignore[attr-defined]

    def meanwhile(done: int, total: int) -> None:
        steps.append(done)
        if len(steps) != 2:
            return
        alice.remember("a note about rivers", id="rivers")
        alice.remember("told otherwise", id="m0")
        alice.forget("m1")
        alice.feedback(alice.recall("topic8", k=1), helpful=["m8"])
        plain.add(
            ids=["theirs"], documents=["of another program"], metadatas=[{"user_id": "alice"}], embeddings=[[1.0] * 32]
        )
        plain.delete(ids=["m2"])
        plain.update(ids=["m9"], metadatas=[{"mine": ["a", "b"]}])

    memory.reembed(Counting().named, progress=meanwhile)
    for text, one in (("rivers", "rivers"), ("told otherwise", "m0"), ("of another program", "theirs")):
        assert alice.recall(text, k=1, reinforce=False).ids == (one,)
    collection: Any = memory.ports().records.collection
    there = vectors_in(collection)
    assert not {"m1", "m2"} & there.keys()
    assert_of(collection, turned)
    assert collection.get(ids=["m9"])["metadatas"][0]["mine"] == ["a", "b"]
    assert alice.get("m8").read.helpful == 1
    memory.flush()
    assert collection.get(ids=["m8"])["metadatas"][0]["retrieval_count"] == 1
    assert memory.check().ok, str(memory.check())


def test_a_comparison_that_writes_at_the_end_holds_up_nobody(
    memory: AdaptiveMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    compares, is_alone = threading.Event(), threading.Event()

    @contextmanager
    def noted(directory: Path) -> Iterator[None]:
        with only_writer(directory):
            is_alone.set()
            yield

    def compare() -> None:
        with importer_of(memory).turn:
            compares.set()
            is_alone.wait(1.0)
            reload_index(collection_of(memory))

    def then_placed(**pace: Any) -> WritePace:
        threading.Thread(target=compare, daemon=True).start()
        assert compares.wait(60)
        return WritePace(**pace)

    monkeypatch.setattr(common, "only_writer", noted)
    monkeypatch.setattr(common, "WritePace", then_placed)  # what comes last before nobody else may write
    reembedding = threading.Thread(target=memory.reembed, args=(Counting().named,), daemon=True)
    reembedding.start()
    reembedding.join(60)
    assert not reembedding.is_alive(), "each waits for the other"
    assert_all_stayed(memory)


@pytest.mark.hard("large")
def test_recalls_of_other_threads_go_on_without_a_fault(memory: AdaptiveMemory) -> None:
    over, failed, counts = threading.Event(), list[BaseException](), [0, 0]
    read_before = sum(memory.for_user("alice").get(f"m{one}").read.retrieval_count for one in range(5, 205))

    def recall(user: str, at: int) -> None:
        alice = memory.for_user("alice")
        try:
            while not over.is_set():
                one = 5 + counts[at] % 200
                assert alice.recall(told(one), k=1).ids == (f"m{one}",), one
                alice.remember(f"something else {counts[at]}", id=f"{user}{one}")
                counts[at] += 1
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=recall, args=(name, at)) for at, name in enumerate("ab")]
    for thread in threads:
        thread.start()
    before = list(counts)
    memory.reembed(Counting().named)
    after = list(counts)
    while not failed and min(counts[at] - after[at] for at in (0, 1)) < 3:
        over.wait(0.01)
    over.set()
    for thread in threads:
        thread.join()
    assert failed == []
    assert min(after[at] - before[at] for at in (0, 1)) > 0, "nobody recalled meanwhile"
    assert_of(memory.ports().records.collection, turned)
    reads = [memory.for_user("alice").get(f"m{one}").read.retrieval_count for one in range(5, 205)]
    assert sum(reads) == sum(counts) + read_before


def test_other_memories_are_told(memory: AdaptiveMemory, open_memory: Open) -> None:
    other = open_memory()
    alice = other.for_user("alice")
    assert alice.recall(told(0), k=1, reinforce=False).ids == ("m0",)
    memory.reembed(Counting().named)
    for call in (
        lambda: alice.recall(told(0), k=1),
        lambda: alice.remember("something"),
        lambda: alice.remember("something", id="m0"),
        other.flush,
    ):
        with pytest.raises(EmbedderMismatchError, match=r"re-embedded with 'turned'.*open it again"):
            call()
    other.close()
    assert_all_stayed(memory)
    with pytest.raises(EmbedderMismatchError, match=r"memory\.reembed\("):
        open_memory()


@pytest.mark.parametrize("kind", ["in RAM", "without a mirror", "a ledger elsewhere"])
def test_memories_of_every_kind(kind: str, tmp_path: Path, clock: Clock) -> None:
    client = chromadb.EphemeralClient() if kind == "in RAM" else chromadb.PersistentClient(str(tmp_path / "chroma"))
    collection = client.create_collection(
        "of-every-kind", embedding_function=None, metadata={"hnsw:space": "l2", "mine": 1}
    )
    more: Any = {"in RAM": {}, "without a mirror": {"keeping": Keeping(copy_limit=0)}}.get(
        kind, {"ledger": tmp_path / "elsewhere.sqlite3"}
    )
    with AdaptiveMemory(collection, embedder=word_vectors, policy=EVERY, clock=clock, **more) as memory:
        fill(memory)
        memory.reembed(Counting().named)
        assert_all_stayed(memory)
        assert not client.get_collection("of-every-kind", embedding_function=None).get(where={"user_id": "nobody"})[
            "ids"
        ]
        again = client.get_collection("of-every-kind", embedding_function=None)
        with AdaptiveMemory(again, embedder=Counting().named, policy=EVERY, clock=clock, **more) as other:
            assert_all_stayed(other)
    assert again.configuration_json["hnsw"]["space"] == "l2"
    assert (again.metadata["mine"], again.metadata["adaptive_memory:embedder"]) == (1, "turned")
    assert_of(again, turned)
    client.delete_collection("of-every-kind")


def test_a_record_without_a_text_is_kept() -> None:
    collection: Any = chromadb.EphemeralClient().create_collection("textless", embedding_function=None)
    collection.add(ids=["a", "b"], documents=["tea", ""], embeddings=[word_vectors(["tea"])[0]] * 2)
    collection.add(ids=["c"], embeddings=[word_vectors(["coffee"])[0]])
    with AdaptiveMemory(collection, embedder=word_vectors) as memory:
        assert memory.reembed(Counting().named) == 3
        assert memory.for_everyone().recall("tea", k=1).ids == ("a",)
        assert memory.for_everyone().stats().records == 3
    chromadb.EphemeralClient().delete_collection("textless")


def test_an_empty_collection(memory: AdaptiveMemory, tmp_path: Path) -> None:
    with AdaptiveMemory.open(tmp_path / "empty", embedder=word_vectors) as empty:
        assert empty.reembed(Counting().named) == 0
        empty.for_user("alice").remember("tea", id="tea")
        assert empty.for_user("alice").recall("tea").ids == ("tea",)


async def test_it_has_an_async_twin(memory: AdaptiveMemory) -> None:
    assert await memory.async_reembed(Counting().named) == RECORDS + 2
    recall = await memory.for_user("alice").arecall(told(3), k=1)
    assert recall.ids == ("m3",)


def test_a_second_call_meanwhile_is_refused(memory: AdaptiveMemory) -> None:
    told_so: list[str] = []

    def again(done: int, total: int) -> None:
        with pytest.raises(StoreInUseError, match="Another call"):
            memory.reembed(Counting().named)
        told_so.append("refused")

    memory.reembed(Counting().named, progress=again)
    assert told_so


def test_what_is_forgotten_is_gone_from_what_was_begun_and_left(
    memory: AdaptiveMemory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(collection: Collection, rows: Sequence[MirrorRow], gone: Sequence[str]) -> None:
        overwrite(collection, rows[:9], gone)
        raise KeyboardInterrupt

    monkeypatch.setattr(reembedding, "overwrite", interrupted)
    with pytest.raises(KeyboardInterrupt):
        memory.reembed(Counting().named)
    memory.for_user("alice").forget("m0")
    memory.flush()
    client = chromadb.PersistentClient(str(tmp_path / "memory"))
    begun = client.get_collection("memories-being-reembedded", embedding_function=None)
    assert begun.count() == 8
    assert begun.get(ids=["m0"])["ids"] == []


@pytest.mark.hard("processes")
def test_a_guest_is_told_and_what_it_wrote_is_kept(tmp_path: Path) -> None:
    with AdaptiveMemory.open(tmp_path, embedder=by_letters, keeping=Keeping(lag_seconds=0.2)) as memory:
        alice = memory.for_user("alice")
        alice.remember_many([{"id": f"m{one}", "text": told(one)} for one in range(20)])
        with OtherProcess(tmp_path) as guest:
            assert guest.do("alice.remember('red wine', id='wine')") == "wine"
            assert "reembed there" in guest.do("memory.reembed(by_letters)")
            memory.reembed(Counting().named, progress=lambda *_: guest.do("alice.remember('green tea', id='tea')"))
            for call in ("alice.recall('tea')", "alice.remember('more')"):
                assert guest.do(call).startswith("EmbedderMismatchError: The collection was re-embedded with 'turned'")
            assert guest.do("alice.forget('m3').collection") is True  # what needs no vector goes on
            assert guest.do("alice.pin('m4').pinned") is True
        assert alice.recall("green tea", k=1).ids == ("tea",)
        assert alice.recall("red wine", k=1).ids == ("wine",)
        assert alice.get("m4").read.pinned
        collection = memory.ports().records.collection
        assert collection.get(ids=["m3"])["ids"] == []
        assert_of(collection, turned)


@pytest.mark.hard("server")
def test_on_a_server(chroma_server: ChromaServer, tmp_path: Path, clock: Clock) -> None:
    client = chromadb.HttpClient("127.0.0.1", chroma_server.port)
    options: Any = {"ledger": tmp_path / "reads.sqlite3", "policy": EVERY, "clock": clock}
    collection = client.create_collection("memories", embedding_function=None)
    with AdaptiveMemory(collection, embedder=word_vectors, **options) as memory:
        fill(memory)
        plain: Any = client.get_collection("memories", embedding_function=None)

        def meanwhile(done: int, total: int) -> None:
            if done == 100:
                plain.add(
                    ids=["theirs"], documents=["red wine"], metadatas=[{"n": 1}], embeddings=word_vectors(["red wine"])
                )
                plain.update(ids=["m6"], metadatas=[{"n": 77}])

        with AdaptiveMemory(plain, embedder=word_vectors, **options) as other:
            memory.reembed(Counting().named, progress=meanwhile)
            with pytest.raises(EmbedderMismatchError, match="re-embedded"):
                other.for_user("alice").recall("topic7")
            with pytest.raises(EmbedderMismatchError, match="re-embedded"):
                other.for_user("alice").remember("red wine")
        assert_all_stayed(memory)
        assert memory.for_everyone().recall("red wine", k=1).ids == ("theirs",)
        assert memory.for_user("alice").get("m6").metadata["n"] == 77
        again = client.get_collection("memories", embedding_function=None)
        assert_of(again, turned)
    with AdaptiveMemory(again, embedder=Counting().named, **options) as memory:
        assert_all_stayed(memory)
    assert [one.name for one in client.list_collections()] == ["memories"]
