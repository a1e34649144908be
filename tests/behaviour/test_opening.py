"""Is a memory refused that cannot work, with nothing left behind, and may many threads open one directory at once?"""

from __future__ import annotations

import math
import threading
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import chromadb
import pytest
from chromadb import Collection

from adaptive_memory_core import AdaptiveMemory, InvalidInputError, Policy, UserMemory
from adaptive_memory_core.errors import AdaptiveMemoryError, EmbedderError, LedgerError, PartialWriteError, StoreError
from adaptive_memory_core.options import Options
from adaptive_memory_core.store.postgres import postgres_ledger
from tests.behaviour.refused_input import alice, left_alone, refused
from tests.conftest import Open, Vectors, word_vectors

__all__ = ["alice"]  # fixtures


@pytest.mark.parametrize(
    "vectors",
    [
        lambda texts: [[math.nan] * 32] * len(texts),
        lambda texts: [[1.0] * 32],
        lambda texts: [[1.0] * 31] * len(texts),
        lambda texts: "no vectors",
        lambda texts: None,
        lambda texts: 1 / 0,
    ],
    ids=["nan", "too few", "too short", "text", "none", "raises"],
)
def test_an_embedder_that_breaks_its_promise_writes_nothing(
    over: Open,
    alice: UserMemory,
    collection: Collection,
    embed: Callable[..., Vectors],
    vectors: Callable[[list[str]], Any],
) -> None:
    def word_vectors(texts: list[str]) -> Any:
        return vectors(texts) if texts[0].startswith("bad") else embed(texts)

    word_vectors.__qualname__ = embed.__qualname__
    with left_alone(alice, collection):
        scope = over(embedder=word_vectors, ledger=":memory:", clock=lambda: 1.76e9).for_user("alice")
        with pytest.raises(EmbedderError):
            scope.remember_many(["bad tea", "bad cake"])
        assert scope.stats().records == 2


@pytest.mark.sample
@pytest.mark.hard("large")
def test_a_batch_that_fails_late_says_what_is_stored(over: Open) -> None:
    def moody(texts: list[str]) -> Vectors:
        if any("bad" in text for text in texts):
            raise ValueError("does not like it")
        return word_vectors(texts)

    alice = over(embedder=moody).for_user("alice")
    texts = [f"tea {n}" for n in range(5_400)] + ["bad tea"]
    with pytest.raises(PartialWriteError, match=r"4,000 of 5,401 records are stored") as partial:
        alice.remember_many(texts)
    written = partial.value.written_ids
    assert alice.stats().records == len(written) == 4_000
    assert alice.get(written[-1]).text == "tea 3999"


@pytest.mark.parametrize("path", ["", "  ", None, 5, b"here"], ids=repr)
def test_a_path_that_is_none_is_refused(path: Any) -> None:
    refused(lambda: AdaptiveMemory.open(path, embedder=word_vectors), InvalidInputError, "path")


def test_a_path_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a directory")
    refused(lambda: AdaptiveMemory.open(tmp_path / "file", embedder=word_vectors), StoreError, "file")
    assert (tmp_path / "file").read_text() == "not a directory"


@pytest.mark.parametrize("name", ["", "x", "no spaces please", "-start", "x" * 600])
def test_a_collection_name_that_chroma_refuses_is_refused(open_memory: Open, name: str) -> None:
    refused(lambda: open_memory(collection=name), StoreError, "name", "characters")


@pytest.mark.parametrize("ledger", ["", 5, b"x", True], ids=repr)
def test_a_ledger_that_is_none_is_refused(open_memory: Open, ledger: Any) -> None:
    refused(lambda: open_memory(ledger=ledger), InvalidInputError, "ledger")


@pytest.mark.parametrize("embedder", ["all-MiniLM", 5, [1.0], dict], ids=str)
def test_an_embedder_that_is_none_is_refused(collection: Collection, embedder: Any) -> None:
    with pytest.raises(InvalidInputError, match="embedder="):
        AdaptiveMemory(collection, embedder=embedder)


THREADS, ROUNDS = 4, 3


def test_threads_that_open_one_directory_at_once_all_get_a_memory(tmp_path: Path) -> None:
    start = threading.Barrier(THREADS)

    def work(path: Path) -> None:
        start.wait(30)
        with AdaptiveMemory.open(path, embedder=word_vectors) as memory:
            memory.for_user("ana").recall("tea")

    with ThreadPoolExecutor(THREADS) as pool:
        for number in range(ROUNDS):
            list(pool.map(work, [tmp_path / str(number)] * THREADS))


@pytest.mark.hard("large")
def test_memories_dropped_and_opened_one_after_the_other_warn_of_nothing(tmp_path: Path) -> None:
    """Whoever opens the ledger while the one before lets go of it sees a commit under way, and no torn log."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        for _ in range(40):
            memory = AdaptiveMemory.open(tmp_path, embedder=word_vectors)
            ana = memory.for_user("ana")
            ana.remember("tea", id="tea")
            ana.recall("tea")
            del memory, ana
    assert not list(tmp_path.glob("*.torn"))


def test_a_repair_of_nothing_makes_nothing(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="There is no memory in"):
        AdaptiveMemory.repair(tmp_path / "typo")
    assert not (tmp_path / "typo").exists()


WRONG: dict[str, list[Any]] = {
    "embedder": [3, "minilm", [1.0]],
    "ledger": [
        3,
        "",
        b"reads",
        ["reads"],
        "a\0b",
        "a\ud800",
        "x" * 5_000,
        "mysql://somewhere/reads",
        "postgresql://127.0.0.1:1/reads",
    ],
    "policy": [3, "equal", Policy(channels=("dense", "sql"))],
    "fields": [3],
    "keeping": [3],
    "durability": ["some"],
    "write": ["now"],
    "clock": [3],
    "languages": [3, [3], ["de"]],
    "channels": [3, {"sql": 3}, {"dense": lambda *_: []}],
    "reranker": [3],
    "same_fact": [3],
    "shared": [3, "ana", [""]],
    "reader": [3],
    "judge": [3, "a model"],
    "entities": [3],
    "roles": [3, lambda lines: lines],
    "telemetry": [3, "on", int],
    "nonsense": [1],
}
CASES = [(name, value) for name, values in WRONG.items() for value in values]


def test_every_option_is_tried() -> None:
    assert WRONG.keys() - {"nonsense"} == Options.__annotations__.keys()


@pytest.fixture
def soon_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres_ledger, "REACHED_SECONDS", 0.2)


@pytest.mark.usefixtures("soon_given_up")
@pytest.mark.parametrize(("name", "wrong"), CASES)
def test_a_wrong_option_leaves_no_directory_behind(tmp_path: Path, name: str, wrong: Any) -> None:
    given: dict[str, Any] = {"embedder": word_vectors, name: wrong}
    with pytest.raises((TypeError, AdaptiveMemoryError)):
        AdaptiveMemory.open(tmp_path / "new", **given)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("name", ["fields", "keeping"])
def test_of_two_settings_the_wrong_one_is_named(tmp_path: Path, name: str) -> None:
    given: dict[str, Any] = {name: {}}
    with pytest.raises(AdaptiveMemoryError, match=rf"^{name} is {{}}\. Give {name.title()}\(\.\.\.\)"):
        AdaptiveMemory.open(tmp_path / "new", **given)


@pytest.mark.parametrize("name", [3, None, b"notes", "", "ab", "notes of ana", "_notes", "..", "a" * 513])
def test_a_wrong_name_of_a_collection_leaves_no_directory_behind(tmp_path: Path, name: Any) -> None:
    for opens in (AdaptiveMemory.open, AdaptiveMemory.repair):
        with pytest.raises(AdaptiveMemoryError, match=r"Give a string|A name has 3 to 512"):
            opens(tmp_path / "new", name, embedder=word_vectors)
    assert not (tmp_path / "new").exists()


def test_a_ledger_that_is_no_file_leaves_no_directory_behind(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("no database, but a text of a hundred characters or more " * 4)
    (tmp_path / "folder").mkdir()
    for ledger in (tmp_path / "notes.txt", tmp_path / "folder", tmp_path / "notes.txt" / "reads.sqlite3"):
        for opens in (AdaptiveMemory.open, AdaptiveMemory.repair):
            with pytest.raises(LedgerError):
                opens(tmp_path / "new", embedder=word_vectors, ledger=ledger)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["folder", "notes.txt"]


@pytest.fixture
def persistent(tmp_path: Path) -> tuple[Collection, Path]:
    client = chromadb.PersistentClient(tmp_path / "theirs")
    return client.create_collection("notes", embedding_function=None), tmp_path / "theirs"


@pytest.mark.usefixtures("soon_given_up")
def test_a_wrong_option_leaves_nothing_beside_a_collection(persistent: tuple[Collection, Path]) -> None:
    collection, directory = persistent
    before = sorted(one.name for one in directory.iterdir())
    for name, wrong in CASES:
        given: dict[str, Any] = {"embedder": word_vectors, "ledger": directory / "new" / "reads.sqlite3", name: wrong}
        with pytest.raises((TypeError, AdaptiveMemoryError)):
            AdaptiveMemory(collection, **given)
    assert sorted(one.name for one in directory.iterdir()) == before


def test_languages_may_come_from_an_iterator(tmp_path: Path) -> None:
    with AdaptiveMemory.open(tmp_path, embedder=word_vectors, languages=iter([lambda *_: []])) as memory:
        assert len(memory.ports().languages) == 1
