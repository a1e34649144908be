"""Do recalls, rankings of given records and replays tell versions of a fact by the vectors that are at hand?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import chromadb
import pytest

from adaptive_memory_core import AdaptiveMemory, Policy
from adaptive_memory_core.records import Scope

CUE = "Who is my barber?"
BARBER, NEW = "My barber is Kofi.", "I get my hair done at Luigi's now."
TOLD = {  # what all share, barbers, walks, chess
    BARBER: (0.6, 0.8, 0.0, 0.0),
    "I walk by the river.": (0.8, 0.0, 0.6, 0.0),
    "I have taken up chess now.": (0.8, 0.0, 0.0, 0.6),
    NEW: (0.8, 0.6, 0.0, 0.0),
}
START, LATER = 1_700_000_000.0, 1_700_900_000.0


def embed(texts: Sequence[str]) -> list[tuple[float, ...]]:
    return [TOLD.get(text, (0.5, 0.8, 0.2, 0.1)) for text in texts]


def tell(memory: AdaptiveMemory) -> None:
    given = [{"text": text, "id": text, "created_at": START + day} for day, text in enumerate(TOLD)]
    memory.for_user("ana").remember_many(given)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[AdaptiveMemory]:
    with AdaptiveMemory.open(tmp_path, embedder=embed, clock=lambda: LATER) as memory:
        tell(memory)
        yield memory


def test_a_change_in_other_words_comes_first(memory: AdaptiveMemory) -> None:
    best, second, *_ = memory.for_user("ana").recall(CUE)
    assert (best.id, second.id, second.older_than) == (NEW, BARBER, NEW)


def test_a_replay_ranks_in_the_same_way(memory: AdaptiveMemory) -> None:
    user = memory.for_user("ana")
    user.recall(CUE)
    (again,) = user.replay()
    assert again.reproduced
    assert again.after[:2] == (NEW, BARBER)


def test_without_the_rule_nothing_is_put_first(memory: AdaptiveMemory) -> None:
    policy = Policy().replace(updates={"newest_first": False})
    assert memory.for_user("ana").recall(CUE, policy=policy).ids[0] == BARBER


def test_vectors_of_others_are_not_at_hand(memory: AdaptiveMemory) -> None:
    ids = [scored.hit._stored_id for scored in memory.for_user("ana").recall(CUE).kept]
    search = memory.ports().search
    assert set(search.unit_vectors_at_hand(Scope("ana"), ids)) == set(ids)
    assert search.unit_vectors_at_hand(Scope("ben"), ids) == {}


def test_where_each_vector_had_to_be_asked_for_none_is(tmp_path: Path) -> None:
    collection = chromadb.EphemeralClient().create_collection(
        "at-hand", embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
    )
    with AdaptiveMemory(collection, embedder=embed, clock=lambda: LATER) as memory:
        tell(memory)
        assert memory.ports().search.unit_vectors_at_hand(Scope("ana"), collection.get()["ids"]) == {}
        assert memory.for_user("ana").recall(CUE).ids[0] == BARBER


def test_in_a_space_without_cosines_none_is_used(tmp_path: Path) -> None:
    client = chromadb.PersistentClient(str(tmp_path))
    collection = client.create_collection("lengths", embedding_function=None, configuration={"hnsw": {"space": "l2"}})
    with AdaptiveMemory(collection, embedder=embed, clock=lambda: LATER) as memory:
        tell(memory)
        memory.flush()
        assert memory.for_user("ana").recall(CUE).ids[0] == BARBER
        assert memory.ports().search.unit_vectors_at_hand(Scope("ana"), collection.get()["ids"]) == {}


def test_vectors_are_taken_only_where_the_first_hit_may_have_a_newer_version(
    memory: AdaptiveMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[str] = []
    kind = type(memory.ports().search)
    at_hand = kind.unit_vectors_at_hand

    def counted(self: Any, scope: Scope, stored_ids: Sequence[str]) -> dict[str, Any]:
        taken.extend(stored_ids)
        return at_hand(self, scope, stored_ids)

    monkeypatch.setattr(kind, "unit_vectors_at_hand", counted)
    user = memory.for_user("ana")
    user.remember("It rained in Delft.", id="rain")
    for cue in ("Who was my barber?", "Where did it rain?", "rain", "What are my hobbies?", "Where does Ilse live?"):
        user.recall(cue)
    assert taken == []
    ids = {one.hit._stored_id for one in user.recall(CUE).kept if one.id in TOLD}
    assert set(taken) == ids  # not that of the rain, which is not about me
