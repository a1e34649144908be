"""When does "auto" ask the graph? Where a user's records name each other's titles, and a question names one."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

import pytest
from chromadb import Collection

from adaptive_memory_core import AdaptiveMemory, Policy, UserMemory
from tests.conftest import Open, word_vectors

BOTH: Any = ("dense", "lexical")
WITH: Any = (*BOTH, "graph")
CUE = "Where did the father of Teutberga's husband die?"
TOWNS = [
    f"{first}{last}"
    for first in ("Alt", "Neu", "Berg", "Ober", "Unter", "Klein")
    for last in ("dorf", "stadt", "au", "heim", "brück", "fels")
]
FAMILY: list[Any] = [
    {"id": "t", "text": "Teutberga was married to Lothair II.", "metadata": {"title": "Teutberga"}},
    {"id": "l", "text": "He ruled. His father was Lothair I.", "metadata": {"title": "Lothair II"}},
    {"id": "f", "text": "He died at the abbey.", "metadata": {"title": "Lothair I"}},
]
PAGES: list[Any] = [
    {"id": town, "text": f"A town on the road to {after}.", "metadata": {"title": town}}
    for town, after in zip(TOWNS, [*TOWNS[1:], TOWNS[0]], strict=True)
]
NOTES: list[Any] = [
    {
        "id": f"n{number}",
        "text": f"Number {number} was written on a rainy day.",
        "metadata": {"title": f"Note {number}"},
    }
    for number in range(40)
]


@pytest.fixture
def memory(over: Open) -> AdaptiveMemory:
    opened = over()
    opened.for_user("ann").remember_many([*FAMILY, *PAGES])
    return opened


def use(memory: AdaptiveMemory, user: UserMemory, cue: str = CUE) -> None:
    """Recalls that count, and what they have begun brought to its end, as the background does in time."""
    for _ in range(2):
        for _ in range(6):
            user.recall(cue, k=5)
        memory.sync()


def rows(memory: AdaptiveMemory, query: str) -> int:
    ledger: Any = memory.ports().ledger
    with ledger.file.reading() as sql:
        return int(sql.execute(query).fetchone()[0])


def passages(memory: AdaptiveMemory) -> int:
    return rows(memory, "SELECT count(*) FROM graph_passages")


def test_linked_records_are_asked_by_the_graph_without_a_word(memory: AdaptiveMemory) -> None:
    ann = memory.for_user("ann")
    assert ann.recall(CUE, k=5).policy.channels == BOTH
    use(memory, ann)
    found = ann.recall(CUE, k=5)
    assert found.policy.channels == WITH
    assert {"t", "l", "f"} <= set(found.ids)
    assert "what the graph came to by" in found.explain()
    asked = Policy(channels=WITH).replace(advanced={"graph": {"asks": "titled"}})
    assert found.ids == ann.recall(CUE, k=5, policy=asked, reinforce=False).ids


def test_nothing_is_made_where_no_question_names_a_title(memory: AdaptiveMemory) -> None:
    ann = memory.for_user("ann")
    use(memory, ann, "which town is on the road?")
    assert memory.ports().graph.linked.links(ann.scope) > 0.2
    assert passages(memory) == 0


def test_a_question_without_a_title_is_ranked_as_without_the_graph(memory: AdaptiveMemory) -> None:
    ann = memory.for_user("ann")
    use(memory, ann)
    plain = Policy(channels=BOTH)
    now = memory.now()
    one, other = (
        ann.recall("which town is on the road?", policy=each, reinforce=False, now=now) for each in (None, plain)
    )
    assert [(hit.id, hit.score, hit.parts) for hit in one] == [(hit.id, hit.score, hit.parts) for hit in other]


def test_of_records_that_do_not_name_each_other_none_is_made(memory: AdaptiveMemory) -> None:
    ben = memory.for_user("ben")
    ben.remember_many(NOTES)
    use(memory, ben, "what was Note 7 about?")
    assert rows(memory, "SELECT count(*) FROM graph_links WHERE links = 0") == 1
    assert ben.recall("what was Note 7 about?").policy.channels == BOTH
    assert passages(memory) == 0


def test_another_users_records_are_left_out_of_it(memory: AdaptiveMemory) -> None:
    ben = memory.for_user("ben")
    ben.remember_many([{**one, "id": f"b-{one['id']}"} for one in NOTES])
    use(memory, memory.for_user("ann"))
    assert passages(memory) == len(FAMILY) + len(PAGES)
    ben.remember("A last one.")
    memory.sync()
    assert passages(memory) == len(FAMILY) + len(PAGES)


def test_what_is_written_and_removed_later_is_followed(memory: AdaptiveMemory) -> None:
    ann = memory.for_user("ann")
    use(memory, ann)
    ann.forget("f")
    ann.remember("He died at sea.", id="f2", metadata={"title": "Lothair I"})
    assert "f2" in ann.recall(CUE, k=5, reinforce=False).ids
    assert memory.check().findings == ()


def test_looking_alone_begins_nothing(memory: AdaptiveMemory) -> None:
    ann = memory.for_user("ann")
    for _ in range(20):
        ann.recall(CUE, k=5, reinforce=False)
    memory.sync()
    assert rows(memory, "SELECT count(*) FROM graph_links") == 0


def test_what_was_found_is_known_to_the_next_process(memory: AdaptiveMemory, collection: Collection) -> None:
    use(memory, memory.for_user("ann"))
    ledger: Any = memory.ports().ledger
    with closing(AdaptiveMemory(collection, embedder=word_vectors, ledger=ledger)) as other:
        assert {"t", "l", "f"} <= set(other.for_user("ann").recall(CUE, k=5, reinforce=False).ids)


def test_channels_that_are_named_are_all_that_is_asked(memory: AdaptiveMemory) -> None:
    ann = memory.for_user("ann")
    use(memory, ann)
    found = ann.recall(CUE, k=5, policy=Policy(channels=BOTH))
    assert found.policy.channels == BOTH
    assert "graph" not in found[0].parts


def test_looking_through_is_done_once_whoever_comes_first(memory: AdaptiveMemory) -> None:
    users = [memory.for_user(f"user {number}") for number in range(6)]
    for user in users:
        user.remember_many([{**one, "id": f"{user.user}-{one['id']}"} for one in NOTES])
    for _ in range(6):
        for user in users:
            user.recall("what was Note 7 about?", k=5)
    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(memory.sync) for _ in range(4)]:
            done.result()
    assert rows(memory, "SELECT count(*) FROM graph_links") == len(users)


def test_a_policy_that_names_the_channel_may_ask_for_the_same(memory: AdaptiveMemory) -> None:
    memory.policy = Policy(channels=WITH).replace(advanced={"graph": {"asks": "linked"}})
    ben, ann = memory.for_user("ben"), memory.for_user("ann")
    ben.remember_many([{**one, "id": f"b-{one['id']}"} for one in NOTES])
    assert "graph" not in ann.recall(CUE, k=5)[0].parts
    use(memory, ann)
    assert "graph" in ann.recall(CUE, k=5)[0].parts
    assert passages(memory) == len(FAMILY) + len(PAGES)
