"""Is a name taken for another one that is written nearly so, where that is asked for, and only there?"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Any

import numpy as np
import pytest
from chromadb import Collection

from adaptive_memory_core import AdaptiveMemory, Policy, PolicyError, UserMemory, as_embedder
from adaptive_memory_core.models.embedder import Embedder
from adaptive_memory_core.policy import Graphs
from benchmarks.embedders import trigrams
from tests.conftest import Open

PLAIN = Policy(channels=("dense", "lexical", "graph"))
POLICY = PLAIN.replace(advanced={"graph": {"names_alike": 0.7}})
CUE = "Where did the buyer of Ashbrook retire?"
MISSPELLED = "Where did Kathryn Bigelo retire?"
NOTES = [f"Note {n} is about nothing in particular." for n in range(40)]


class Asked:
    """An embedder that tells what it was asked for."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.fails = False

    def __call__(self, texts: Sequence[str]) -> Any:
        if self.fails and "kathryn bigelo" in texts:
            raise OSError("no network")
        self.texts += texts
        return trigrams(texts)

    def as_embedder(self) -> Embedder:
        return as_embedder(self, name="trigrams")


@pytest.fixture
def asked() -> Asked:
    return Asked()


@pytest.fixture
def memory(collection: Collection, asked: Asked) -> Iterator[AdaptiveMemory]:
    with closing(AdaptiveMemory(collection, embedder=asked.as_embedder(), policy=POLICY)) as opened:
        yield opened
        assert opened.ports().ledger.graph.faults() == []


def filled(memory: AdaptiveMemory, name: str = "ann") -> UserMemory:
    user = memory.for_user(name)
    user.remember_many(
        [
            {"id": "sale", "text": "It was sold to Kathrin Bigelow.", "metadata": {"title": "Ashbrook"}},
            {"id": "life", "text": "She moved to a village.", "metadata": {"title": "Kathryn Bigelow"}},
            *NOTES,
        ]
    )
    memory.sync()
    return user


def ways(user: UserMemory, cue: str, policy: Policy | None = None) -> str:
    said = user.recall(cue, k=5, reinforce=False, policy=policy).explain()
    return "\n".join(line for line in said.splitlines() if "the graph came to" in line)


def names_embedded(memory: AdaptiveMemory) -> int:
    with memory.ports().ledger.file.reading() as sql:
        return int(sql.execute("SELECT count(*) FROM graph_name_vectors").fetchone()[0])


def test_a_name_in_a_record_leads_to_the_one_it_is_taken_for(memory: AdaptiveMemory) -> None:
    ann = filled(memory)
    found = ann.recall(CUE, k=2, reinforce=False)
    assert set(found.ids) == {"sale", "life"}
    assert found.trace == ()
    plain = ann.recall(CUE, k=5, reinforce=False, policy=PLAIN)
    graph = {hit.id: hit.parts["graph"] for hit in plain}
    assert graph.get("life", 0.0) < {hit.id: hit.parts["graph"] for hit in found}["life"]


def test_after_a_sync_no_recall_says_that_names_are_left_to_compare(
    memory: AdaptiveMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph: Any = memory.ports().graph
    monkeypatch.setattr(graph, "wait", lambda: None)  # the background does not get to it
    monkeypatch.setattr(graph, "work", lambda _: None)
    ann = filled(memory)
    assert ann.recall(CUE, k=2, reinforce=False).trace == ()
    ann.remember("Kathryn Bigelau called.", id="call")
    assert "not all names have been compared" in ann.recall(CUE, k=2, reinforce=False).trace[0]
    memory.sync()
    assert ann.recall(CUE, k=2, reinforce=False).trace == ()


def test_a_misspelled_name_in_the_question_is_taken_for_known_ones_and_it_says_so(memory: AdaptiveMemory) -> None:
    ann = filled(memory)
    assert "'kathryn bigelow' (taken for 'kathryn bigelo', " in ways(ann, MISSPELLED)
    assert "% alike)" in ways(ann, MISSPELLED)
    assert "taken for" not in ways(ann, MISSPELLED, PLAIN)
    assert "taken for" not in ways(ann, MISSPELLED, POLICY.replace(advanced={"graph": {"names_alike": 0.99}}))
    assert asyncio.run(ann.arecall(MISSPELLED, k=2, reinforce=False)).ids == ann.recall(MISSPELLED, k=2).ids


def test_where_it_is_off_no_name_is_embedded(over: Open, asked: Asked) -> None:
    memory = over(embedder=asked.as_embedder(), policy=PLAIN)
    ann = filled(memory)
    ann.recall(MISSPELLED)
    assert names_embedded(memory) == 0
    assert not {"kathryn bigelow", "kathryn bigelo"} & set(asked.texts)
    ann.recall(MISSPELLED, policy=POLICY)  # somebody asks for it, from now on
    memory.sync()
    assert names_embedded(memory) > 0
    assert "taken for 'kathryn bigelo'" in ways(ann, MISSPELLED, POLICY)


def test_a_policy_that_asks_for_it_later_begins(over: Open, asked: Asked) -> None:
    memory = over(embedder=asked.as_embedder(), policy=PLAIN)
    ann = filled(memory)
    memory.policy = POLICY
    memory.sync()
    assert "taken for 'kathryn bigelo'" in ways(ann, MISSPELLED)


def test_names_of_another_user_are_never_taken(memory: AdaptiveMemory) -> None:
    filled(memory)
    bob = memory.for_user("bob")
    bob.remember_many(["Zoe likes tea.", *NOTES])
    memory.sync()
    assert "bigelow" not in bob.recall(MISSPELLED).explain()


def test_of_everyones_records_both_are_asked(memory: AdaptiveMemory) -> None:
    memory.for_everyone().remember("She moved to a village.", id="life", metadata={"title": "Kathryn Bigelow"})
    memory.for_user("ann").remember_many(NOTES)
    memory.sync()
    reader = memory.for_user("ann", over="everyone")
    assert "taken for 'kathryn bigelo'" in ways(reader, MISSPELLED)


def test_what_is_forgotten_is_not_taken_for_anything(memory: AdaptiveMemory) -> None:
    ann = filled(memory)
    ann.forget("life")
    memory.sync()
    assert "kathryn bigelow" not in ann.recall(MISSPELLED).explain()
    before = names_embedded(memory)
    ann.forget("sale")
    assert names_embedded(memory) < before
    assert not memory.check().findings


def test_without_its_embedder_a_recall_goes_on_with_what_is_known(memory: AdaptiveMemory, asked: Asked) -> None:
    ann = filled(memory)
    asked.fails = True
    assert len(ann.recall(MISSPELLED, k=5, reinforce=False)) == 5
    assert "taken for 'kathryn bigelo'" not in ways(ann, MISSPELLED)
    assert set(ann.recall(CUE, k=2, reinforce=False).ids) == {"sale", "life"}


def test_another_embedder_gives_names_new_vectors(open_memory: Open, asked: Asked) -> None:
    memory = open_memory(policy=POLICY, embedder=asked.as_embedder())
    ann = filled(memory)
    before = names_embedded(memory)
    memory.reembed(as_embedder(lambda texts: np.flip(trigrams(texts), axis=1), name="flipped"))
    memory.sync()
    assert names_embedded(memory) == before
    assert "taken for 'kathryn bigelo'" in ways(ann, MISSPELLED)


def test_a_repair_compares_anew(memory: AdaptiveMemory) -> None:
    ann = filled(memory)
    with memory.ports().ledger.file.writing() as sql:
        sql.execute("UPDATE graph_name_vectors SET name_key = name_key + 1000")
    assert "vectors are of names that are gone" in memory.check().findings[0].what
    memory.check(repair=True)
    assert not memory.check().findings
    assert "taken for 'kathryn bigelo'" in ways(ann, MISSPELLED)


@pytest.mark.parametrize("floor", [0.1, 0.69, -1.0, 1.1, True])
def test_a_floor_below_what_is_kept_is_refused(floor: Any) -> None:
    with pytest.raises(PolicyError, match="names_alike"):
        Graphs(names_alike=floor)
