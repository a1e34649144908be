"""The channels that a memory uses by default: words and vectors, added up by how unlikely each match is by chance."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import pytest
from chromadb import Collection

from adaptive_memory_core import AdaptiveMemory, Policy, UserMemory
from adaptive_memory_core.models.embedder import as_embedder
from adaptive_memory_core.policy import Fusion
from tests.conftest import Clock, Open, word_vectors

LOCAL = "wordllama-l2-supercat-256"
BOTH: Any = ("dense", "lexical")
TURNS = ["I moved to Lisbon last May.", "Do you like it there?", "The weather is lovely.", "And the food?"]


@pytest.fixture
def by_vectors(over: Open) -> AdaptiveMemory:
    """A memory that was opened with vectors alone."""
    vectors = Policy(channels=("dense",))
    return over(policy=vectors)


@pytest.fixture
def known(over: Open) -> AdaptiveMemory:
    """A memory with an embedder under the name of the bundled one."""
    return over(embedder=as_embedder(word_vectors, name=LOCAL))


def worded(memory: AdaptiveMemory) -> int:
    ledger: Any = memory.ports().ledger
    with ledger.file.reading() as sql:
        return int(sql.execute("SELECT count(*) FROM words").fetchone()[0])


@pytest.mark.parametrize("name", [LOCAL, "an embedder of somebody's own"])
def test_any_embedder_finds_by_words_as_well(collection: Collection, clock: Clock, name: str) -> None:
    with closing(AdaptiveMemory(collection, embedder=as_embedder(word_vectors, name=name), clock=clock)) as memory:
        alice = memory.for_user("alice")
        alice.remember_many(["tea at noon", "the gateway said ERR_CONN_RESET"])
        assert worded(memory) == 2
        answer = alice.recall("what was err_conn_reset?")
    assert "words" in answer[0].parts
    assert answer.policy.channels == BOTH
    assert answer.policy.advanced.fusion == Fusion()


def test_where_no_word_matches_the_order_is_that_of_similarity(alice: UserMemory) -> None:
    alice.remember_many(["tea at noon", "the gateway said ERR_CONN_RESET", "a walk by the lake"])
    answer = alice.recall("photosynthesis", k=3)
    assert [one.id for one in sorted(answer, key=lambda one: -one.similarity)] == list(answer.ids)


def test_vectors_alone_are_had_for_the_asking(by_vectors: AdaptiveMemory) -> None:
    alice = by_vectors.for_user("alice")
    alice.remember_many(["tea at noon", "the gateway said ERR_CONN_RESET"])
    assert "words" not in alice.recall("what was err_conn_reset?")[0].parts
    assert worded(by_vectors) == 0


def test_channels_that_are_given_hold_for_an_embedder_that_was_measured(known: AdaptiveMemory) -> None:
    known.for_user("ben").remember("tea at noon")
    assert "words" not in known.for_user("ben").recall("tea", policy=Policy(channels=("dense",)))[0].parts


def test_the_log_says_which_channels_were_used(known: AdaptiveMemory) -> None:
    alice = known.for_user("alice")
    alice.remember("tea at noon")
    answer = alice.recall("tea")
    assert alice.recalls()[0].policy_hash == answer.policy.hash == Policy().suited().hash


def test_a_policy_set_later_has_words_indexed_from_then_on(by_vectors: AdaptiveMemory) -> None:
    alice = by_vectors.for_user("alice")
    alice.remember("tea at noon")
    by_vectors.policy = Policy(channels=BOTH)
    alice.remember("coffee at nine")
    assert worded(by_vectors) == 2
    assert "words" in alice.recall("tea")[0].parts
    assert worded(by_vectors) == 2


def test_what_somebody_else_retrieved_is_ranked_by_its_own_similarity(known: AdaptiveMemory) -> None:
    alice = known.for_user("alice")
    alice.remember_many([{"text": "tea", "id": "tea"}, {"text": "coffee", "id": "coffee"}])
    assert alice.rerank("tea", {"coffee": 0.9, "tea": 0.1}).ids == ("coffee", "tea")


def test_the_presets_of_the_literature_keep_to_vectors(known: AdaptiveMemory) -> None:
    alice = known.for_user("alice")
    alice.remember("tea at noon")
    assert "words" not in alice.recall("tea", policy=Policy.preset("equal"))[0].parts


def test_what_kind_of_turn_it_is_counts_in_a_conversation(known: AdaptiveMemory) -> None:
    alice = known.for_user("alice")
    said = [{"speaker": "Ana", "session": "one", "seq": n} for n in range(len(TURNS))]
    alice.remember_many([{"text": text, "metadata": told} for text, told in zip(TURNS, said, strict=True)])
    answer = alice.recall("when did Ana move to Lisbon?", k=4)
    assert answer[0].text == TURNS[0]
    assert {"around", "speaker", "dated", "stated", "answers"} <= set(answer[0].parts)
    assert [one.signals["dated"] > 0.0 for one in answer] == [one.text == TURNS[0] for one in answer]
    assert "dated" not in alice.recall("who moved to Lisbon?", k=1)[0].parts


def test_among_people_a_question_is_no_answer_and_what_an_assistant_is_asked_is(known: AdaptiveMemory) -> None:
    asked, other = "So the marathon, Ben?", "So the marathon, Ben!"
    people, chat = known.for_user("people"), known.for_user("chat")
    for user, speakers in ((people, ("Ana", "Ben")), (chat, ("user", "assistant"))):
        told = [{"speaker": one, "session": "one", "seq": n} for n, one in enumerate(speakers)]
        user.remember_many([{"text": text, "metadata": one} for text, one in zip((asked, other), told, strict=True)])
    answer = people.recall("who ran the marathon?", k=2)
    assert [one.text for one in answer] == [other, asked]
    assert answer[0].signals["stated"] > 0.0 > answer[1].signals["stated"]
    assert answer[0].parts["stated"] > answer[1].parts["stated"] == 0.0
    assert "stated" in answer.explain()
    assert "stated" not in chat.recall("who ran the marathon?", k=2)[0].parts


def test_among_people_who_asks_for_a_name_gets_turns_that_say_one(known: AdaptiveMemory) -> None:
    plain, name = "The walk with her was lovely.", "The walk with Rosa was lovely."
    people, chat = known.for_user("people"), known.for_user("chat")
    for user, speakers in ((people, ("Ana", "Ben")), (chat, ("user", "assistant"))):
        told = [{"speaker": one, "session": one, "seq": n} for n, one in enumerate(speakers)]
        user.remember_many([{"text": text, "metadata": one} for text, one in zip((plain, name), told, strict=True)])
    answer = people.recall("who was on the lovely walk with her?", k=2)
    assert [one.signals["named"] > 0.0 for one in answer] == [one.text == name for one in answer]
    assert [one.parts["named"] > 0.0 for one in answer] == [one.text == name for one in answer]
    assert "named" in answer.explain()
    assert "named" not in people.recall("how was the walk with her?", k=2)[0].parts
    assert "named" not in chat.recall("who was on the lovely walk with her?", k=2)[0].parts


def test_the_words_around_a_turn_are_not_those_of_another_user(known: AdaptiveMemory) -> None:
    alice, bob = known.for_user("alice"), known.for_user("bob")
    said = [{"speaker": one, "session": "one", "seq": n} for n, one in enumerate(("Ana", "Ben"))]
    texts = ("something else entirely", "oh, is it?")
    alice.remember_many([{"text": text, "metadata": told} for text, told in zip(texts, said, strict=True)])

    def around() -> list[float]:
        return [one.signals["around"] for one in alice.recall("tea at noon", reinforce=False)]

    alone = around()
    bob.remember("tea at noon", metadata={"speaker": "Ana", "session": "one", "seq": 0})
    assert around() == alone == [0.0, 0.0]
    alice.remember("tea at noon", metadata={"speaker": "Ana", "session": "one", "seq": 2})
    assert min(around()) > 0.0


@pytest.mark.parametrize(
    ("asked", "dated", "other"),
    [
        (
            "Wann zog Ana nach Lissabon?",
            "Ana zog im Januar nach Lissabon.",
            "Ana mag Lissabon und das Essen dort sehr.",
        ),
        ("¿Cuándo llegó Ana a Lisboa?", "Ana llegó a Lisboa en diciembre.", "A Ana le gusta Lisboa y la comida."),
        ("Quand Ana est-elle venue ?", "Ana est venue en juillet.", "Ana aime la cuisine de Lisbonne."),
        ("小明什么时候搬到里斯本的", "小明去年搬到里斯本", "小明喜欢里斯本的食物"),
    ],
)
def test_a_turn_that_says_a_time_counts_where_another_language_asks_when(
    known: AdaptiveMemory, asked: str, dated: str, other: str
) -> None:
    alice = known.for_user("alice")
    told = [{"speaker": "Ana", "session": "one", "seq": n} for n in range(2)]
    alice.remember_many([{"text": text, "metadata": one} for text, one in zip((dated, other), told, strict=True)])
    assert {one.text: one.signals["dated"] > 0.0 for one in alice.recall(asked)} == {dated: True, other: False}
