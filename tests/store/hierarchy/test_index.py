"""Does the hierarchy fit together after any history, other embedders and other programs, and is what went gone?"""

from __future__ import annotations

import uuid
from contextlib import closing
from pathlib import Path
from typing import Any

import chromadb
import numpy as np
import pytest
from chromadb import Collection
from hypothesis import given
from hypothesis import strategies as some

from adaptive_memory_core import AdaptiveMemory, Policy, UserMemory
from adaptive_memory_core.hierarchy import episodes, grow
from adaptive_memory_core.hierarchy.grow import centre_of
from adaptive_memory_core.store.locations import LEDGER_NAME
from tests.conftest import START, Open, delete, word_vectors
from tests.hierarchy.test_grow import from_scratch
from tests.suites import at_most

SMALL = Policy().replace(advanced={"hierarchy": {"theme_semantics": 3, "episode_messages": 4}})
WORDS = "tea rain milk snow wine boat bike train garden puppy server music".split()  # noqa: SIM905 - shorter so
STEPS = some.lists(
    some.tuples(
        some.sampled_from(["observe", "observe", "forget", "rewrite", "grow", "background", "delete"]),
        some.integers(0, 40),
        some.permutations(WORDS).map(lambda found: f"I saw the {' '.join(found[:3])}."),
    ),
    min_size=5,
    max_size=30,
)


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that few messages do what many do."""
    monkeypatch.setattr(grow, "PATIENCE", 2)
    monkeypatch.setattr(episodes, "SHORTEST", 1)


def message(number: int, text: str) -> dict[str, Any]:
    session, place = divmod(number, 10)
    at = START - 1e6 + 1e5 * session + 60.0 * place
    return {"id": f"m{number}", "speaker": "Ana", "text": text, "at": at, "session": f"s{session}"}


def act(user: UserMemory, there: dict[str, str], what: str, number: int, text: str) -> None:
    ports: Any = user.memory.ports()
    if what in ("observe", "rewrite"):
        (one,) = user.observe([message(number, text)])
        there[one] = text
    elif what == "grow":
        user.themes()
    elif what == "background":
        ports.hierarchy.work(lambda: True)
    elif there:
        one = sorted(there)[number % len(there)]
        del there[one]
        if what == "forget":
            user.forget(one)
        else:
            ports.records.collection.delete(ids=[one])


def check(user: UserMemory, there: dict[str, str]) -> None:
    ports: Any = user.memory.ports()
    assert ports.ledger.hierarchy.faults() == []
    view = ports.hierarchy.view(user.scope)
    said = [message for one in view.episodes.values() for message in one.messages]
    assert sorted(said) == sorted(there)
    assert {one.text for one in view.semantics.values()} <= set(there.values())
    members = [key for one in view.themes.values() for key in one.semantics]
    assert sorted(members) == sorted(view.semantics)
    assert all(1 <= len(one.semantics) <= 3 for one in view.themes.values())
    places = {key: place for place, key in enumerate(view.semantics)}
    held = [view.vectors[[places[key] for key in one.semantics]] for one in view.themes.values()]
    for own, centre in zip(held, view.centroids, strict=True):
        assert np.allclose(centre_of(own)[0], centre, atol=1e-6)
    assert view.statistics.objective == pytest.approx(from_scratch(held), abs=1e-5)
    assert view.statistics.waiting == view.statistics.unfinished == 0


@at_most(20)
@given(STEPS)
def test_after_any_history_every_message_is_in_one_episode_and_every_semantic_in_one_theme(steps: Any) -> None:
    client = chromadb.EphemeralClient()
    cosine: Any = {"hnsw": {"space": "cosine"}}
    collection = client.create_collection(f"test-{uuid.uuid4()}", embedding_function=None, configuration=cosine)
    with closing(AdaptiveMemory(collection, embedder=word_vectors, policy=SMALL)) as memory:
        user, there = memory.for_user("ana"), dict[str, str]()
        user.observe([])
        for one in steps:
            act(user, there, *one)
        memory.sync()
        user.themes()
        check(user, there)
    delete(client, collection)


def test_no_byte_of_what_grew_from_a_forgotten_message_stays(open_memory: Open, tmp_path: Path) -> None:
    memory = open_memory(policy=SMALL)
    ana = memory.for_user("ana")
    secret = [f"The swordfish number{number} is my password and my {word}." for number, word in enumerate(WORDS)]
    ids = ana.observe([message(number, text) for number, text in enumerate([*secret, *(f"tea {w}" for w in WORDS)])])
    ana.themes()
    memory.flush()
    files = [one for one in tmp_path.rglob(f"{LEDGER_NAME}*") if one.is_file()]
    assert any(b"swordfish" in one.read_bytes() for one in files)
    for one in ids[: len(secret)]:
        ana.forget(one)
    ana.themes()
    memory.flush()
    left = [one for one in tmp_path.rglob(f"{LEDGER_NAME}*") if one.is_file()]
    assert not any(trace in one.read_bytes() for one in left for trace in (b"swordfish", b"password", b"number3"))
    check(ana, dict(zip(ids[len(secret) :], [f"tea {w}" for w in WORDS], strict=True)))


def test_after_another_embedder_all_vectors_are_made_anew(open_memory: Open) -> None:
    memory = open_memory(policy=SMALL)
    ana = memory.for_user("ana")
    texts = [f"I saw the {one} again." for one in WORDS]
    ids = ana.observe([message(number, text) for number, text in enumerate(texts)])
    ana.themes()

    def other(given: list[str]) -> Any:
        return [[1.0 + one.lower().count(letter) for letter in "abcdefghij"] for one in given]

    memory.reembed(other)
    ana.themes()
    view: Any = memory.ports().hierarchy.view(ana.scope)
    assert view.vectors.shape == (len(view.semantics), 10)
    check(ana, dict(zip(ids, texts, strict=True)))


def test_what_another_program_changed_and_added_is_taken_in_by_sync(over: Open, collection: Collection) -> None:
    memory = over(policy=SMALL)
    ana = memory.for_user("ana")
    ana.observe([message(0, "I own a boat."), message(1, "I own a bike.")])
    ana.themes()
    said = "I own a train."
    collection.update(ids=["m0"], documents=[said], embeddings=word_vectors([said]))
    metadata: Any = {"user_id": "ana", "kind": "message", "speaker": "Ana", "created_at": START}
    collection.add(ids=["x"], documents=["I own a garden."], embeddings=word_vectors(["garden"]), metadatas=[metadata])
    memory.sync()
    ana.themes()
    check(ana, {"m0": said, "m1": "I own a bike.", "x": "I own a garden."})


def test_a_hierarchy_that_does_not_fit_together_is_told_and_made_again(over: Open) -> None:
    memory = over(policy=SMALL)
    ana = memory.for_user("ana")
    ana.observe([message(number, f"I own a {word}.") for number, word in enumerate(WORDS)])
    ana.themes()
    ledger: Any = memory.ports().ledger
    with ledger.file.writing() as sql:
        sql.execute("DELETE FROM hierarchy_themes WHERE theme = (SELECT min(theme) FROM hierarchy_themes)")
    (finding,) = memory.check().findings
    assert finding.part == "hierarchy"
    assert "are in a theme that is gone" in finding.what
    memory.check(repair=True)
    ana.themes()
    assert memory.check().findings == ()


def test_a_policy_with_another_cap_holds_from_the_next_semantic_on(over: Open) -> None:
    memory = over()
    ana = memory.for_user("ana")
    ana.observe([message(number, f"I own a tea {word}.") for number, word in enumerate(WORDS[:6])])
    ana.themes()
    memory.policy = SMALL
    ana.observe([message(10 + number, f"I own a tea {word}.") for number, word in enumerate(WORDS[6:])])
    ana.themes()
    ledger: Any = memory.ports().ledger
    assert ledger.hierarchy.faults() == []
