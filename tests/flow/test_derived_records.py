"""Does what was derived from others end with them, and only then, however it is looked at?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from chromadb import Collection

from adaptive_memory_core import AdaptiveMemory, InvalidInputError, NotFoundError, UserMemory
from tests.conftest import DAY, Clock, Open, word_vectors

SUPERSEDED = "derived from a record that was superseded"
FORGOTTEN = "derived from a record that was forgotten"
CHANGED = "derived from a record that says something else by now"


@pytest.fixture
def ana(memory: AdaptiveMemory) -> UserMemory:
    """A user with two notes, a summary of both, and what was concluded from the summary."""
    user = memory.for_user("ana")
    user.remember("the office is in Rome", id="rome")
    user.remember("the office opens at nine", id="nine")
    user.remember("the office in Rome opens at nine", id="summary", kind="summary", derived_from=["rome", "nine"])
    user.remember("calls to the office go to Italy", id="calls", derived_from=["summary"])
    return user


def dropped(user: UserMemory) -> dict[str, str]:
    return {one.id: one.reason for one in user.recall("the office", k=10, reinforce=False).dropped}


def found(user: UserMemory) -> list[str]:
    return sorted(user.recall("the office", k=10, reinforce=False).ids)


def test_what_was_derived_is_found_as_long_as_its_sources_hold(ana: UserMemory) -> None:
    assert found(ana) == ["calls", "nine", "rome", "summary"]
    summary = ana.get("summary")
    assert (summary.derived_from, summary.derived_stale, summary.valid_until) == (("rome", "nine"), None, None)
    assert dict(summary.metadata) == {}


async def test_it_ends_with_a_source_that_is_superseded_and_says_why(ana: UserMemory, clock: Clock) -> None:
    clock.pass_days(1)
    await ana.aremember("the office is in Oslo", id="oslo", supersedes="rome")
    assert found(ana) == ["nine", "oslo"]
    assert dropped(ana) == {"rome": "superseded by oslo", "summary": SUPERSEDED, "calls": SUPERSEDED}
    recall = ana.recall("the office", k=10)
    assert SUPERSEDED in recall.explain()
    assert ana.why(recall, "summary").startswith(f"summary was dropped: {SUPERSEDED}")
    assert [one.id for one in ana.records(current=True)] == ["oslo", "nine"]
    clock.pass_days(1)
    past = ana.recall("the office", k=10, now=clock() - 1.5 * DAY)
    assert sorted(past.ids) == ["calls", "nine", "rome", "summary"]


def test_it_holds_again_where_what_had_replaced_the_source_is_forgotten(ana: UserMemory, clock: Clock) -> None:
    clock.pass_days(1)
    ana.remember("the office is in Oslo", id="oslo", supersedes="rome")
    clock.pass_days(1)
    ana.remember("the office opens at ten", id="ten", supersedes="nine")
    ana.forget("oslo")
    assert found(ana) == ["rome", "ten"]
    ana.forget("ten")
    assert found(ana) == ["calls", "nine", "rome", "summary"]
    assert {one: ana.get(one).valid_until for one in ("summary", "calls")} == {"summary": None, "calls": None}
    ana.remember("the office is in Oslo", id="oslo", supersedes="rome")
    ana.remember("the office is in Bonn", id="bonn", supersedes="oslo")
    ana.forget("bonn")
    assert found(ana) == ["nine", "oslo"]
    ana.forget("oslo")
    assert found(ana) == ["calls", "nine", "rome", "summary"]


def test_it_ends_with_a_source_that_is_forgotten_and_names_it_no_longer(ana: UserMemory, clock: Clock) -> None:
    clock.pass_days(1)
    receipt = ana.forget("rome")
    assert sorted(receipt.derived) == ["calls", "summary"]
    assert dropped(ana) == {"summary": FORGOTTEN, "calls": FORGOTTEN}
    summary = ana.get("summary")
    assert (summary.derived_from, summary.valid_until) == (("nine",), clock())
    assert "rome" not in str(summary.stored)
    ana.remember("the office opens at ten", id="ten", supersedes="nine")
    ana.forget("ten")
    assert dropped(ana)["summary"] == FORGOTTEN
    assert ana.forget("nine").derived == ("summary", "calls")
    assert ana.get("summary").derived_from == ()
    assert ana.forget("calls").derived == ()


def test_it_ends_with_a_source_that_says_something_else_by_now(ana: UserMemory) -> None:
    ana.remember("the office is in Rome", id="rome", importance=0.9)
    assert found(ana) == ["calls", "nine", "rome", "summary"]
    ana.remember("the office is in Oslo", id="rome")
    assert dropped(ana) == {"summary": CHANGED, "calls": CHANGED}
    ana.remember_many(
        [
            {"id": "rome", "text": "the office is in Bonn"},
            {"id": "summary", "text": "the office in Bonn opens at nine", "derived_from": ["rome", "nine"]},
        ]
    )
    assert found(ana) == ["nine", "rome", "summary"]
    assert ana.get("summary").derived_stale is None
    ana.remember("calls go to Bonn, to the office", id="calls", derived_from=["summary"])
    assert found(ana) == ["calls", "nine", "rome", "summary"]


@pytest.mark.parametrize("how", ["update", "delete and add"])
def test_it_ends_with_a_source_that_another_program_wrote_over(
    collection: Collection, ana: UserMemory, how: str
) -> None:
    """Once a recall or a look-up that may change something has come upon the new text."""
    given: dict[str, Any] = {"ids": ["rome"], "documents": ["the office is in Oslo"]}
    given["embeddings"] = word_vectors(given["documents"])
    metadata: Any = collection.get(ids=["rome"])["metadatas"]
    if how == "update":
        collection.update(**given)
    else:
        collection.delete(ids=["rome"])
        collection.add(**given, metadatas=metadata)
    ana.recall("the office", k=10)
    assert found(ana) == ["nine", "rome"]
    assert dropped(ana) == {"summary": CHANGED, "calls": CHANGED}
    ana.remember("the office in Oslo opens at nine", id="summary", derived_from=["rome", "nine"])
    ana.recall("the office", k=10)
    assert found(ana) == ["nine", "rome", "summary"]


def test_a_source_whose_text_moved_to_another_id_ends_nothing(collection: Collection, memory: AdaptiveMemory) -> None:
    """As the chunks of a file do when a line is put in front."""
    ana = memory.for_user("ana")
    for number, text in enumerate(["the office is in Rome", "the office opens at nine"]):
        ana.remember(text, id=f"f:{number}", metadata={"source": "f"})
    ana.remember("the office in Rome opens at nine", id="summary", derived_from=["f:0", "f:1"])
    texts = ["a headline on the office", "the office is in Rome", "the office opens at nine"]
    metadata: Any = [{"user_id": "ana", "source": "f"} for _ in texts]
    collection.upsert(ids=["f:0", "f:1", "f:2"], documents=texts, embeddings=word_vectors(texts), metadatas=metadata)
    ana.recall("the office", k=10)
    assert "summary" in found(ana)


def test_what_replaces_its_own_sources_is_not_stale_for_that(ana: UserMemory, clock: Clock) -> None:
    ana.remember("the office in Rome, from nine", id="both", derived_from=["rome", "nine"], supersedes="rome")
    ana.remember("the office in Rome, from nine", id="both", derived_from=["rome", "nine"], supersedes="rome")
    assert found(ana) == ["both", "nine"]
    ana.remember("the office: Rome, nine", id="third", derived_from=["rome", "both"], supersedes="both")
    assert found(ana) == ["nine", "third"]


def test_what_is_derived_from_what_had_ended_is_stale_from_the_first(ana: UserMemory, clock: Clock) -> None:
    ana.remember("the office is in Oslo", id="oslo", supersedes="rome")
    clock.pass_days(1)
    ana.remember("late news of the office", id="late", derived_from=["rome"])
    ana.remember("later news of the office", id="later", derived_from=["late"])
    assert dropped(ana).items() >= {"late": SUPERSEDED, "later": SUPERSEDED}.items()


def test_a_ring_of_derived_records_ends_too(memory: AdaptiveMemory) -> None:
    user = memory.for_user("ana")
    user.remember("the office", id="a")
    user.remember_many(
        [
            {"text": "the office, b", "id": "b", "derived_from": ["a", "c"]},
            {"text": "the office, c", "id": "c", "derived_from": ["b"]},
        ]
    )
    assert user.forget("a").derived == ("b", "c")
    assert found(user) == []


@pytest.mark.parametrize(
    ("given", "because"),
    [
        ("rome", r"Give a list of ids, e.g. \['rome'\]"),
        ([7], "id in derived_from"),
        ([""], "id in derived_from"),
        (["itself"], "cannot be derived from itself"),
        (["no such"], "There is no record 'no such'"),
        (["hers"], "There is no record 'hers'"),
    ],
)
def test_sources_are_ids_of_the_users_own(ana: UserMemory, given: Sequence[str], because: str) -> None:
    ana.memory.for_user("eve").remember("the office of another", id="hers")
    with pytest.raises((InvalidInputError, NotFoundError), match=because):
        ana.remember("the office", id="itself", derived_from=given)
    assert "itself" not in found(ana)
    assert ana.remember_many([{"text": "comes back without its sources", "derived_from": ["no such"]}])


def test_nothing_of_another_user_ends_with_it(ana: UserMemory) -> None:
    eve = ana.memory.for_user("eve")
    eve.remember("the office is hers", id="rome")
    eve.remember("the office, in short", id="short", derived_from=["rome"])
    ana.forget("rome")
    assert found(eve) == ["rome", "short"]


def test_records_that_are_copied_elsewhere_still_end_with_their_sources(
    open_memory: Open, memory: AdaptiveMemory
) -> None:
    user = open_memory().for_user("ana")
    user.remember("the office is in Rome", id="rome")
    user.remember("calls to the office go to Italy", id="calls", derived_from=["rome"])
    copy = memory.for_user("ana")
    copy.remember_many([user.get("calls"), user.get("rome")])
    copy.forget("rome")
    assert dropped(copy) == {"calls": FORGOTTEN}
    assert found(user) == ["calls", "rome"]
