"""What does a user find and learn over everyone's records? One recall over both, and all learning is the user's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from chromadb import Collection

from adaptive_memory_core import AdaptiveMemory, NotFoundError, Policy, ScopeError, UserMemory
from adaptive_memory_core.policy import Advanced
from adaptive_memory_core.policy.learning import Decay
from tests.behaviour.conftest import shown
from tests.conftest import Clock, Open, contents, word_vectors

Team = tuple[UserMemory, UserMemory, UserMemory]


@pytest.fixture
def team(memory: AdaptiveMemory) -> Team:
    """Everyone's handbook, and two who read it."""
    everyone = memory.for_everyone()
    everyone.remember_many(
        [{"text": f"handbook page {number} on green tea", "id": f"p{number}"} for number in range(6)]
    )
    ana, ben = (memory.for_user(one, over="everyone") for one in ("ana", "ben"))
    ana.remember("green tea is what I drink", id="mine")
    return ana, ben, everyone


def test_own_records_and_everyones_come_in_one_recall_and_say_whose_they_are(team: Team) -> None:
    ana, ben, everyone = team
    recall = ana.recall("green tea", k=10)
    whose = {hit.id: hit.shared for hit in recall}
    assert whose == {"mine": None, **{f"p{number}": "everyone" for number in range(6)}}
    assert "shared: everyone" in recall.render()
    assert "(shared: everyone)" in recall.explain()
    assert "user 'ana' over everyone" in recall.explain()
    assert set(ben.recall("green tea", k=10).ids) == {f"p{number}" for number in range(6)}
    assert set(everyone.recall("green tea", k=10, reinforce=False).ids) == {f"p{number}" for number in range(6)}


def test_what_one_reader_reads_and_judges_ranks_for_that_reader_alone(
    team: Team, clock: Clock, memory: AdaptiveMemory, collection: Collection
) -> None:
    ana, ben, everyone = team
    before = shown(memory, "p5")
    for _ in range(3):
        clock.pass_seconds(100)
        ana.feedback(ana.recall("handbook green tea page 5", k=1), helpful=["p5"])
    clock.pass_seconds(100)
    assert ana.recall("handbook page on green tea", k=1, reinforce=False).ids == ("p5",)
    assert ben.recall("handbook page on green tea", k=1, reinforce=False).ids != ("p5",)
    assert ana.get("p5").read.retrieval_count == 3
    assert (ben.get("p5").read.retrieval_count, everyone.get("p5").read.retrieval_count) == (0, 0)
    assert ben.get("p5").importance == everyone.get("p5").importance == 0.5
    assert ben.recall("green tea", k=6, reinforce=False).use.step == 0
    memory.flush()
    assert shown(memory, "p5") == before


def test_everyones_own_reads_are_nobody_elses(team: Team) -> None:
    ana, _, everyone = team
    everyone.recall("page 3", k=6)
    everyone.memory.flush()
    assert ana.get("p3").read.retrieval_count == 0
    assert ana.recall("page 3", k=6, reinforce=False)[0].record.read.last_read is None


def test_what_everyones_own_verdicts_say_of_a_record_holds_for_all(team: Team, memory: AdaptiveMemory) -> None:
    ana, _, everyone = team
    everyone.feedback(everyone.recall("page 3", k=1), helpful=["p3"])
    memory.flush()
    assert ana.get("p3").importance == everyone.get("p3").importance != 0.5
    ana.recall("page 3", k=1)
    assert ana.get("p3").read.boost == 0.0


def test_where_the_policy_says_so_a_share_of_a_readers_verdict_counts_for_all(open_memory: Open) -> None:
    with open_memory(policy=Policy().replace(learning={"common_share": 0.2})) as memory:
        everyone = memory.for_everyone()
        everyone.remember("handbook page 1 on green tea", id="p1")
        ana, ben = (memory.for_user(one, over="everyone") for one in ("ana", "ben"))
        recall = ana.recall("green tea")
        ana.feedback(recall, helpful=["p1"])
        memory.flush()
        assert everyone.get("p1").importance == ben.get("p1").importance == pytest.approx(0.5 * 1.01)
        assert ana.get("p1").importance == pytest.approx(0.5 * 1.05 * 1.01)
        assert (ben.get("p1").read.helpful, everyone.get("p1").read.helpful) == (0, 0)
        assert [(one.what, one.by) for one in everyone.changes("p1")] == [("judged by a reader", "common share")]
        ana.feedback(recall, unhelpful=["p1"])  # a changed mind takes back what it did for all, too
        memory.flush()
        assert everyone.get("p1").importance == ben.get("p1").importance == pytest.approx(0.5 * 0.99)


@pytest.mark.parametrize("looked", [False, True])
def test_that_share_stays_with_the_text_that_was_judged(
    memory: AdaptiveMemory, collection: Collection, *, looked: bool
) -> None:
    memory.policy = Policy().replace(learning={"common_share": 0.2})
    everyone = memory.for_everyone()
    ana, ben = (memory.for_user(one, over="everyone") for one in ("ana", "ben"))
    texts = ["handbook on green tea", "handbook on blue cars"]
    collection.add(ids=["p"], documents=texts[:1], embeddings=word_vectors(texts[:1]))
    ana.feedback(ana.recall("handbook"), helpful=["p"])
    share = everyone.get("p").read.boost
    assert share > 0.0
    memory.flush()
    collection.update(ids=["p"], documents=texts[1:], embeddings=word_vectors(texts[1:]))
    if looked:
        assert everyone.get("p").read.boost == 0.0
        everyone.recall("handbook")
    ben.feedback(ben.recall("handbook"), helpful=["p"])
    assert everyone.get("p").read.boost == share


def test_a_reader_pins_for_herself_and_changes_nothing_of_everyones(team: Team, collection: Collection) -> None:
    ana, ben, everyone = team
    before = contents(collection)
    assert ana.pin("p1", by="ana").pinned
    assert ([one.id for one in ana.pinned()], ben.pinned(), everyone.pinned()) == (["p1"], [], [])
    with pytest.raises(ScopeError, match="is everyone's"):
        ana.forget("p1")
    with pytest.raises(NotFoundError):
        ana.remember("another tea", supersedes="p1")
    assert ana.prune(below=1.0).ids == ()
    ana.memory.flush()
    assert contents(collection) == before
    assert [(one.id, one.what) for one in ana.changes("p1")] == [("p1", "pinned")]
    assert ben.changes("p1") == everyone.changes("p1") == []
    assert not ana.unpin("p1").pinned


def test_an_own_record_hides_everyones_of_the_same_id(team: Team) -> None:
    ana, ben, everyone = team
    ana.remember("my own green tea page", id="p0")
    recall = ana.recall("green tea", k=10)
    assert [(hit.id, hit.text) for hit in recall if hit.id == "p0"] == [("p0", "my own green tea page")]
    assert ("p0", "hidden by the user's own record of this id") in [(one.id, one.reason) for one in recall.dropped]
    assert ana.get("p0").text == "my own green tea page"
    assert (ben.get("p0").text, everyone.get("p0").text) == ("handbook page 0 on green tea",) * 2
    ana.forget("p0")
    assert ana.get("p0").text == "handbook page 0 on green tea"


def test_a_record_of_everyones_may_be_judged_later_and_by_the_users_plain_scope(
    team: Team, memory: AdaptiveMemory
) -> None:
    ana, ben, _ = team
    recall = ana.recall("page 2", k=2)
    shared = next(hit.id for hit in recall if hit.shared)
    assert memory.for_user("ana").feedback(recall.id, helpful=[shared]) == 1
    assert ana.feedback(recall, helpful=[shared]) == 0
    assert memory.for_user("ana").feedback_on_answer(unhelpful=[shared]) == 1
    with pytest.raises(NotFoundError):
        ben.feedback(recall.id, helpful=[shared])
    with pytest.raises(ScopeError):
        ben.feedback(recall, helpful=[shared])


def test_what_was_learned_can_be_let_go_of(team: Team) -> None:
    ana, ben, _ = team
    ana.recall("green tea", k=10)
    ben.recall("green tea", k=10)
    assert ana.forget_learned("p1") == 1
    assert (ana.get("p1").read.retrieval_count, ben.get("p1").read.retrieval_count) == (0, 1)
    assert ana.recalls(containing="p1") == []
    assert ana.forget_learned() == 5
    assert (ana.stats().reads, ana.get("mine").read.retrieval_count, ben.stats().reads) == (1, 1, 6)
    with pytest.raises(ScopeError, match="over="):
        ana.memory.for_user("ana").forget_learned()


def test_what_a_reader_learned_moves_to_another_collection(team: Team, open_memory: Open, tmp_path: Path) -> None:
    ana, *_ = team
    ana.feedback(ana.recall("page 4", k=1), helpful=["p4"])
    ana.recall("what I drink", k=1)
    state = ana.export_state()
    with open_memory(path=tmp_path / "elsewhere") as second:
        second.for_everyone().remember("handbook page 4 on green tea", id="p4")
        there = second.for_user("ana", over="everyone")
        there.remember("green tea is what I drink", id="mine")
        assert there.restore_state(state).records == 2
        assert (there.get("p4").read.helpful, second.for_everyone().get("p4").read.helpful) == (1, 0)
        assert second.for_user("ben", over="everyone").get("p4").read.helpful == 0


def test_a_document_that_is_read_in_anew_keeps_each_readers_reads(
    memory: AdaptiveMemory, collection: Collection
) -> None:
    def write(one: str) -> None:
        row: dict[str, Any] = {"documents": ["green tea"], "metadatas": [{"document_id": "handbook.md"}]}
        collection.add(ids=[one], embeddings=word_vectors(["green tea"]), **row)

    ana, ben = (memory.for_user(one, over="everyone") for one in ("ana", "ben"))
    write("chunk-1")
    ana.feedback(ana.recall("green tea"), helpful=["chunk-1"])
    ben.recall("green tea")
    collection.delete(ids=["chunk-1"])
    write("chunk-2")
    for scope, helpful in ((ben, 0), (ana, 1)):
        found = scope.recall("green tea", reinforce=False)[0].record.read
        assert (found.retrieval_count, found.helpful) == (1, helpful)
        assert scope.recall("green tea")[0].id == "chunk-2"
        assert scope.get("chunk-2").read.helpful == helpful


def test_strength_decays_for_each_reader_by_their_own_recalls(open_memory: Open, clock: Clock) -> None:
    policy = Policy(decay=Decay(grace=0, rate=0.5), refresh_floor_seconds=0.0, recall_k=3)
    with open_memory(policy=policy) as memory:
        everyone = memory.for_everyone()
        everyone.remember_many([{"text": f"tea number {number}", "id": f"t{number}"} for number in range(8)])
        ana, ben = (memory.for_user(one, over="everyone") for one in ("ana", "ben"))
        ana.recall("tea number 1", k=8)
        for _ in range(3):
            ana.recall("tea number 1", k=1)
        weak = ana.get("t5").read.strength
        assert weak < 1.0
        assert (ben.get("t5").read.strength, everyone.get("t5").read.strength) == (1.0, 1.0)
        assert len(ana.recall("tea", k=8)) == 8


@pytest.mark.parametrize("wrong", ["bob", "", True, ["everyone"]])
def test_only_everyones_records_can_be_read_beside_the_own(memory: AdaptiveMemory, wrong: Any) -> None:
    with pytest.raises(ScopeError, match="over is"):
        memory.for_user("ana", over=wrong)


def test_a_fallback_is_not_given_besides(memory: AdaptiveMemory) -> None:
    with pytest.raises(ScopeError, match="fallback"):
        memory.for_user("ana", over="everyone", fallback=memory.for_everyone())


async def test_it_is_the_same_async(team: Team) -> None:
    ana, ben, _ = team
    recall = await ana.arecall("green tea", k=3)
    assert await ana.afeedback(recall, helpful=list(recall.ids)) == 3
    assert len(await ben.arecall("green tea", k=10)) == 6
    assert await ana.aforget_learned() >= 2


def test_the_words_of_both_are_found_as_those_of_one(memory: AdaptiveMemory) -> None:
    everyone, ana = memory.for_everyone(), memory.for_user("ana", over="everyone")
    everyone.remember_many(
        [{"text": f"page {number}: travel costs, form B{number}", "id": f"p{number}"} for number in range(40)]
    )
    ana.remember("I sent form B17 on Monday", id="mine")
    recall = ana.recall("form B17", k=2, policy=Policy(channels=("dense", "lexical")))
    assert {hit.id: hit.shared for hit in recall} == {"mine": None, "p17": "everyone"}


def test_neighbours_of_everyones_talk_are_shown(memory: AdaptiveMemory) -> None:
    everyone, ana = memory.for_everyone(), memory.for_user("ana", over="everyone")
    said = ["Who brings the tea?", "Carol brings the green tea.", "Fine, then that is settled."]
    turns = [{"session": "meeting", "seq": number, "speaker": "Dan"} for number in range(3)]
    everyone.remember_many([{"text": text, "metadata": turn} for text, turn in zip(said, turns, strict=True)])
    ana.remember("I like coffee")
    policy = Policy(advanced=Advanced(neighbours=True), channels=("dense", "lexical"))
    recall = ana.recall("Carol brings", k=1, policy=policy)
    assert [one.record.text for one in recall.beside] == [said[0], said[2]]


def test_an_own_record_that_was_forgotten_keeps_no_read_from_everyones_of_its_id(
    memory: AdaptiveMemory, clock: Clock
) -> None:
    memory.for_user("ana").remember("tea at noon", id="note")
    memory.for_everyone().remember("tea at four", id="note")
    memory.for_user("ana").forget("note")
    reader = memory.for_user("ana", over="everyone")
    for count in (1, 2):
        clock.pass_seconds(100)
        assert reader.recall("tea").ids == ("note",)
        assert reader.get("note").read.retrieval_count == count
