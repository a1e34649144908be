"""Does the next recall find by its words what an application has replaced in the collection since the last one?

Neither the number of records nor the last ID tells of all of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import chromadb
import pytest

from adaptive_memory_core import AdaptiveMemory, Keeping, Policy
from tests.chroma_server import ChromaServer
from tests.conftest import background_done, word_vectors

RECORDS = 40
POLICY = Policy(channels=("dense", "lexical"), recall_k=3)
ELSEWHERE = "nobody asks for this"  # the text of all vectors that are written: only words find the records


class Application:
    """A memory of everyone's records, and the application's own client, which writes them."""

    def __init__(self, memory: AdaptiveMemory, theirs: Any) -> None:
        self.memory, self.theirs = memory, theirs
        self.add([f"f{n}" for n in range(RECORDS)], "nothing of note happened today")
        assert len(self.recalled("nothing of note")) > 0
        background_done(memory)

    def recalled(self, query: str) -> list[str]:
        """The records that are found by words of the query."""
        answer = self.memory.for_everyone().recall(query, k=10)
        return sorted(hit.id for hit in answer if hit.parts["words"] > 0)

    def write(self, how: str, ids: list[str], text: str) -> None:
        getattr(self.theirs, how)(
            ids=ids,
            documents=[text] * len(ids),
            embeddings=word_vectors([ELSEWHERE] * len(ids)),
            metadatas=[{"source": text}] * len(ids),
        )

    def add(self, ids: list[str], text: str) -> None:
        self.write("add", ids, text)


Writes = Callable[[Application, list[str], str], list[str]]  # of this text in place of these; gives where it stands


def under_other_ids(application: Application, replaced: list[str], text: str) -> list[str]:
    application.theirs.delete(ids=replaced)
    application.add(new := [f"new {one}" for one in replaced], text)
    return new


def by_a_filter(application: Application, replaced: list[str], text: str) -> list[str]:
    """As LlamaIndex deletes the nodes of a document."""
    application.write("update", replaced, "to be deleted")
    application.theirs.delete(where={"source": "to be deleted"})
    application.add(new := [f"new {one}" for one in replaced], text)
    return new


def under_the_same_ids(application: Application, replaced: list[str], text: str) -> list[str]:
    application.theirs.delete(ids=replaced)
    application.add(replaced, text)
    return replaced


def updated(application: Application, replaced: list[str], text: str) -> list[str]:
    application.write("update", replaced, text)
    return replaced


def upserted(application: Application, replaced: list[str], text: str) -> list[str]:
    """As LangChain does with documents whose IDs exist."""
    application.write("upsert", replaced, text)
    return replaced


WRITES = (under_other_ids, by_a_filter, under_the_same_ids, updated, upserted)


@pytest.fixture(params=["in RAM", "on disk", pytest.param("a server", marks=pytest.mark.hard("server"))])
def application(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Application]:
    keeping, ledger = Keeping(), None
    if request.param == "in RAM":
        clients = [chromadb.EphemeralClient()] * 2
    elif request.param == "a server":
        server: ChromaServer = request.getfixturevalue("chroma_server")
        clients = [chromadb.HttpClient("127.0.0.1", server.port) for _ in range(2)]
        ledger = tmp_path / "ledger.sqlite3"
    else:
        clients = [chromadb.PersistentClient(str(tmp_path / "chroma")) for _ in range(2)]
    name = f"documents-{tmp_path.name.replace('[', '').replace(']', '')}"[:60].rstrip("-_")
    ours = clients[0].create_collection(name, embedding_function=None, configuration={"hnsw": {"space": "cosine"}})
    with closing(AdaptiveMemory(ours, embedder=word_vectors, ledger=ledger, policy=POLICY, keeping=keeping)) as memory:
        yield Application(memory, clients[1].get_collection(name, embedding_function=None))


@pytest.mark.parametrize("write", WRITES)
def test_the_next_recall_finds_it(write: Writes, application: Application) -> None:
    for replaced, animal in ((1, "zebra"), (2, "giraffe"), (3, "okapi")):
        ids = [f"f{10 * replaced + n}" for n in range(replaced)]
        assert application.recalled(animal) == []
        new = write(application, ids, f"the {animal} crossed")
        assert application.recalled(animal) == sorted(new)


def test_every_recall_finds_it_while_documents_are_replaced_one_after_the_other(application: Application) -> None:
    """The background compares at the same time."""
    for turn in range(12):
        animal = f"animal{turn}"
        write = ("add", "update", "upsert")[turn % 3]
        one = f"n{turn}" if write == "add" else f"f{turn}"
        if write == "add":
            application.theirs.delete(ids=[f"f{20 + turn}"])
        application.write(write, [one], f"the {animal} crossed")
        assert application.recalled(animal) == [one]


def test_what_takes_the_place_of_the_answer_is_found_by_another_thread_too(application: Application) -> None:
    found: list[list[str]] = []
    for turn in range(5):
        application.write("update", ["f7"], f"the animal{turn} crossed")
        with ThreadPoolExecutor(3) as pool:
            found += pool.map(application.recalled, [f"animal{turn}"] * 3)
    assert found == [["f7"]] * 15
