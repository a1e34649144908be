"""Does the graph follow what is written, changed and removed, by us and by others, and does all of it fit together?"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import numpy as np
import pytest
from chromadb import Collection

from adaptive_memory_core import AdaptiveMemory, Fields, Policy, UserMemory, as_embedder
from adaptive_memory_core.store.graph.graph_index import AT_ONCE, GraphIndex
from tests.behaviour.test_reembed import turned
from tests.conftest import Clock, Open, word_vectors

CHANNELS: Any = ("dense", "lexical", "graph")
NOTES = [f"Note {n} is about nothing in particular." for n in range(30)]


@pytest.fixture
def memory(collection: Collection, clock: Clock) -> Iterator[AdaptiveMemory]:
    policy = Policy(channels=CHANNELS)
    with closing(AdaptiveMemory(collection, embedder=word_vectors, clock=clock, policy=policy)) as opened:
        yield opened
        assert rows(opened).faults() == []


def rows(memory: AdaptiveMemory) -> Any:
    return memory.ports().ledger.graph


def names_of(memory: AdaptiveMemory, user: UserMemory, *asked: str) -> dict[str, int]:
    with rows(memory).view(user.scope) as graph:
        return dict(graph.frequencies(asked))


def family(user: UserMemory) -> None:
    user.remember_many(
        [
            {"id": "t", "text": "Teutberga was married to Lothair II.", "metadata": {"title": "Teutberga"}},
            {"id": "l", "text": "He ruled. His father was Lothair I.", "metadata": {"title": "Lothair II"}},
            {"id": "f", "text": "He died at the abbey.", "metadata": {"title": "Lothair I"}},
            *NOTES,
        ]
    )


def test_what_a_hit_names_is_found_as_well(memory: AdaptiveMemory) -> None:
    ann = memory.for_user("ann")
    family(ann)
    found = ann.recall("Where did the father of Teutberga's husband die?", k=3)
    assert set(found.ids) == {"t", "l", "f"}
    assert all(hit.parts["graph"] > 0.0 for hit in found)
    assert "'lothair i' -> sentence 1 of 'f'" in found.explain()
    for hit in found:
        assert sum(hit.parts.values()) == pytest.approx(hit.score, abs=1e-9)


def test_nothing_is_made_for_who_never_asks(over: Open) -> None:
    memory = over()
    family(memory.for_user("ann"))
    memory.for_user("ann").recall("Teutberga")
    assert rows(memory).stored_ids() == set()


def test_a_recall_that_asks_first_takes_in_little_at_once(over: Open) -> None:
    ann = over(policy=Policy(channels=("dense", "lexical"))).for_user("ann")
    family(ann)
    found = ann.recall("Where did the father of Teutberga's husband die?", k=3, policy=Policy(channels=CHANNELS))
    assert set(found.ids) == {"t", "l", "f"}


def test_much_is_taken_in_beside_the_recall_with_a_note(over: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(GraphIndex, "wait", lambda _: None)
    memory = over(policy=Policy(channels=("dense", "lexical")))
    ann = memory.for_user("ann")
    ann.remember_many([f"Note {n}" for n in range(AT_ONCE + 1)])
    found = ann.recall("Note 7", policy=Policy(channels=CHANNELS))
    assert any("the rest is being added" in note for note in found.trace)
    memory.sync()
    assert not ann.recall("Note 7", policy=Policy(channels=CHANNELS)).trace
    assert len(rows(memory).stored_ids()) == AT_ONCE + 1


@pytest.mark.parametrize("form", ["ours", "paper"])
def test_a_graph_of_some_records_is_not_asked(over: Open, monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    """Until it is made of all, a recall ranks as without it; of another user's records it need not be made."""
    monkeypatch.setattr(GraphIndex, "wait", lambda _: None)
    plain = Policy(channels=("dense", "lexical"))
    linked = Policy(channels=CHANNELS).replace(advanced={"graph": {"form": form}})
    cue = "Where did the father of Teutberga's husband die?"
    memory = over(policy=plain)
    ann, bob = memory.for_user("ann"), memory.for_user("bob")
    bob.remember("Teutberga was married to Lothair II.", id="b")
    family(ann)
    ann.remember_many([f"Lothair I is number {n}" for n in range(2 * AT_ONCE)])
    graph: Any = memory.ports().graph
    graph.expect()
    graph._taking_in.page()
    assert 0 < len(rows(memory).stored_ids()) <= AT_ONCE
    parts = [(hit.id, hit.parts) for hit in ann.recall(cue, reinforce=False, policy=plain)]
    found = ann.recall(cue, reinforce=False, policy=linked)
    assert [(hit.id, hit.parts) for hit in found] == parts
    assert any("the graph is left out until it contains all records" in note for note in found.trace)
    assert "the graph is left out" in found.explain()
    assert "graph" in bob.recall(cue, reinforce=False, policy=linked)[0].parts
    memory.sync()
    found = ann.recall(cue, reinforce=False, policy=linked)
    assert "graph" in found[0].parts
    assert not found.trace


def test_a_changed_text_is_another_passage_and_a_forgotten_one_leaves_no_name(memory: AdaptiveMemory) -> None:
    ann = memory.for_user("ann")
    ann.remember("Zoe plays the cello with Quentin.", id="one")
    assert names_of(memory, ann, "zoe", "quentin", "rupert") == {"zoe": 1, "quentin": 1}
    ann.remember("Zoe plays the cello with Rupert.", id="one")
    assert names_of(memory, ann, "zoe", "quentin", "rupert") == {"zoe": 1, "rupert": 1}
    ann.forget("one")
    assert names_of(memory, ann, "zoe", "quentin", "rupert") == {}
    assert rows(memory).stored_ids() == set()


def test_users_know_nothing_of_each_other(memory: AdaptiveMemory) -> None:
    ann, bob = memory.for_user("ann"), memory.for_user("bob")
    family(ann)
    bob.remember("Teutberga is the name of my cat.", id="cat")
    assert names_of(memory, bob, "teutberga", "lothair ii") == {"teutberga": 1}
    assert bob.recall("Who is Teutberga?").ids == ("cat",)


def test_a_reader_over_everyones_records_follows_both(memory: AdaptiveMemory) -> None:
    memory.for_everyone().remember("Lothair II was a king.", id="king", metadata={"title": "Lothair II"})
    ann = memory.for_user("ann", over="everyone")
    memory.for_user("ann").remember("Teutberga married Lothair II.", id="wife")
    assert names_of(memory, ann, "lothair ii") == {"lothair ii": 2}
    assert set(ann.recall("Teutberga's husband?").ids) == {"king", "wife"}


def test_what_another_program_wrote_and_removed_is_followed(memory: AdaptiveMemory, collection: Collection) -> None:
    ann = memory.for_user("ann")
    ann.remember("Zoe plays the cello.", id="zoe")
    collection.add(
        ids=["theirs"], documents=["Quentin sings."], metadatas=[{"user_id": "ann"}], embeddings=np.full((1, 32), 0.1)
    )
    memory.sync()
    assert names_of(memory, ann, "zoe", "quentin") == {"zoe": 1, "quentin": 1}
    collection.delete(ids=["theirs"])
    memory.sync()
    assert names_of(memory, ann, "zoe", "quentin") == {"zoe": 1}


def test_what_another_program_wrote_over_is_followed(open_memory: Open) -> None:
    memory = open_memory(policy=Policy(channels=CHANNELS))
    ann = memory.for_user("ann")
    ann.remember("Zoe plays the cello with Quentin.", id="zoe")
    memory.flush()
    store: Any = memory.ports().records
    store.collection.update(
        ids=["zoe"], documents=["Zoe plays the cello with Rupert."], embeddings=np.full((1, 32), 0.1)
    )
    memory.sync()
    assert names_of(memory, ann, "zoe", "quentin", "rupert") == {"zoe": 1, "rupert": 1}


def test_a_title_that_comes_later_is_found_in_what_was_there(memory: AdaptiveMemory) -> None:
    ann = memory.for_user("ann")
    ann.remember("We talked about the art of memory for hours.", id="talk")
    ann.remember("It is old.", id="book", metadata={"title": "The Art of Memory"})
    memory.sync()
    assert names_of(memory, ann, "art of memory") == {"art of memory": 2}


def test_a_rebuild_makes_the_same(memory: AdaptiveMemory) -> None:
    ann = memory.for_user("ann")
    family(ann)
    asked = ("teutberga", "lothair ii", "lothair i", "note")
    before = names_of(memory, ann, *asked)
    memory.ports().graph.rebuild()
    assert names_of(memory, ann, *asked) == before
    assert len(rows(memory).stored_ids()) == len(NOTES) + 3


def test_a_damaged_graph_is_found_and_made_anew(memory: AdaptiveMemory) -> None:
    ann = memory.for_user("ann")
    family(ann)
    with rows(memory)._shared.writing() as sql:
        sql.execute("UPDATE graph_names SET passages = passages + 1 WHERE name = 'teutberga'")
    assert rows(memory).faults()
    found = memory.check(repair=True)
    assert [one.part for one in found.findings if one.mended] == ["graph"]
    assert rows(memory).faults() == []


def test_a_filter_holds_for_what_the_graph_reaches(memory: AdaptiveMemory) -> None:
    ann = memory.for_user("ann")
    family(ann)
    for channels in (CHANNELS, ("dense", "graph")):
        policy = Policy(channels=channels)
        found = ann.recall("Teutberga's husband's father", filter={"title": "Lothair I"}, policy=policy)
        assert found.ids == ("f",)


def test_another_embedder_makes_it_anew(open_memory: Open) -> None:
    memory = open_memory(policy=Policy(channels=CHANNELS))
    ann = memory.for_user("ann")
    family(ann)
    memory.reembed(as_embedder(turned, name="turned"))
    memory.sync()
    with rows(memory).view(ann.scope) as graph:
        (key,) = graph.keys_of(["t"]).values()
        vectors = graph.rows(np.array([key])).vectors
    assert vectors is not None
    assert vectors.shape == (1, turned(["tea"]).shape[1])
    assert set(ann.recall("Where did the father of Teutberga's husband die?", k=3).ids) == {"t", "l", "f"}
    assert rows(memory).faults() == []


def test_titles_under_another_key_make_it_anew_once(open_memory: Open) -> None:
    def opened(fields: Fields, *, repair: bool = False) -> tuple[dict[str, int], Any]:
        with closing(open_memory(policy=Policy(channels=CHANNELS), fields=fields)) as memory:
            ann = memory.for_user("ann")
            if not ann.stats().records:
                ann.remember("He died at the abbey.", id="f", metadata={"headline": "Rupert"})
            notes.append(" ".join(ann.recall("the abbey").trace))
            faults.append([one.what for one in memory.check(repair=repair).findings if "which replaced" in one.what])
            with rows(memory).view(ann.scope) as graph:
                return dict(graph.frequencies(["rupert"])), dict(graph.keys_of(["f"]))

    notes: list[str] = []
    faults: list[list[str]] = []
    assert opened(Fields())[0] == {}
    names, passages = opened(Fields(title="headline"))
    assert names == {"rupert": 1}
    assert opened(Fields(title="headline")) == (names, passages)  # which is kept
    assert (notes, faults) == ([""] * 3, [[]] * 3)
    assert opened(Fields()) == (names, passages)  # and not undone by who has not heard of it
    assert "the graph was built with titles under 'headline', which replaced titles under 'title'" in notes[-1]
    assert "check(repair=True)" in notes[-1]
    assert len(faults[-1]) == 1
    assert opened(Fields(), repair=True)[0] == {}
    opened(Fields())
    assert (notes[-1], faults[-1]) == ("", [])
    opened(Fields(title="headline"))
    assert "built with titles under 'title'" in notes[-1]


def test_a_process_whose_setting_gave_way_leaves_the_graph_to_the_others(over: Open) -> None:
    policy = Policy(channels=CHANNELS)
    first = over(policy=policy)
    ann = first.for_user("ann")
    ann.remember("Zoe sings.", id="zoe", metadata={"headline": "Rupert"})
    ann.recall("Zoe")
    rows(first).made_as("headline")  # as another process does
    ann.remember("Quentin sings.", id="quentin", metadata={"title": "Ursula"})
    first.sync()
    assert rows(first).stored_ids() == set()
    assert any("it is used unchanged" in note for note in ann.recall("Zoe").trace)


def test_another_extractor_makes_it_anew_and_is_named(open_memory: Open) -> None:
    def instruments(sentence: str) -> list[str]:
        return ["Cello"] if "cello" in sentence else []

    asked = ("cello", "zoe")
    with closing(open_memory(policy=Policy(channels=CHANNELS))) as memory:
        ann = memory.for_user("ann")
        ann.remember("Zoe plays the cello.", id="zoe")
        assert names_of(memory, ann, *asked) == {"zoe": 1}
    with closing(open_memory(policy=Policy(channels=CHANNELS), entities=instruments)) as memory:
        ann = memory.for_user("ann")
        ann.recall("the cello")
        assert names_of(memory, ann, *asked) == {"cello": 1}
        ann.remember("A cello is large.", id="large")
        memory.sync()
        assert names_of(memory, ann, *asked) == {"cello": 2}
        assert "instruments" in str(rows(memory).made_as())
    with closing(open_memory(policy=Policy(channels=CHANNELS))) as memory:
        said = memory.for_user("ann").recall("the cello").trace
        assert any("instruments'" in note and "entities=" in note for note in said)


def test_a_name_that_everyone_mentions_leads_nowhere(memory: AdaptiveMemory) -> None:
    """As the speakers' names in a conversation."""
    ann = memory.for_user("ann")
    ann.remember_many([f"Caroline told of day {n}." for n in range(60)])
    ann.remember("Quentin told of his pottery.", id="pottery")
    assert all(hit.parts["graph"] < 0.05 for hit in ann.recall("What did Caroline tell?", k=5))
    assert ann.recall("What did Caroline tell of Quentin?", k=5)[0].parts["graph"] > 0.15
