"""Is a torn index named before Chroma loads it, and made anew without losing a read or a vector?"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import chromadb
import numpy as np
import pytest

from adaptive_memory_core import AdaptiveMemory, Keeping, NotFoundError, Policy, as_embedder
from adaptive_memory_core.errors import DamagedStoreError, EmbedderMismatchError, StoreInUseError
from adaptive_memory_core.store.chroma import chroma_database, index_files
from adaptive_memory_core.store.chroma.index_files import FILES, HEADER, LENGTHS, LINKS, NAMES, VECTORS
from tests.conftest import word_vectors

IN_FILES, IN_LOG = 150, 20  # records in the index's files, and written after these were
EVERY_READ_COUNTS = Policy(refresh_floor_seconds=0.0)


class Whole(NamedTuple):
    """A closed memory, and what it knew."""

    directory: Path
    counts: dict[str, int]
    vectors: dict[str, Any]


class Embedding:
    """An embedder that remembers what it was asked for."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def __call__(self, texts: Sequence[str]) -> Any:
        self.texts += texts
        return 3.0 * word_vectors(texts)

    @property
    def named(self) -> Any:
        return as_embedder(self, name="three times")


def text(number: int) -> str:
    return f"note {number} about topic{number} and place{number % 7}"


def client_over(directory: Path) -> Any:
    return chromadb.PersistentClient(str(directory))


def collection_of(client: Any) -> Any:
    return client.get_collection("memories", embedding_function=None)


def vectors_of(directory: Path) -> dict[str, Any]:
    with client_over(directory) as client:
        found = collection_of(client).get(include=["embeddings"])
    return dict(zip(found["ids"], found["embeddings"], strict=True))


def counts_of(memory: AdaptiveMemory) -> dict[str, int]:
    alice = memory.for_user("alice")
    return {f"m{one}": alice.get(f"m{one}").read.retrieval_count for one in range(IN_FILES + IN_LOG)}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Whole:
    directory = tmp_path_factory.mktemp("whole")
    with client_over(directory) as client:
        configuration: Any = {"hnsw": {"space": "cosine", "sync_threshold": 150}}
        client.create_collection("memories", embedding_function=None, configuration=configuration)
    with AdaptiveMemory.open(directory, embedder=Embedding().named, policy=EVERY_READ_COUNTS) as memory:
        alice = memory.for_user("alice")
        alice.remember_many([{"id": f"m{one}", "text": text(one)} for one in range(IN_FILES)])
        memory.flush()  # Chroma writes its index's files after 150 records
        alice.remember_many([{"id": f"m{IN_FILES + one}", "text": text(IN_FILES + one)} for one in range(IN_LOG)])
        for one in range(0, IN_FILES + IN_LOG, 17):
            alice.recall(text(one), k=3)
        counts = counts_of(memory)
    return Whole(directory, counts, vectors_of(directory))


@pytest.fixture
def copied(whole: Whole, tmp_path: Path) -> Path:
    """As an earlier version of this package left it: without copies of the vectors in the ledger."""
    shutil.copytree(whole.directory, tmp_path / "memory")
    with closing(sqlite3.connect(tmp_path / "memory" / "adaptive_memory.sqlite3")) as sql, sql:
        sql.execute("DELETE FROM mirror")
    return tmp_path / "memory"


def held_in(directory: Path) -> chroma_database.DatabaseContents:
    known = chroma_database.collection_id(directory, "memories")
    assert known is not None
    held = chroma_database.contents(directory, known)
    assert held is not None
    return held


def tear(directory: Path, name: str, share: float | int | None) -> None:
    """Cut a file to a share of its length, or so many bytes off it; None removes it."""
    file = held_in(directory).folder / name
    if share is None:
        file.unlink()
        return
    size = file.stat().st_size
    with file.open("r+b") as content:
        content.truncate(int(size * share) if isinstance(share, float) else size - share)


def test_a_whole_index_has_no_fault(whole: Whole) -> None:
    held = held_in(whole.directory)
    assert len(held.ids) == IN_FILES + IN_LOG
    assert sum(1 for _ in held.logged_after(held.persisted)) >= IN_LOG
    assert index_files.index_faults(held) == []


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.99, 5, 1, None])
@pytest.mark.parametrize("name", FILES)
def test_every_torn_file_is_named(copied: Path, name: str, share: float | int | None) -> None:
    tear(copied, name, share)
    found = index_files.index_faults(held_in(copied))
    assert found
    assert name in found[0] or "lacks 149 of 170" in found[0]


def test_a_list_of_names_cut_anywhere_is_torn(copied: Path) -> None:
    held, size = held_in(copied), (held_in(copied).folder / NAMES).stat().st_size
    for length in [*range(size - 1, size - 40, -1), *range(size - 40, 0, -97), *range(12, -1, -1)]:
        tear(copied, NAMES, (held.folder / NAMES).stat().st_size - length)
        assert NAMES in index_files.index_faults(held)[0]


def test_vectors_that_were_never_written_are_noticed_though_the_file_is_long_enough(copied: Path) -> None:
    """Chroma makes room for 100 vectors at once: a kill leaves zeros there."""
    file = held_in(copied).folder / VECTORS
    with file.open("r+b") as content:
        content.seek(file.stat().st_size // IN_FILES * 90)
        content.write(bytes(file.stat().st_size // IN_FILES * 10))
    assert "10 of its 150 vectors are missing" in index_files.index_faults(held_in(copied))[0]


@pytest.mark.parametrize(("name", "place"), [(VECTORS, 4), (LINKS, None)])
def test_a_link_to_nowhere_is_noticed(copied: Path, name: str, place: int | None) -> None:
    file = held_in(copied).folder / name
    content = bytearray(file.read_bytes())
    if place is None:  # the first element that has links of a higher level: its size, how many, the first
        place = next(at for at in range(0, len(content), 4) if content[at] == 68) + 8
    content[place : place + 4] = (1_000_000).to_bytes(4, "little")
    file.write_bytes(content)
    assert index_files.index_faults(held_in(copied)) == [f"{name} is damaged: 1 of its lists of links lead nowhere."]


def test_a_torn_index_is_refused_with_what_to_do(copied: Path) -> None:
    tear(copied, NAMES, 0.0)
    for _ in range(2):  # the second time as well
        with pytest.raises(DamagedStoreError, match=r"index_metadata.pickle is torn .*AdaptiveMemory\.repair\("):
            AdaptiveMemory.open(copied, embedder=Embedding().named)


def test_a_collection_of_the_callers_own_client_is_looked_at_as_well(copied: Path) -> None:
    tear(copied, VECTORS, 0.5)
    with client_over(copied) as client:
        with pytest.raises(DamagedStoreError, match=r"data_level0\.bin has \d+ bytes and needs"):
            AdaptiveMemory(collection_of(client), embedder=Embedding().named)
        with pytest.raises(StoreInUseError, match=r"client\.close\(\)"):
            AdaptiveMemory.repair(copied, embedder=Embedding().named)


@pytest.mark.parametrize(
    ("name", "share", "most_embedded"),
    [
        (NAMES, 0.0, IN_FILES),  # nothing says whose a vector is
        (NAMES, None, IN_FILES),
        (VECTORS, 0.0, IN_FILES),
        (VECTORS, 0.5, IN_FILES // 2),
        (VECTORS, 1, 1),
        (LENGTHS, 0.5, 0),
        (LINKS, 1, 0),
        (HEADER, None, IN_FILES),
    ],
)
@pytest.mark.hard("large")
def test_a_rebuilt_index_has_every_read_and_every_vector(
    copied: Path, whole: Whole, name: str, share: float | int | None, most_embedded: int
) -> None:
    tear(copied, name, share)
    embedding, progress = Embedding(), []
    report = AdaptiveMemory.repair(
        copied, embedder=embedding.named, progress=lambda done, total: progress.append((done, total))
    )
    assert report.ok, str(report)
    assert len(embedding.texts) <= most_embedded
    assert progress == [(170, 170)]
    with AdaptiveMemory.open(copied, embedder=embedding.named, policy=EVERY_READ_COUNTS) as memory:
        assert counts_of(memory) == whole.counts
        assert memory.for_user("alice").recall(text(40), k=1).ids == ("m40",)
        assert memory.check().ok
    vectors = vectors_of(copied)
    assert vectors.keys() == whole.vectors.keys()
    for one, vector in vectors.items():
        exact = whole.vectors[one] / (np.linalg.norm(whole.vectors[one]) if name == LENGTHS else 1.0)
        known = vector / (np.linalg.norm(vector) if name == LENGTHS else 1.0)
        np.testing.assert_allclose(known, exact, atol=1e-5)
    assert [one.name for one in (copied / "adaptive_memory_damaged").iterdir()]


def test_the_whole_folder_is_made_again(copied: Path, whole: Whole) -> None:
    shutil.rmtree(held_in(copied).folder)
    embedding = Embedding()
    with pytest.raises(DamagedStoreError, match="lacks 149 of 170 records"):
        AdaptiveMemory.open(copied, embedder=embedding.named)
    assert AdaptiveMemory.repair(copied, embedder=embedding.named).ok
    assert len(embedding.texts) == IN_FILES - 1  # the log keeps the last one that stands in the files
    with AdaptiveMemory.open(copied, embedder=embedding.named) as memory:
        assert counts_of(memory) == whole.counts


def test_names_are_not_concluded_from_an_order_that_does_not_hold(copied: Path, whole: Whole) -> None:
    """A repair by other means wrote the vectors in another order: the texts say so, and all are embedded again."""
    shutil.rmtree(held_in(copied).folder)
    with client_over(copied) as client:
        ids = [f"m{one}" for one in range(IN_FILES)][::-1]
        collection_of(client).upsert(ids=ids, embeddings=[whole.vectors[one] for one in ids])
    assert index_files.index_faults(held_in(copied)) == []
    tear(copied, NAMES, 0.0)
    assert AdaptiveMemory.repair(copied, embedder=Embedding().named).ok
    for one, vector in vectors_of(copied).items():
        np.testing.assert_allclose(vector, whole.vectors[one], atol=1e-5)


@pytest.mark.parametrize("name", [VECTORS, NAMES])
def test_a_rebuild_that_is_interrupted_loses_no_vector_when_called_again(copied: Path, whole: Whole, name: str) -> None:
    tear(copied, name, 0.0)

    def fails(texts: Sequence[str]) -> Any:
        raise KeyboardInterrupt

    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            AdaptiveMemory.repair(copied, embedder=as_embedder(fails, name="three times"))
    with pytest.raises(DamagedStoreError, match="lacks 149 of 170"):
        AdaptiveMemory.open(copied, embedder=Embedding().named)
    assert AdaptiveMemory.repair(copied, embedder=Embedding().named).ok
    assert vectors_of(copied).keys() == whole.vectors.keys()
    for one, vector in vectors_of(copied).items():
        np.testing.assert_allclose(vector, whole.vectors[one], atol=1e-5)


def test_another_embedder_is_refused_before_it_writes(copied: Path) -> None:
    tear(copied, VECTORS, 0.0)
    with pytest.raises(EmbedderMismatchError, match="three times"):
        AdaptiveMemory.repair(copied, embedder=word_vectors)
    assert AdaptiveMemory.repair(copied, embedder=Embedding().named).ok


def test_a_collection_that_is_not_there_is_named(copied: Path) -> None:
    with pytest.raises(NotFoundError, match="'others'"):
        AdaptiveMemory.repair(copied, "others", embedder=word_vectors)


def test_a_memory_that_is_whole_needs_no_repair(copied: Path, whole: Whole) -> None:
    embedding = Embedding()
    report = AdaptiveMemory.repair(copied, embedder=embedding.named)
    assert (report.ok, len(report), embedding.texts) == (True, 0, [])
    assert vectors_of(copied).keys() == whole.vectors.keys()


def test_collections_of_ours_rewrite_their_index_seldom(tmp_path: Path) -> None:
    with AdaptiveMemory.open(tmp_path / "new", embedder=word_vectors):
        pass
    with client_over(tmp_path / "new") as client:
        assert collection_of(client).configuration_json["hnsw"]["sync_threshold"] == 5_000


def test_damage_that_comes_while_the_memory_is_open_is_named_by_what_fails(copied: Path) -> None:
    asks_chroma = Keeping(copy_limit=0)
    with AdaptiveMemory.open(copied, embedder=Embedding().named, keeping=asks_chroma) as memory:
        tear(copied, NAMES, 0.0)  # before Chroma has loaded it
        with pytest.raises(DamagedStoreError, match="repair"):
            memory.for_user("alice").recall("note 1")
        report = memory.check(repair=True)
        assert not report.ok
        assert "AdaptiveMemory.repair(" in str(report)


def test_where_the_ledger_has_all_records_such_damage_fails_no_recall_and_is_named_by_a_check(
    whole: Whole, tmp_path: Path
) -> None:
    directory = shutil.copytree(whole.directory, tmp_path / "memory")
    with AdaptiveMemory.open(directory, embedder=Embedding().named) as memory:
        tear(directory, NAMES, 0.0)
        assert memory.for_user("alice").recall(text(40), k=1).ids == ("m40",)
        report = memory.check(repair=True)
        assert not report.ok
        assert "AdaptiveMemory.repair(" in str(report)


def test_what_is_not_known_of_another_version_is_not_judged(copied: Path) -> None:
    folder = held_in(copied).folder
    content = (folder / HEADER).read_bytes()
    (folder / HEADER).write_bytes((2).to_bytes(4, "little") + content[4:])
    (folder / NAMES).write_bytes(b"of another kind")
    assert index_files.index_faults(held_in(copied)) == []
    for file in folder.iterdir():
        file.rename(folder / f"new-{file.name}")
    assert index_files.index_faults(held_in(copied)) == []
    known = held_in(copied).collection_id
    with sqlite3.connect(copied / "chroma.sqlite3") as sql:
        sql.execute("ALTER TABLE embeddings_queue RENAME TO another_log")
    assert chroma_database.contents(copied, known) is None


def test_an_index_made_anew_has_no_vector_of_what_was_forgotten(copied: Path, whole: Whole) -> None:
    vector = whole.vectors["m5"] / np.linalg.norm(whole.vectors["m5"])
    needle = vector.astype("<f4").tobytes()[16:48]  # rounding may touch a number: some of them suffice
    with AdaptiveMemory.open(copied, embedder=Embedding().named) as memory:
        memory.for_user("alice").forget("m5")
        count = memory.for_user("alice").get("m17").read.retrieval_count
    assert needle in (held_in(copied).folder / VECTORS).read_bytes()
    embedding = Embedding()
    report = AdaptiveMemory.repair(copied, embedder=embedding.named, rebuild=True)
    assert (report.ok, embedding.texts) == (True, [])
    shutil.rmtree(copied / "adaptive_memory_damaged")
    assert not [one for one in copied.rglob("*") if one.is_file() and needle in one.read_bytes()]
    assert vectors_of(copied).keys() == whole.vectors.keys() - {"m5"}
    with AdaptiveMemory.open(copied, embedder=Embedding().named) as memory:
        assert memory.for_user("alice").get("m17").read.retrieval_count == count > 0


def test_a_removal_that_chroma_had_only_logged_when_it_was_killed_is_no_damage(tmp_path: Path) -> None:
    """It is applied when Chroma loads the collection: what it removes need not be in the index."""
    file = tmp_path / "chroma.sqlite3"
    with client_over(tmp_path) as client:
        collection = client.create_collection("memories", embedding_function=None)
        collection.add(ids=["a", "b"], documents=["a", "b"], embeddings=[[1.0, 0.0], [0.0, 1.0]])
        known, before = str(collection.id), file.read_bytes()
        collection.delete(ids=["a"])
    with sqlite3.connect(file) as sql:
        columns = ", ".join(row[1] for row in sql.execute("PRAGMA table_info(embeddings_queue)"))
        logged = sql.execute(f"SELECT {columns} FROM embeddings_queue ORDER BY seq_id DESC LIMIT 1").fetchone()
    file.write_bytes(before)
    with sqlite3.connect(file) as sql:
        sql.execute(f"INSERT INTO embeddings_queue ({columns}) VALUES ({', '.join('?' * len(logged))})", logged)
    held = chroma_database.contents(tmp_path, known)
    assert held is not None
    assert (held.ids, index_files.index_faults(held)) == (("b",), [])
    with client_over(tmp_path) as client:
        assert collection_of(client).get(include=["embeddings"])["ids"] == ["b"]
