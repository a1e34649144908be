"""Are posting lists in RAM bounded in bytes, and does nobody wait for another user's?"""

from __future__ import annotations

import threading
from typing import Any

from adaptive_memory_core import AdaptiveMemory, Policy, Scope, UserMemory
from adaptive_memory_core.channels.turns import Turn
from adaptive_memory_core.flow.ports.ledger_values import News
from adaptive_memory_core.store.mirror.resident_records import UsersInRam
from adaptive_memory_core.store.words.frozen_lists import RecordText, row_of
from adaptive_memory_core.store.words.posting_lists import HeldLists, PostingLists

WORDS = Policy(channels=("dense", "lexical"))


def lists(text: str, copies: int) -> PostingLists:
    made = PostingLists()
    written = [(n, *row_of(RecordText(str(n), f"{n} {text}", Turn()))) for n in range(copies)]
    made.take_in(News(1, (), written))
    return made


def test_those_used_longest_ago_go_where_all_are_too_many_bytes() -> None:
    one, long = lists("green tea", 9), lists(" ".join(map(str, range(900))), 9)
    assert 10 * one.nbytes < long.nbytes
    kept = UsersInRam(HeldLists, long.nbytes + one.nbytes)
    for name, made in (("a", one), ("b", one), ("c", one), ("b", one), ("d", long)):
        held = kept.of(Scope(name))
        held.lists = made
        kept.weigh(Scope(name), held, held.nbytes)
    assert [name for name in "abcd" if kept.of(Scope(name)).lists is not None] == ["b", "d"]


def test_one_users_lists_are_kept_however_large() -> None:
    kept = UsersInRam(HeldLists, 1)
    held = kept.of(Scope("a"))
    held.lists = lists("tea", 5)
    kept.weigh(Scope("a"), held, held.nbytes)
    assert kept.of(Scope("a")) is held


def test_nobody_waits_while_anothers_lists_are_made(memory: AdaptiveMemory) -> None:
    alice, bob = (memory.for_user(name) for name in ("alice", "bob"))
    for user in (alice, bob):
        user.remember("the parrot speaks")
        user.recall("parrot", policy=WORDS)
    index: Any = memory.ports().words
    found: list[int] = []
    with index._users.of(Scope("alice")).turn:
        waiting = threading.Thread(target=lambda: found.append(len(bob.recall("parrot", policy=WORDS))))
        waiting.start()
        waiting.join(30)
        assert found == [1]
    assert len(alice.recall("parrot", policy=WORDS)) == 1


def test_a_cue_of_thousands_of_words_is_looked_up_by_those_that_say_the_most(alice: UserMemory) -> None:
    common = " ".join(f"word{n}" for n in range(600))
    alice.remember_many([common, common, "the parrot speaks", "a boat"])
    found = alice.recall(f"{common} parrot", policy=WORDS.replace(recall_k=1), k=3, reinforce=False)
    assert any(hit.text == "the parrot speaks" for hit in found)
    assert found[0].text == common
