"""Does an answer have the shape that the policy says, and is it no other answer where nothing asks for a shape?"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from chromadb import Collection

from adaptive_memory_core import AdaptiveMemory, InvalidInputError, Policy, Recall, UserMemory
from adaptive_memory_core.context.blocks import NO_OUTLINE
from adaptive_memory_core.context.clean import label
from adaptive_memory_core.flow import episodes as sets
from adaptive_memory_core.flow import neighbours
from adaptive_memory_core.store.hierarchy.hierarchy_index import HierarchyIndex
from tests.behaviour.test_observe import CONVERSATIONS, PETS, WORK, said
from tests.conftest import START, Clock, Vectors, word_vectors

LATER = said(["Did the puppy get a new bed?", "My beagle puppy sleeps on the sofa."], "sofa", START - 9_000.0)
ALL = [*CONVERSATIONS, *LATER]
EPISODES, TOP_DOWN = Policy(shape="episodes"), Policy(shape="top_down")
QUESTION = "beagle puppy shoes"


def ask(user: UserMemory, policy: Policy | None = None, k: int = 3, cue: str = QUESTION) -> Recall:
    return user.recall(cue, k=k, reinforce=False, policy=policy)


@pytest.fixture
def ids(alice: UserMemory) -> list[str]:
    found = alice.observe(ALL)
    alice.themes()
    return found


def with_reader(
    collection: Collection, embed: Callable[..., Vectors], clock: Clock, reader: Any
) -> tuple[AdaptiveMemory, UserMemory]:
    memory = AdaptiveMemory(collection, embedder=embed, clock=clock, ledger=":memory:", reader=reader)
    user = memory.for_user("alice")
    user.observe(ALL)
    user.themes()
    return memory, user


def test_flat_recalls_are_what_they_were_whoever_observes(alice: UserMemory, ids: list[str]) -> None:
    plain = ask(alice)
    assert plain.outline == NO_OUTLINE
    assert replace(plain, id="") == replace(ask(alice, Policy(shape="flat")), id="")
    assert "about" not in plain.render()


def test_episodes_show_hits_with_what_belongs_to_them_under_what_it_is_about(alice: UserMemory, ids: list[str]) -> None:
    found = ask(alice, EPISODES)
    assert found.ids == ask(alice).ids
    assert found[0].id == ids[1]
    assert {one.record.id for one in found.beside if one.of == ids[1]} == {ids[0], ids[2]}
    place = found.outline.places[ids[1]]
    assert place.heading == f"{place.theme} > {place.title}"
    assert place.heading in ask(alice, TOP_DOWN).outline.places[ids[1]].heading
    assert place.theme in found.outline.themes
    page = found.render()
    assert page.index(PETS[0]) < page.index(PETS[1]) < page.index(PETS[2])
    assert "about puppy" in page or "about beagle" in page


def test_without_anything_observed_sessions_stand_for_episodes(alice: UserMemory) -> None:
    for number, text in enumerate(PETS):
        alice.remember(text, id=f"m{number}", metadata={"session": "s", "seq": number})
    found = ask(alice, EPISODES)
    assert found.outline == NO_OUTLINE
    assert found.trace == ()
    assert {one.record.id for one in found.beside} == {"m0", "m2"}
    assert ask(alice, TOP_DOWN).ids == ask(alice).ids
    assert any("nothing was observed" in note for note in ask(alice, TOP_DOWN).trace)


def test_top_down_gives_one_hit_an_episode_with_all_its_messages(alice: UserMemory, ids: list[str]) -> None:
    found = ask(alice, TOP_DOWN, k=5)
    view = alice.memory.ports().hierarchy.view(alice.scope)
    assert view is not None
    episodes = [view.episode_of[one] for one in found.ids]
    assert len(set(episodes)) == len(episodes) >= 2
    assert found[0].id in ids[:3]
    assert {found[0].id, *(one.record.id for one in found.beside if one.of == found[0].id)} == set(ids[:3])
    assert all("hierarchy" in hit.parts for hit in found)
    assert abs(sum(found[0].parts.values()) - found[0].score) < 1e-6
    assert any(one.reason.startswith("in the episode of") for one in found.dropped)


def test_what_is_in_no_episode_stands_for_itself_beside_them(
    memory: AdaptiveMemory, alice: UserMemory, ids: list[str]
) -> None:
    alice.remember("Ana is allergic to peanuts.", id="allergy")
    memory.for_everyone().remember("Peanuts are served on Fridays.", id="menu")
    late = alice.observe([{"speaker": "Ana", "text": "My flight to Lima leaves soon.", "session": "new"}])
    view = alice.memory.ports().hierarchy.view(alice.scope)
    assert view is not None
    assert late[0] not in view.episode_of
    assert alice.recall("what is Ana allergic to?", k=2, reinforce=False, policy=TOP_DOWN)[0].id == "allergy"
    assert alice.recall("when does the flight to Lima leave?", k=2, reinforce=False, policy=TOP_DOWN)[0].id == late[0]
    both = memory.for_user("alice", over="everyone")
    assert "menu" in both.recall("peanuts on Fridays", k=2, reinforce=False, policy=TOP_DOWN).ids
    found = ask(alice, TOP_DOWN, k=1)
    assert found.ids[0] in ids


def test_until_every_episode_is_worked_in_a_recall_is_flat(
    alice: UserMemory, ids: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is not distilled could not be reached, and would be left out."""
    index: Any = alice.memory.ports().hierarchy
    monkeypatch.setattr(HierarchyIndex, "wait", lambda _: None)
    index._rows.touch(ids[:3])  # as when they are written over
    found = ask(alice, TOP_DOWN)
    assert any("the hierarchy is not made of all episodes" in note for note in found.trace)
    assert [(one.id, one.parts) for one in found] == [(one.id, one.parts) for one in ask(alice)]
    assert ids[1] in found.ids
    alice.themes()
    found = ask(alice, TOP_DOWN)
    assert not found.trace
    assert "hierarchy" in found[0].parts


def test_what_was_chosen_is_told_as_facts_with_their_messages_also_of_episodes_that_are_shown(
    alice: UserMemory, ids: list[str]
) -> None:
    found = ask(alice, TOP_DOWN, k=1)
    facts = found.outline.facts
    shown = {*found.ids, *(one.record.id for one in found.beside)}
    assert any(set(fact.of) <= shown for fact in facts)
    assert any(set(fact.of) <= set(ids) - shown for fact in facts)
    page = found.render(ids=True)
    assert "distilled" in page
    assert all(fact.text in page and fact.of[0] in page for fact in facts)


def test_facts_are_told_of_messages_that_pass_what_the_caller_asks_for(alice: UserMemory, ids: list[str]) -> None:
    facts = ask(alice, TOP_DOWN, k=1).outline.facts
    refused = facts[0].of[0]

    def told(**asked: Any) -> list[str]:
        found = alice.recall(QUESTION, k=1, reinforce=False, policy=TOP_DOWN, **asked)
        return [one.text for one in found.outline.facts]

    assert told(in_context=["something else"]) == [one.text for one in facts]
    assert told(accept=lambda record: record.id != refused) == [one.text for one in facts if refused not in one.of]


def test_reranked_records_are_told_with_what_they_are_part_of(alice: UserMemory, ids: list[str]) -> None:
    found = alice.rerank(QUESTION, dict.fromkeys(ids[:2]), reinforce=False, policy=EPISODES)
    assert {*found.ids} == set(ids[:2])
    assert all(found.outline.places[one].theme for one in found.ids)
    assert alice.rerank(QUESTION, dict.fromkeys(ids[:2]), reinforce=False).outline == NO_OUTLINE


def test_gates_filters_and_forgetting_hold_on_the_way_down(alice: UserMemory, ids: list[str]) -> None:
    assert ask(alice, TOP_DOWN.replace(min_similarity=1.0), k=5).ids == ()
    work = alice.recall("billing server", k=5, filter={"session": "work"}, reinforce=False, policy=TOP_DOWN)
    around = {one.record.id for one in work.beside}
    assert work.ids
    assert {*work.ids, *around} <= set(ids[3:6])
    assert work.outline.facts
    assert all(set(fact.of) <= set(ids[3:6]) for fact in work.outline.facts)
    alice.forget(ids[1])
    found = ask(alice, TOP_DOWN, k=5)
    assert ids[1] not in {*found.ids, *(one.record.id for one in found.beside), *found.outline.places}
    assert PETS[1] not in found.render()


def test_no_narrative_is_told_of_an_episode_of_which_a_message_may_not_be_shown(
    alice: UserMemory, ids: list[str]
) -> None:
    found = ask(alice, TOP_DOWN, k=1)
    assert found.outline.places[ids[1]].messages == tuple(ids[:3])
    assert "adopted" in found.outline.places[ids[1]].narrative
    place = alice.recall(
        QUESTION, k=1, reinforce=False, policy=TOP_DOWN, accept=lambda record: record.id in (ids[1], ids[2])
    ).outline.places[ids[1]]
    assert (place.narrative, place.messages) == ("", (ids[1], ids[2]))


def test_no_fact_is_told_of_a_message_that_was_superseded(alice: UserMemory, ids: list[str]) -> None:
    facts = ask(alice, TOP_DOWN, k=1).outline.facts
    (old,) = facts[0].of
    alice.remember("Nothing of that is so any more.", supersedes=old)
    left = ask(alice, TOP_DOWN, k=1).outline.facts
    assert left
    assert facts[0].text not in {one.text for one in left}
    assert all(old not in one.of for one in left)


def test_as_of_an_earlier_day_nothing_is_told_that_was_said_later(alice: UserMemory, ids: list[str]) -> None:
    for policy in (EPISODES, TOP_DOWN):
        then = alice.recall(QUESTION, k=5, now=START - 60_000.0, reinforce=False, policy=policy)
        assert set(then.ids) <= set(ids[:3])
        assert not then.outline.facts
        assert not then.outline.places


def test_other_users_see_nothing_of_it(memory: AdaptiveMemory, ids: list[str]) -> None:
    bob = memory.for_user("bob")
    bob.remember("My puppy likes shoes.", id="own")
    for policy in (EPISODES, TOP_DOWN):
        found = ask(bob, policy)
        assert found.ids == ("own",)
        assert found.outline == NO_OUTLINE


def test_only_what_is_a_hit_counts_as_read(memory: AdaptiveMemory, alice: UserMemory, ids: list[str]) -> None:
    found = alice.recall(QUESTION, k=1, policy=TOP_DOWN)
    memory.flush()
    read = {one for one in ids if alice.get(one).read.retrieval_count}
    assert read == set(found.ids)


def test_a_reader_admits_the_episodes_that_help_and_stops_asking(collection: Collection, clock: Clock) -> None:
    contexts: list[list[str]] = []

    def reader(question: str, texts: Sequence[str]) -> float:
        assert question == QUESTION
        contexts.append(list(texts))
        told = "\n".join(texts)
        return 2.0 - (1.0 if PETS[1] in told else 0.0) - (0.5 if PETS[0] in told and PETS[1] in told else 0.0)

    memory, user = with_reader(collection, word_vectors, clock, reader)
    with memory:
        found = ask(user, TOP_DOWN, k=5)
        assert next(one.text for one in found) in PETS
        assert len(found) == 1
        assert {one.record.text for one in found.beside} | {found[0].text} == set(PETS)
        assert any("less uncertain" in one.reason for one in found.dropped)
        assert any("the reader was asked" in note for note in found.trace)
        assert contexts[0] == [text for text in contexts[0] if text not in PETS + WORK]
        asked = len(contexts)
        without: Any = {"expand": False}
        whole = ask(user, Policy(shape=without), k=5)
        assert len(whole) > 1
        assert len(contexts) == asked


@pytest.mark.parametrize("k", [1, 3])
def test_what_was_chosen_stays_in_the_page_whatever_the_reader_says(
    collection: Collection, clock: Clock, k: int
) -> None:
    memory, user = with_reader(collection, word_vectors, clock, lambda question, texts: 1.0)
    with memory:
        found = ask(user, TOP_DOWN, k=k)
        assert len(found) == 0
        chosen = ask(user, TOP_DOWN.replace(shape={"expand": False}), k=k).outline
        assert found.outline.facts == chosen.facts
        assert found.outline.themes == chosen.themes
        assert "Ana's beagle puppy chews shoes." in found.render()
        page = found.render(400)
        assert all(fact.text in page for fact in chosen.facts)
        assert all(label(theme.replace(", ", "/")) in page for theme in chosen.themes)


def test_what_is_in_no_episode_stays_whatever_the_reader_says(collection: Collection, clock: Clock) -> None:
    contexts: list[list[str]] = []

    def reader(question: str, texts: Sequence[str]) -> float:
        contexts.append(list(texts))
        return 1.0

    memory, user = with_reader(collection, word_vectors, clock, reader)
    with memory:
        user.remember("Ana is allergic to a beagle.", id="allergy")
        found = ask(user, TOP_DOWN, k=3)
        assert found.ids == ("allergy",)
        assert any("allergic" in text for text in contexts[0])
        assert any("0 of 2 episodes" in note for note in found.trace)


def test_an_episode_whose_messages_add_nothing_is_told_by_its_narrative(collection: Collection, clock: Clock) -> None:
    said = ["Ana adopted a beagle puppy in May.", "Ana's beagle puppy chews shoes.", "Ana: The puppy loves long walks."]
    told = f"2025-10-08: {' '.join(said)}"
    contexts: list[list[str]] = []

    def reader(question: str, texts: Sequence[str]) -> float:
        contexts.append(list(texts))
        return 1.0 if told in texts else 2.0

    memory, user = with_reader(collection, word_vectors, clock, reader)
    with memory:
        found = ask(user, TOP_DOWN, k=5)
        (hit,) = found
        assert hit.text in PETS
        assert found.beside == ()
        assert found.outline.places[hit.id].narrative == told
        page = found.render()
        assert page.index(told) < page.index(hit.text)
        assert found.outline.themes[0] in contexts[0]


def test_a_reader_that_fails_costs_nothing_but_a_note(collection: Collection, clock: Clock) -> None:
    def broken(question: str, texts: Sequence[str]) -> float:
        raise OSError("no model here")

    memory, user = with_reader(collection, word_vectors, clock, broken)
    with memory:
        found = ask(user, TOP_DOWN, k=5)
        assert len(found) > 1
        assert found.trace == ("the reader was left out: no model here",)
    memory, user = with_reader(collection, word_vectors, clock, lambda question, texts: "very")
    with memory:
        (note,) = ask(user, TOP_DOWN, k=5).trace
        assert "nats a token" in note


def test_a_reader_may_be_async(collection: Collection, clock: Clock) -> None:
    async def reader(question: str, texts: Sequence[str]) -> float:
        await asyncio.sleep(0)
        return 1.0

    memory, user = with_reader(collection, word_vectors, clock, reader)
    with memory:
        found = asyncio.run(user.arecall(QUESTION, k=5, reinforce=False, policy=TOP_DOWN))
        assert len(found) == 0
        assert any("0 of" in note for note in found.trace)


@pytest.mark.parametrize("wrong", [3, str, "gpt"])
def test_a_reader_is_a_function(collection: Collection, wrong: Any) -> None:
    with pytest.raises(InvalidInputError, match="reader is"):
        AdaptiveMemory(collection, embedder=word_vectors, ledger=":memory:", reader=wrong)


def test_a_set_is_shown_beyond_k_where_the_budget_has_room_and_one_fact_is_not(
    memory: AdaptiveMemory, alice: UserMemory
) -> None:
    texts = [f"We read the book called {name}." for name in ("Emma", "Dune", "Ulysses", "Persuasion", "Middlemarch")]
    ids = alice.observe(said(texts, "books", START - 9_000.0))
    alice.themes()
    found = ask(alice, EPISODES, k=2, cue="Which books did we read?")
    assert len(found) == 2
    assert {*found.ids, *(one.id for one in found.outline.more)} == set(ids)
    assert all(text in found.render(1_000) for text in texts)
    assert sum(text in ask(alice, k=2, cue="Which books did we read?").render(1_000) for text in texts) == 2
    assert all(one.id in {out.id for out in found.dropped} for one in found.outline.more)
    assert ask(alice, EPISODES, k=2, cue="Where is the book called Emma?").outline.more == ()
    assert (
        len(ask(alice, EPISODES.replace(advanced={"hierarchy": {"set_size": 3}}), k=2, cue="Which books?").outline.more)
        == 1
    )
    alice.recall("Which books did we read?", k=2, policy=EPISODES)
    memory.flush()
    assert sum(alice.get(one).read.retrieval_count for one in ids) == 2


def test_a_set_is_chosen_by_what_it_covers_besides_what_is_shown(
    alice: UserMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [f"We read books called {name}, books." for name in ("Emma", "Dune", "Ulysses", "Persuasion")]
    near = alice.observe(said(texts, "books", START - 9_000.0))
    alice.observe(said(["The weather is fine."], "weather", START - 7_000.0))
    holiday = ["On holiday we had a book with us, Middlemarch.", "The sea was warm."]
    far = alice.observe(said(holiday, "holiday", START - 5_000.0))
    cue = "Which books did we read?"
    three = EPISODES.replace(advanced={"hierarchy": {"set_size": 3}})
    monkeypatch.setattr(sets, "COVER", 0.0)
    by_score = ask(alice, three, k=1, cue=cue)
    assert {*by_score.ids, *(one.id for one in by_score.outline.more)} <= set(near)
    monkeypatch.setattr(sets, "COVER", 10.0)
    covering = ask(alice, three, k=1, cue=cue)
    assert covering.ids == by_score.ids
    assert far[0] in {one.id for one in covering.outline.more}


def test_a_long_reply_is_not_shown_beside_a_hit_of_an_episode(
    alice: UserMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = ["Which knots hold best?", "The bowline. " + "It is tied like this. " * 30, "Thanks, and the clove hitch?"]
    for number, text in enumerate(texts):
        alice.remember(text, id=f"m{number}", metadata={"session": "s", "seq": number})
    cue = "clove hitch knots thanks"
    assert ask(alice, EPISODES, k=1, cue=cue).ids == ("m2",)
    assert ask(alice, EPISODES, k=1, cue=cue).beside == ()
    intact = Policy().replace(advanced={"neighbours": True})
    assert [one.record.id for one in ask(alice, intact, k=1, cue=cue).beside] == ["m1"]
    monkeypatch.setattr(neighbours, "LONGEST_NEXT", 10_000)
    assert [one.record.id for one in ask(alice, EPISODES, k=1, cue=cue).beside] == ["m1"]
