"""Does a recall say which channel it believed, and do its numbers fit the ranking?"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import closing

from chromadb import Collection

from adaptive_memory_core import AdaptiveMemory, Policy, Recall
from adaptive_memory_core.context.believed import believed
from adaptive_memory_core.models.embedder import as_embedder
from adaptive_memory_core.policy.fusion import Fusion
from adaptive_memory_core.records import Hit, Record, Scored
from tests.conftest import Vectors

FILLING = [f"note number {number} about the weather of day {number}" for number in range(60)]


def test_a_recall_says_how_far_words_were_believed(collection: Collection, embed: Callable[..., Vectors]) -> None:
    named = as_embedder(embed, name="wordllama-l2-supercat-256")
    with closing(AdaptiveMemory(collection, embedder=named)) as memory:
        alice = memory.for_user("alice")
        alice.remember_many(["the gateway of billing said ERR_CONN_RESET", *FILLING])
        telling = alice.recall("what did the billing gateway say, err_conn_reset?")
        vague = alice.recall("the weather of a day, a number, a note")
        assert counted(telling) > 75
        assert counted(vague) < 50
        assert telling[0].signals["chance"] < 0.01
        assert vague[0].signals["chance"] > 0.5
        assert "vectors count" in vague.explain()
        assert abs(sum(telling[0].parts.values()) - telling[0].score) < 1e-9


def counted(answer: Recall) -> float:
    """How many percent words count, as it says."""
    found = re.search(r"words (\d+) %", answer.explain())
    assert found is not None
    return float(found[1])


def scored(**leads: float) -> list[Scored]:
    hits = [Hit(Record(str(close), "tea"), close, str(close), leads) for close in (0.6, 0.3)]
    return [Scored(hit, 0.5, {}, {"similarity": hit.similarity, **leads}) for hit in hits]


def test_where_words_are_not_asked_nothing_is_said_of_them() -> None:
    assert believed(scored(sql=1.0), Policy()) == []
    assert believed(scored(words=0.1, chance=0.5), Policy(fusion=Fusion(method="rrf"))) == []


def test_the_less_likely_an_accident_the_less_vectors_count() -> None:
    said = [believed(scored(words=0.1, chance=chance), Policy())[0] for chance in (1.0, 0.5, 0.001)]
    counted = [float(line.split()[2]) for line in said]
    assert counted == sorted(counted, reverse=True)
    assert counted[0] > counted[2] > 0


def test_it_says_that_vectors_cannot_tell_the_candidates_apart() -> None:
    def said(close: list[float]) -> str:
        leads = {"words": 0.5, "chance": 1e-6}
        hits = [Hit(Record(str(number), "tea"), one, str(number), leads) for number, one in enumerate(close)]
        return believed([Scored(hit, 0.5, {}, {"similarity": hit.similarity, **leads}) for hit in hits], Policy())[0]

    assert "the ten nearest are all about as near" in said([0.8, *[0.78] * 10, 0.1])
    assert "as near" not in said([0.8, *[0.4] * 10, 0.1])


def test_it_says_how_much_the_words_of_the_cue_could_say() -> None:
    few, many = (believed(scored(words=0.1, chance=0.5, telling=one), Policy())[0] for one in (0.2, 0.6))
    assert "could say 10 nats" in few
    assert "could say 60 nats" in many
    assert float(few.split()[2]) > float(many.split()[2])
