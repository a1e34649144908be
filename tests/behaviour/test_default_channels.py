"""Which channels does a memory find by, if nobody says? Words besides vectors, as far as they tell something."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest
from chromadb import Collection

from adaptive_memory_core import AdaptiveMemory, LocalEmbedder, Policy
from adaptive_memory_core.models.embedder import as_embedder
from adaptive_memory_core.policy.fusion import CAUTIOUS, MEASURED
from tests.conftest import Clock, Vectors

LOCAL = "wordllama-l2-supercat-256"
BOTH: Any = ("dense", "lexical")
TURNS = ["I moved to Lisbon last May.", "Do you like it there?", "The weather is lovely.", "And the food?"]


@pytest.fixture
def by_vectors(collection: Collection, embed: Callable[..., Vectors], clock: Clock) -> Iterator[AdaptiveMemory]:
    """A memory that was opened with vectors alone."""
    vectors = Policy(channels=("dense",))
    with closing(AdaptiveMemory(collection, embedder=embed, clock=clock, policy=vectors)) as opened:
        yield opened


@pytest.fixture
def known(collection: Collection, embed: Callable[..., Vectors], clock: Clock) -> Iterator[AdaptiveMemory]:
    """A memory with an embedder under the name of the bundled one."""
    with closing(AdaptiveMemory(collection, embedder=as_embedder(embed, name=LOCAL), clock=clock)) as opened:
        yield opened


def worded(memory: AdaptiveMemory) -> int:
    ledger: Any = memory.ports().ledger
    with ledger.file.reading() as sql:
        return int(sql.execute("SELECT count(*) FROM words").fetchone()[0])


def test_an_embedder_that_was_measured_finds_by_words_as_well(known: AdaptiveMemory) -> None:
    alice = known.for_user("alice")
    alice.remember_many(["tea at noon", "the gateway said ERR_CONN_RESET"])
    answer = alice.recall("what was err_conn_reset?")
    assert "words" in answer[0].parts
    assert answer.policy.channels == BOTH
    assert answer.policy.fusion == MEASURED[LOCAL]


def test_an_embedder_of_which_nothing_is_known_finds_by_words_cautiously(memory: AdaptiveMemory) -> None:
    alice = memory.for_user("alice")
    alice.remember_many(["tea at noon", "the gateway said ERR_CONN_RESET"])
    assert worded(memory) == 2
    answer = alice.recall("what was err_conn_reset?")
    assert "words" in answer[0].parts
    assert answer.policy.channels == BOTH
    assert answer.policy.fusion == CAUTIOUS


def test_where_no_word_matches_the_order_is_that_of_similarity(memory: AdaptiveMemory) -> None:
    alice = memory.for_user("alice")
    alice.remember_many(["tea at noon", "the gateway said ERR_CONN_RESET", "a walk by the lake"])
    answer = alice.recall("photosynthesis", k=3)
    assert [one.id for one in sorted(answer, key=lambda one: -one.similarity)] == list(answer.ids)


def test_vectors_alone_are_had_for_the_asking(by_vectors: AdaptiveMemory) -> None:
    alice = by_vectors.for_user("alice")
    alice.remember_many(["tea at noon", "the gateway said ERR_CONN_RESET"])
    assert "words" not in alice.recall("what was err_conn_reset?")[0].parts
    assert worded(by_vectors) == 0


def test_channels_that_are_given_hold_for_an_embedder_nobody_measured(memory: AdaptiveMemory) -> None:
    memory.for_user("ana").remember("tea at noon")
    assert "words" in memory.for_user("ana").recall("tea", policy=Policy(channels=BOTH))[0].parts


def test_channels_that_are_given_hold_for_an_embedder_that_was_measured(known: AdaptiveMemory) -> None:
    known.for_user("ben").remember("tea at noon")
    assert "words" not in known.for_user("ben").recall("tea", policy=Policy(channels=("dense",)))[0].parts


def test_the_log_says_which_channels_were_used(known: AdaptiveMemory) -> None:
    alice = known.for_user("alice")
    alice.remember("tea at noon")
    answer = alice.recall("tea")
    assert alice.recalls()[0].policy_hash == answer.policy.hash == Policy().suited(LOCAL).hash


def test_words_are_indexed_as_they_are_written(known: AdaptiveMemory) -> None:
    known.for_user("alice").remember_many(["tea at noon", "coffee at nine"])
    assert worded(known) == 2


def test_a_policy_set_later_has_words_indexed_from_then_on(by_vectors: AdaptiveMemory) -> None:
    alice = by_vectors.for_user("alice")
    alice.remember("tea at noon")
    by_vectors.policy = Policy(channels=BOTH)
    alice.remember("coffee at nine")
    assert worded(by_vectors) == 1
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


def test_turns_of_a_conversation_are_judged_by_their_company(known: AdaptiveMemory) -> None:
    alice = known.for_user("alice")
    said = [{"speaker": "Ana", "session": "one", "seq": n} for n in range(len(TURNS))]
    alice.remember_many([{"text": text, "metadata": told} for text, told in zip(TURNS, said, strict=True)])
    answer = alice.recall("when did Ana move to Lisbon?", k=4)
    assert answer[0].text == TURNS[0]
    assert {"before", "company", "dated"} <= set(answer[0].parts)
    assert [one.signals["dated"] for one in answer if one.text == TURNS[0]] == [1.0]
    said_in = alice.recall("what did Ana do last May?", k=4)
    assert [one.signals["dated"] for one in said_in if one.text == TURNS[0]] == [0.5]
    assert "dated" not in alice.recall("who moved to Lisbon?", k=1)[0].parts


def test_of_notes_that_no_conversation_has_those_that_say_a_time_count_half_as_much(known: AdaptiveMemory) -> None:
    notes, diary = known.for_user("notes"), known.for_user("diary")
    dated, other = "The bridge was built in 1950.", "The bridge is long."
    notes.remember_many([dated, other])
    told = {"speaker": "Ana", "session": "one", "seq": 0}
    diary.remember_many([dated, other, {"text": "I saw the bridge in May.", "metadata": told}])
    for user in (notes, diary):
        asked = {one.text: one.signals["dated"] for one in user.recall("when was the bridge built?")}
        assert (asked[dated], asked[other]) == (0.5, 0.0)
        said = {one.text: one.signals["dated"] for one in user.recall("who built the bridge in 1950?")}
        assert (said[dated], said[other]) == (0.25, 0.0)
    assert "dated" not in notes.recall("who sees the bridge tonight?")[0].parts
    assert asked["I saw the bridge in May."] == 1.0


def test_among_people_a_question_is_no_answer_and_what_an_assistant_is_asked_is(known: AdaptiveMemory) -> None:
    asked, other = "So the marathon, Ben?", "So the marathon, Ben!"
    people, chat = known.for_user("people"), known.for_user("chat")
    for user, speakers in ((people, ("Ana", "Ben")), (chat, ("user", "assistant"))):
        told = [{"speaker": one, "session": "one", "seq": n} for n, one in enumerate(speakers)]
        user.remember_many([{"text": text, "metadata": one} for text, one in zip((asked, other), told, strict=True)])
    answer = people.recall("who ran the marathon?", k=2)
    assert [one.text for one in answer] == [other, asked]
    assert [one.signals["stated"] for one in answer] == [1.0, 0.0]
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
    assert [one.signals["named"] for one in answer if one.text == plain] == [0.0]
    assert [one.signals["named"] for one in answer if one.text == name] == [1.0]
    assert [one.parts["named"] > 0.0 for one in answer] == [one.text == name for one in answer]
    assert "named" in answer.explain()
    assert "named" not in people.recall("how was the walk with her?", k=2)[0].parts
    assert "named" not in chat.recall("who was on the lovely walk with her?", k=2)[0].parts


def test_company_tells_nothing_of_another_user(known: AdaptiveMemory) -> None:
    alice, bob = known.for_user("alice"), known.for_user("bob")
    told = {"session": "one", "seq": 1}
    alice.remember("something else entirely", metadata=told)
    alone = alice.recall("tea at noon", reinforce=False)[0].signals["company"]
    bob.remember("tea at noon", metadata={"session": "one", "seq": 0})
    assert alice.recall("tea at noon", reinforce=False)[0].signals["company"] == alone


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
    assert {one.text: one.signals["dated"] for one in alice.recall(asked)} == {dated: 1.0, other: 0.0}


def test_a_short_label_is_found_among_long_replies_that_have_the_cues_words_by_accident(collection: Collection) -> None:
    """The words are rare among all records, and so are matches of several of them; but the replies are long."""
    chance = random.Random(0)
    with closing(AdaptiveMemory(collection, embedder=LocalEmbedder())) as memory:
        alice = memory.for_user("alice")
        alice.remember_many(["card arrival", "lost card", "spare card", "exchange rate", "pending transfer"])
        alice.remember_many(["close account", "change pin", "top up failed", "cash limit", "direct debit"])
        alice.remember_many([_reply(chance, accident=number % 30 == 0) for number in range(300)])
        answer = alice.recall("waiting for the delivery of my new card", reinforce=False)
        assert answer[0].text == "card arrival"
        named = alice.recall("what about the delivery, did my new sister wait?", reinforce=False)
        assert "sister" in named[0].text  # words that say enough are believed in long texts as well


def test_a_label_is_judged_by_the_words_of_labels_and_not_by_those_of_conversations(collection: Collection) -> None:
    """Neighbouring turns have several words of the cue by accident; that says nothing of what stands alone."""
    chance = random.Random(0)
    with closing(AdaptiveMemory(collection, embedder=LocalEmbedder())) as memory:
        alice = memory.for_user("alice")
        alice.remember_many(["card arrival", "exchange rate", "pending transfer", "close account", "change pin"])
        alice.remember_many(turn for number in range(30) for turn in _session(chance, number))
        answer = alice.recall("still waiting for the late delivery of my new card", reinforce=False)
        assert answer[0].text == "card arrival"
        assert answer[0].signals["chance"] > 0.5
        assert min(one.signals["chance"] for one in answer) < 0.01
        assert "for records of the other kind, alone or in a conversation, vectors count" in answer.explain()
        asked = alice.recall("was the delivery late, is the new sister still waiting?", reinforce=False)
        assert "sister" in asked[0].text


def _session(chance: random.Random, number: int) -> list[dict[str, Any]]:
    said = [_made_up(chance, 10) for _ in range(10)]
    if number % 10 == 0:
        said[4:6] = [f"{said[4]} the delivery is late", f"{said[5]} my new sister is still waiting"]
    told = [{"speaker": "Ana" if seq % 2 else "Ben", "session": str(number), "seq": seq} for seq in range(10)]
    return [{"text": text, "metadata": one} for text, one in zip(said, told, strict=True)]


def _made_up(chance: random.Random, words: int) -> str:
    """Words that mean nothing."""
    syllables = (chance.choice("bdfgklmnprstv") + chance.choice("aeiou") for _ in range(3 * words))
    return " ".join(map("".join, zip(*[syllables] * 3, strict=True)))


def _reply(chance: random.Random, *, accident: bool) -> str:
    """Thirty words that mean nothing, and where it shall be so, words that a cue may have."""
    said = _made_up(chance, 30).split()
    if accident:
        said[5:5] = ["the delivery is late"]
        said[15:15] = ["and my new sister is waiting"]
    return " ".join(said)
