"""Is what is observed there at once, once, and grouped in time, without passing for anything else?"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from chromadb import Collection

from adaptive_memory_core import AdaptiveMemory, InvalidInputError, UserMemory
from tests.conftest import START, Clock, Open, word_vectors

PETS = ["I adopted a beagle puppy in May.", "My beagle puppy chews shoes.", "The puppy loves long walks."]
WORK = [
    "The billing server failed on Monday.",
    "I restarted the billing server twice.",
    "Billing runs on a new server.",
]


def said(texts: list[str], session: str, at: float, **more: Any) -> list[dict[str, Any]]:
    return [
        {"speaker": "Ana", "text": text, "at": at + 60.0 * place, "session": session, **more}
        for place, text in enumerate(texts)
    ]


CONVERSATIONS = [*said(PETS, "pets", START - 90_000.0), *said(WORK, "work", START - 50_000.0)]


def hierarchy(user: UserMemory) -> Any:
    return user.memory.ports().hierarchy


def test_a_message_is_recalled_at_once_with_who_said_it_when(alice: UserMemory) -> None:
    ids = alice.observe(CONVERSATIONS)
    found = alice.recall("beagle puppy chews", k=1)
    assert found.ids == (ids[1],)
    record = alice.get(ids[1])
    assert (record.kind, record.created_at) == ("message", START - 89_940.0)
    assert dict(record.metadata) == {"speaker": "Ana", "session": "pets"}


def test_content_may_be_the_parts_that_chat_models_have(alice: UserMemory) -> None:
    picture = {"type": "image_url", "image_url": {"url": "https://example.org/dog.png"}}
    (one,) = alice.observe([{"role": "user", "content": [picture, {"type": "text", "text": "This is my dog Rex."}]}])
    assert alice.get(one).text == "This is my dog Rex."
    with pytest.raises(InvalidInputError, match="Give a string that is not blank"):
        alice.observe([{"role": "user", "content": [picture]}])


def test_a_message_of_the_same_id_with_other_words_is_written_over(alice: UserMemory) -> None:
    assert alice.observe([{"id": "m", "text": "I have a cat."}]) == alice.observe(
        [{"id": "m", "text": "I have a dog."}]
    )
    assert alice.get("m").text == "I have a dog."
    assert alice.stats().records == 1


def test_the_same_messages_again_change_nothing(alice: UserMemory) -> None:
    ids = alice.observe(CONVERSATIONS[:4])
    grown = alice.themes()
    assert alice.observe(CONVERSATIONS) == [*ids, *alice.observe(CONVERSATIONS[4:])]
    assert alice.stats().records == len(CONVERSATIONS)
    assert alice.themes().statistics.messages == len(CONVERSATIONS)
    assert len(grown) > 0


def test_one_at_a_time_they_become_the_same_episodes_as_at_once(
    new_collection: Callable[..., Collection], clock: Clock
) -> None:
    found = []
    for size in (1, len(CONVERSATIONS)):
        with AdaptiveMemory(new_collection(), embedder=word_vectors, clock=clock) as memory:
            user = memory.for_user("alice")
            for start in range(0, len(CONVERSATIONS), size):
                user.observe(CONVERSATIONS[start : start + size])
                user.themes()
            view = hierarchy(user).view(user.scope)
            found.append(sorted((one.title, one.messages) for one in view.episodes.values()))
    assert found[0] == found[1]
    assert len(found[0]) == 2


def test_themes_group_what_belongs_together_and_name_the_messages(alice: UserMemory) -> None:
    ids = alice.observe(CONVERSATIONS)
    themes = alice.themes()
    by_message = {one: theme.name for theme in themes for one in theme.ids}
    assert set(by_message) <= set(ids)
    assert by_message[ids[0]] == by_message[ids[1]] != by_message[ids[4]]
    assert any("puppy" in theme.name for theme in themes)
    assert "Ana adopted a beagle puppy" in str(themes)
    assert all(theme.begins <= theme.ends for theme in themes)
    assert themes.statistics.waiting == themes.statistics.unfinished == 0


def test_what_grows_passes_for_no_record(alice: UserMemory, collection: Collection) -> None:
    ids = alice.observe(CONVERSATIONS)
    before = alice.stats()
    alice.themes()
    assert alice.stats().records == before.records == len(ids)
    assert set(collection.get(include=[])["ids"]) == set(ids)
    assert set(alice.recall("billing server puppy", k=50).ids) <= set(ids)
    assert alice.memory.ports().ledger.hierarchy.faults() == []


def test_what_is_observed_may_be_of_any_kind_and_has_what_remember_gives_a_record(
    memory: AdaptiveMemory, alice: UserMemory
) -> None:
    (old,) = alice.observe([{"text": "Ana lives in Oslo.", "kind": "fact", "importance": 0.9}])
    (new,) = alice.observe(
        [{"text": "Ana lives in Turin.", "kind": "fact", "supersedes": old, "valid_until": START + 9.0}]
    )
    record = alice.get(new)
    assert (record.kind, record.supersedes, record.valid_until) == ("fact", old, START + 9.0)
    assert alice.get(old).importance == 0.9
    assert set(alice.hierarchy().episode_of) == {old, new}
    assert {one for theme in alice.themes() for one in theme.ids} == {new}
    alice.update(new, text="Ana lives in Turin, by the river.")
    assert "by the river" in str(alice.themes())
    memory.sync()
    assert set(alice.hierarchy().episode_of) == {old, new}
    alice.forget(new)
    assert set(alice.hierarchy().episode_of) == {old}


def test_the_same_id_and_words_without_a_time_are_the_same_message(alice: UserMemory, clock: Clock) -> None:
    message = {"id": "m", "text": "I adopted a puppy.", "session": "s", "speaker": "Ana"}
    alice.observe([message])
    before = alice.get("m").created_at
    clock.pass_seconds(60)
    alice.observe([message])
    assert alice.get("m").created_at == before


def test_the_hierarchy_can_be_walked_from_themes_to_messages_and_to_neighbours(alice: UserMemory) -> None:
    ids = alice.observe(CONVERSATIONS)
    found = alice.hierarchy()
    assert sorted(one.messages for one in found.episodes.values()) == sorted([tuple(ids[:3]), tuple(ids[3:])])
    for theme in found.themes.values():
        assert theme.name
        assert all(found.semantics[one].theme == theme.key for one in theme.semantics)
        assert all(other in found.themes and -1.0 <= alike <= 1.001 for other, alike in theme.neighbours)
    for semantic in found.semantics.values():
        episode = found.episodes[semantic.episode]
        assert semantic.key in episode.semantics
        assert set(semantic.messages) <= set(episode.messages)
        assert semantic.text
        assert all(other in found.semantics for other, _ in semantic.neighbours)
    assert any(one.neighbours for one in found.semantics.values())
    assert any(one.neighbours for one in found.themes.values())
    narrative = found.episodes[found.episode_of[ids[0]]].narrative
    assert narrative.startswith("2025-10-08: Ana adopted a beagle puppy in May. Ana's beagle puppy chews shoes.")
    assert found.vectors.shape[0] == len(found.semantics)
    with pytest.raises(ValueError, match="read-only"):
        found.vectors[0] = 0.0
    assert asyncio.run(alice.ahierarchy(settle=False)).episodes == found.episodes


def test_ids_in_the_hierarchy_are_those_that_the_user_gave(memory: AdaptiveMemory) -> None:
    for name in ("ana", "ben"):
        memory.for_user(name).observe([{"id": "same", "text": "I adopted a beagle puppy.", "at": START - 9e4}])
        found = memory.for_user(name).hierarchy()
        assert set(found.episode_of) == set(found.semantics_of) == {"same"}


def test_whoever_never_observes_has_no_hierarchy(alice: UserMemory) -> None:
    alice.remember_many([{"text": text, "kind": "message"} for text in PETS])
    assert len(alice.themes()) == 0
    assert not alice.hierarchy().episodes
    assert hierarchy(alice).view(alice.scope) is None
    assert alice.memory.ports().ledger.hierarchy.stored_ids() == set()


def test_a_user_sees_no_theme_of_another(memory: AdaptiveMemory) -> None:
    ana, ben = memory.for_user("ana"), memory.for_user("ben")
    ana.observe(said(PETS, "s", START - 90_000.0))
    ben.observe(said(WORK, "s", START - 90_000.0))
    assert "puppy" not in str(ben.themes())
    assert "billing" not in str(ana.themes())


def test_what_is_forgotten_is_in_no_theme_and_what_was_shared_is_made_again(alice: UserMemory) -> None:
    ids = alice.observe(CONVERSATIONS)
    assert "adopted" in str(alice.themes())
    alice.forget(ids[0])
    grown = alice.themes()
    assert "adopted" not in str(grown) + grown.html()
    view = hierarchy(alice).view(alice.scope)
    assert ids[1] in view.episode_of
    assert ids[0] not in view.episode_of
    assert all(one.title for one in view.episodes.values())
    assert alice.memory.ports().ledger.hierarchy.faults() == []


def test_a_message_that_says_something_else_by_now_is_taken_anew(alice: UserMemory) -> None:
    first, *_ = alice.observe([{"id": "m", "text": "I own a yellow bicycle.", "at": START - 9e4, "speaker": "Ana"}])
    assert "bicycle" in str(alice.themes())
    alice.observe([{"id": "m", "text": "I own a green tractor.", "at": START - 9e4, "speaker": "Ana"}])
    assert first == "m"
    assert "bicycle" not in str(alice.themes())
    assert "tractor" in str(alice.themes())


def test_a_newer_version_replaces_the_older_one_in_its_theme(alice: UserMemory) -> None:
    alice.observe(said(["I live in Oslo."], "a", START - 9e5))
    alice.observe(said(["I live in Turin."], "b", START - 9e4))
    themes = alice.themes()
    assert [(one.text, one.replaced) for theme in themes for one in theme.known] == [
        ("Ana lives in Turin.", ("Ana lives in Oslo.",))
    ]
    assert "Oslo" in themes.html()


def test_themes_tell_nothing_that_was_superseded_by_hand(alice: UserMemory) -> None:
    (old,) = alice.observe(said(["I live in Oslo."], "a", START - 9e5))
    (kept,) = alice.observe(said(["I keep two parrots."], "b", START - 9e4))
    assert "Oslo" in str(alice.themes())
    alice.remember("Ana moved away.", supersedes=old)
    themes = alice.themes()
    assert [one.text for theme in themes for one in theme.known] == ["Ana keeps two parrots."]
    assert [one.ids for one in themes] == [(kept,)]
    assert alice.get(old).superseded_by is not None  # it is kept, and only not told as something that holds


def test_messages_without_a_time_are_of_now_and_each_is_another(alice: UserMemory, clock: Clock) -> None:
    (first,) = alice.observe([{"role": "user", "content": "ok"}])
    clock.pass_seconds(5)
    (second,) = alice.observe([{"role": "user", "content": "ok"}])
    assert first != second
    assert alice.get(second).created_at == clock()
    assert alice.get(second).metadata["speaker"] == "user"


def test_messages_of_one_time_keep_their_order(alice: UserMemory) -> None:
    texts = [f"note {number} on tea" for number in range(5)]
    ids = alice.observe([{"text": text, "at": START - 9e4, "session": "s", "speaker": "Ana"} for text in texts])
    alice.themes()
    (episode,) = hierarchy(alice).view(alice.scope).episodes.values()
    assert list(episode.messages) == ids


def test_a_message_that_came_late_goes_where_it_belongs(alice: UserMemory) -> None:
    messages = said(PETS, "pets", START - 90_000.0)
    ids = alice.observe([messages[0], messages[2]])
    alice.themes()
    later = alice.observe(said(WORK, "pets", START - 50_000.0))
    alice.themes()
    (late,) = alice.observe([messages[1]])
    alice.themes()
    view = hierarchy(alice).view(alice.scope)
    assert [view.episode_of[one] for one in (ids[0], late, ids[1])] == [view.episode_of[ids[0]]] * 3
    assert view.episode_of[later[0]] != view.episode_of[late]
    assert view.episodes[view.episode_of[late]].messages == (ids[0], late, ids[1])


def test_the_background_closes_what_has_ended_and_leaves_what_goes_on(
    open_memory: Open, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice = open_memory().for_user("alice")
    alice.observe([*said(PETS, "old", START - 90_000.0), {"text": "still talking", "at": START, "session": "new"}])
    index: Any = hierarchy(alice)
    index.work(lambda: True)
    view = index.view(alice.scope)
    assert view.statistics.waiting == 1
    assert len(view.episodes) == 1
    clock.pass_seconds(3_600)
    index.work(lambda: True)
    assert index.view(alice.scope).statistics.waiting == 0


def test_progress_is_told_of_what_is_stored_and_of_what_grows(alice: UserMemory) -> None:
    stored: list[tuple[int, int]] = []
    grown: list[tuple[int, int]] = []
    alice.observe(CONVERSATIONS, progress=lambda *told: stored.append(told))
    alice.themes(progress=lambda *told: grown.append(told))
    assert stored == [(len(CONVERSATIONS), len(CONVERSATIONS))]
    assert all(done <= total for done, total in grown)


def test_the_async_twins_do_the_same(memory: AdaptiveMemory) -> None:
    async def act() -> tuple[list[str], int]:
        user = memory.for_user("ana")
        ids = await user.aobserve(CONVERSATIONS)
        return ids, len(await user.athemes())

    ids, themes = asyncio.run(act())
    assert len(ids) == len(CONVERSATIONS)
    assert themes > 0


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("hello", "Give a list of messages"),
        ([{"speaker": "Ana"}], "Give a mapping with 'text'"),
        ([{"text": "a", "when": 3}], "when"),
        ([{"text": " "}], "not blank"),
        ([{"text": "a", "at": "monday"}], "POSIX seconds"),
        ([{"text": "a", "seq": "x"}], "seq is 'x'"),
        ([{"text": "a", "metadata": "x"}], "metadata is 'x'"),
        ([{"text": "a", "metadata": []}], "Give a mapping from string keys"),
        ([{"text": "a", "id": ""}], "The id is ''"),
        ([{"text": "a", "id": "m"}, {"text": "b", "id": "m"}], "say different things"),
    ],
)
def test_what_cannot_be_observed_is_refused_before_anything_is_stored(alice: UserMemory, given: Any, says: str) -> None:
    with pytest.raises(InvalidInputError, match=says):
        alice.observe(given)
    assert alice.stats().records == 0


def test_the_picture_is_one_page_that_loads_nothing(alice: UserMemory) -> None:
    alice.observe([*CONVERSATIONS, *said(["I own <script>alert(1)</script> a boat & a bike."], "x", START - 9e4)])
    page = alice.themes().html()
    assert page.startswith("<!doctype html>")
    assert page.count("<script") == 1  # the page's own, which alone may run
    assert "<script>alert" not in page
    assert "default-src 'none'" in page
    assert "src=" not in page.replace("-src ", "")
    assert "puppy" in page
