"""Does anything of one user ever reach another? By any path, in any order of calls."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Set
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import chromadb
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from adaptive_memory_core import AdaptiveMemory, InvalidInputError, NotFoundError, Recall, Scope, ScopeError, UserMemory
from adaptive_memory_core.errors import FilterError
from adaptive_memory_core.identity import scoped_id
from tests.conftest import Clock, Vectors, word_vectors
from tests.suites import at_most

ALICE, BOB, CAROL = "alice-7f3", "bob-19c", "carol-e04"
TAGS = {ALICE: "tagalpha", BOB: "tagbeta", CAROL: "taggamma", None: "tagnobody"}
OWNERS, USERS = list(TAGS), [ALICE, BOB, CAROL]
PLAIN_IDS = ["note", "a", "score"]
LOOKALIKES = [scoped_id(Scope(owner), "note") for owner in OWNERS] + [scoped_id(Scope(scoped), "a") for scoped in [BOB]]
FILTERS: list[dict[str, Any] | None] = [
    None,
    {"user_id": ALICE},
    {"user_id": BOB},
    {"user_id": {"$ne": CAROL}},
    {"user_id": {"$in": [ALICE, BOB, CAROL]}},
    {"user_id": {"$nin": ["nobody at all"]}},
    {"$or": [{"user_id": ALICE}, {"user_id": BOB}]},
    {"$or": [{"kind": "event"}, {"user_id": {"$ne": "x"}}]},
    {"$and": [{"user_id": BOB}, {"$or": [{"kind": "event"}, {"kind": {"$ne": "event"}}]}]},
    {"user_id": CAROL, "kind": "event"},
    {"colour": "red"},
    {"colour": {"$foo": 1}},
    {},
]

owners = st.sampled_from(OWNERS)
users = st.sampled_from(USERS)
filters_of_own = st.sampled_from([None, {"colour": "red"}])
ids = st.sampled_from(PLAIN_IDS + LOOKALIKES)
plain_ids = st.sampled_from(PLAIN_IDS)


@dataclass
class Known:
    """What one user must find, and nothing else."""

    texts: dict[str, str] = field(default_factory=dict)
    reads: dict[str, int] = field(default_factory=dict)
    credit: dict[str, int] = field(default_factory=dict)
    pinned: set[str] = field(default_factory=set)
    verdicts: set[tuple[str, str]] = field(default_factory=set)
    recalls: list[Recall] = field(default_factory=list)
    shared_reads: dict[str, int] = field(default_factory=dict)  # of everyone's records, by this user
    shared_pinned: set[str] = field(default_factory=set)
    shared_verdicts: set[tuple[str, str]] = field(default_factory=set)

    def unlearn(self, one: str) -> None:
        """What was everyone's is forgotten."""
        self.shared_reads.pop(one, None)
        self.shared_pinned.discard(one)
        self.shared_verdicts = {pair for pair in self.shared_verdicts if pair[0] != one}

    def let_go(self, one: str) -> None:
        del self.texts[one]
        self.reads.pop(one, None)
        self.credit.pop(one, None)
        self.pinned.discard(one)
        self.verdicts = {pair for pair in self.verdicts if pair[0] != one}


class Tenants(RuleBasedStateMachine):
    """Three users and everyone over one collection; after each step each of them looks at all they can see, the users
    also over everyone's records."""

    def __init__(self, client: Any, embed: Callable[..., Vectors], clock: Clock) -> None:
        super().__init__()
        self.clock, self.client, self.name = clock, client, f"tenants-{uuid.uuid4()}"
        collection = client.create_collection(
            self.name, embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
        )
        self.memory = AdaptiveMemory(collection, embedder=embed, clock=clock)
        self.known: dict[str | None, Known] = {owner: Known() for owner in OWNERS}
        self.number = 0

    def teardown(self) -> None:
        self.memory.close()
        self.client.delete_collection(self.name)

    def scope(self, owner: str | None) -> UserMemory:
        self.clock.pass_seconds(100)  # beyond the refresh floor, so that every read counts
        return self.memory.for_everyone() if owner is None else self.memory.for_user(owner)

    def over(self, owner: str) -> UserMemory:
        self.clock.pass_seconds(100)
        return self.memory.for_user(owner, over="everyone")

    def visible(self, owner: str) -> dict[str, str]:
        """What a user finds over everyone's records: an own one hides everyone's of the same id."""
        return {**self.known[None].texts, **self.known[owner].texts}

    def text(self, owner: str | None) -> str:
        self.number += 1
        return f"{TAGS[owner]} secret tea number {self.number}"

    @initialize()
    def everyone_starts_with_a_note(self) -> None:
        for owner in OWNERS:
            self.remember(owner, "note", None)

    @rule(owner=owners, one=st.none() | ids, supersedes=st.none() | plain_ids)
    def remember(self, owner: str | None, one: str | None, supersedes: str | None) -> None:
        known, text = self.known[owner], self.text(owner)
        supersedes = None if supersedes == one else supersedes
        metadata = {"mark": TAGS[owner], "colour": "red"}
        try:
            given = self.scope(owner).remember(text, id=one, supersedes=supersedes, metadata=metadata)
        except NotFoundError as error:
            assert supersedes not in known.texts
            self.nothing_foreign(owner, str(error))
        except InvalidInputError as error:
            assert one in LOOKALIKES  # they may be refused, as long as nothing is lost in silence
            self.nothing_foreign(owner, str(error))
        else:
            assert supersedes is None or supersedes in known.texts
            self.wrote(owner, {given: text})

    @rule(owner=owners, number=st.integers(1, 4), one=plain_ids)
    def remember_several(self, owner: str | None, number: int, one: str) -> None:
        texts = [self.text(owner) for _ in range(number + 1)]
        items: list[dict[str, Any]] = [{"text": text, "metadata": {"mark": TAGS[owner]}} for text in texts]
        items[-1]["id"] = one
        self.wrote(owner, dict(zip(self.scope(owner).remember_many(items), texts, strict=True)))

    def wrote(self, owner: str | None, texts: dict[str, str]) -> None:
        """Other words under an id are another memory: what was learned of the old ones is not of them."""
        for one in self.known[owner].texts.keys() & texts.keys():
            self.unlearned(owner, one)
        self.known[owner].texts.update(texts)

    def unlearned(self, owner: str | None, one: str) -> None:
        self.known[owner].let_go(one)
        for reader in OWNERS if owner is None else ():
            self.known[reader].unlearn(one)

    @rule(
        owner=owners,
        cue=st.sampled_from(["tea", "secret", "number 3"]),
        k=st.integers(1, 8),
        where=st.sampled_from(FILTERS),
    )
    def recall(self, owner: str | None, cue: str, k: int, where: dict[str, Any] | None) -> None:
        known = self.known[owner]
        try:
            answer = self.scope(owner).recall(cue, k=k, filter=where)
        except FilterError as error:
            assert where is not None
            self.nothing_foreign(owner, str(error))
            return
        known.recalls.append(answer)
        for one in answer.ids:
            known.reads[one] = known.reads.get(one, 0) + 1
            known.credit[one] = known.credit.get(one, 0) + 1
        self.sees_only_own(owner, answer)

    @rule(owner=owners, one=ids, verb=st.sampled_from(["pin", "unpin", "demote", "get"]))
    def touch(self, owner: str | None, one: str, verb: str) -> None:
        known = self.known[owner]
        with self.missing_is_not_found(owner, one):
            self.nothing_foreign(owner, getattr(self.scope(owner), verb)(one))
        if one not in known.texts:
            return
        known.pinned = known.pinned | {one} if verb == "pin" else known.pinned
        if verb in ("unpin", "demote"):
            known.pinned = known.pinned - {one}
        if verb == "demote":
            known.credit[one] = 0

    @rule(owner=owners, one=ids)
    def forget(self, owner: str | None, one: str) -> None:
        known = self.known[owner]
        with self.missing_is_not_found(owner, one):
            receipt = self.scope(owner).forget(one)
            self.nothing_foreign(owner, receipt)
            assert receipt.verdicts == sum(pair[0] == one for pair in known.verdicts)
        if one in known.texts:
            self.unlearned(owner, one)

    @rule(owner=users, cue=st.sampled_from(["tea", "number 3"]), k=st.integers(1, 8), where=filters_of_own)
    def recall_over_everyone(self, owner: str, cue: str, k: int, where: dict[str, Any] | None) -> None:
        known, answer = self.known[owner], self.over(owner).recall(cue, k=k, filter=where)
        known.recalls.append(answer)
        for hit in answer:
            own = hit.shared is None
            assert own == (hit.id in known.texts)
            for counts in (known.reads, known.credit) if own else (known.shared_reads,):
                counts[hit.id] = counts.get(hit.id, 0) + 1
        self.sees_only_visible(owner, answer)

    @rule(owner=users, one=plain_ids, verb=st.sampled_from(["pin", "unpin", "forget", "forget_learned"]))
    def touch_over_everyone(self, owner: str, one: str, verb: str) -> None:
        known = self.known[owner]
        if one in known.texts:
            return  # an own one: `touch` and `forget` do that
        if verb == "forget_learned":
            self.over(owner).forget_learned(one)
            known.unlearn(one)
            return
        missing = ScopeError if verb == "forget" else None if one in self.known[None].texts else NotFoundError
        missing = NotFoundError if one not in self.known[None].texts else missing
        with nullcontext() if missing is None else pytest.raises(missing):
            getattr(self.over(owner), verb)(one)
        if missing is None:
            known.shared_pinned = known.shared_pinned | {one} if verb == "pin" else known.shared_pinned - {one}

    @rule(owner=users, helpful=st.booleans(), over=st.booleans(), data=st.data())
    def judge_everyones(self, owner: str, helpful: bool, over: bool, data: st.DataObject) -> None:
        known = self.known[owner]
        now = self.known[None].texts
        shared = [
            (answer, hit.id) for answer in known.recalls for hit in answer if hit.shared and hit.text == now.get(hit.id)
        ]
        named = {line.id: {one.id for one in line.kept} for line in self.scope(owner).recalls()}
        live = [(answer, one) for answer, one in shared if one not in known.texts and one in named.get(answer.id, ())]
        if live:
            answer, one = data.draw(st.sampled_from(live))
            verdict: dict[str, Any] = {"helpful": [one]} if helpful else {"unhelpful": [one]}
            (self.over(owner) if over else self.scope(owner)).feedback(answer, **verdict)
            known.shared_verdicts.add((one, answer.id))

    @rule(owner=owners, helpful=st.booleans(), by_id=st.booleans(), data=st.data())
    def judge_own(self, owner: str | None, helpful: bool, by_id: bool, data: st.DataObject) -> None:
        known = self.known[owner]
        own = [(answer, hit) for answer in known.recalls for hit in answer if hit.shared is None]
        live = [(answer, hit.id) for answer, hit in own if hit.text == known.texts.get(hit.id)]
        if not live:
            return
        answer, one = data.draw(st.sampled_from(live))
        verdict: dict[str, Any] = {"helpful": [one]} if helpful else {"unhelpful": [one]}
        try:
            self.scope(owner).feedback(answer.id if by_id else answer, **verdict)
        except InvalidInputError as error:
            assert by_id  # the log let go of it when the record was forgotten
            self.nothing_foreign(owner, str(error))
        else:
            known.verdicts.add((one, answer.id))

    @rule(owner=owners, other=owners, by_id=st.booleans(), data=st.data())
    def judge_anothers(self, owner: str | None, other: str | None, by_id: bool, data: st.DataObject) -> None:
        theirs = self.known[other].recalls
        if owner == other or not theirs:
            return
        answer = data.draw(st.sampled_from(theirs))
        with pytest.raises(NotFoundError if by_id else ScopeError):
            self.scope(owner).feedback(answer.id if by_id else answer, helpful=list(answer.ids[:1]))

    @rule()
    def flush(self) -> None:
        self.memory.flush()

    @invariant()
    def each_sees_their_own_and_nothing_else(self) -> None:
        for owner in OWNERS:
            known, scope = self.known[owner], self.scope(owner)
            answer = scope.recall("secret tea", k=100, reinforce=False)
            self.sees_only_own(owner, answer)
            assert set(answer.ids) | {one.id for one in answer.dropped} == set(known.texts)
            for one, text in known.texts.items():
                record = scope.get(one)
                assert (record.id, record.text, record.metadata["mark"]) == (one, text, TAGS[owner])
                assert record.read.retrieval_count == known.reads.get(one, 0)
                assert record.read.pinned == (one in known.pinned)

    @invariant()
    def each_sees_everyones_beside_their_own(self) -> None:
        for owner in USERS:
            known, scope = self.known[owner], self.over(owner)
            answer = scope.recall("secret tea", k=100, reinforce=False)
            self.sees_only_visible(owner, answer)
            assert set(answer.ids) | {one.id for one in answer.dropped} == set(self.visible(owner))
            for one in self.known[None].texts.keys() - known.texts.keys():
                record = scope.get(one)
                assert record.text == self.known[None].texts[one]
                assert record.read.retrieval_count == known.shared_reads.get(one, 0)
                assert record.read.pinned == (one in known.shared_pinned)
            stats = scope.stats()
            assert stats.reads == sum(known.reads.values()) + sum(known.shared_reads.values())
            assert stats.verdicts == len(known.verdicts) + len(known.shared_verdicts)
            assert stats.pinned == len(known.pinned) + len(known.shared_pinned)

    @invariant()
    def each_is_told_their_own_numbers_and_log(self) -> None:
        for owner in OWNERS:
            known, scope = self.known[owner], self.scope(owner)
            stats = scope.stats()
            assert (stats.records, stats.recalls) == (len(known.texts), len(known.recalls))
            assert (stats.reads, stats.read_records) == (sum(known.reads.values()), len(known.reads))
            assert (stats.pinned, stats.verdicts) == (len(known.pinned), len(known.verdicts))
            assert stats.remembered == self.remembered(owner)
            lines = scope.recalls()
            assert [line.id for line in lines] == [answer.id for answer in reversed(known.recalls)][:100]
            looked_through = any(line.over is not None for line in lines)  # everyone's, besides their own
            self.nothing_foreign(owner, stats, lines, known={None} if looked_through else frozenset())
            for one in PLAIN_IDS:
                named = [line.id for line in lines if one in {candidate.id for candidate in line.kept}]
                assert [line.id for line in scope.recalls(containing=one)] == named

    def remembered(self, owner: str | None) -> int:
        return sum(count >= 3 for count in self.known[owner].credit.values())

    def sees_only_own(self, owner: str | None, answer: Recall) -> None:
        known = self.known[owner]
        assert {hit.id: hit.text for hit in answer}.items() <= known.texts.items()
        assert {one.id for one in answer.dropped} <= set(known.texts)
        self.nothing_foreign(owner, answer, answer.explain(), answer.render())

    def sees_only_visible(self, owner: str, answer: Recall) -> None:
        assert {hit.id: hit.text for hit in answer}.items() <= self.visible(owner).items()
        assert all((hit.shared is None) == (hit.id in self.known[owner].texts) for hit in answer)
        self.nothing_foreign(owner, answer, answer.explain(), answer.render(), known={None})

    def nothing_foreign(self, owner: str | None, *shown: object, known: Set[None] = frozenset()) -> None:
        """No text, no name and no made-up id of anybody else stands in what was shown."""
        words = repr(shown)
        for other in set(OWNERS) - {owner} - known:
            foreign = {TAGS[other], other, *self.known[other].texts} - {None, *PLAIN_IDS, *LOOKALIKES}
            assert not [one for one in foreign if one is not None and one in words]

    @contextmanager
    def missing_is_not_found(self, owner: str | None, one: str) -> Iterator[None]:
        if one in self.known[owner].texts:
            yield
            return
        with pytest.raises(NotFoundError) as missing:
            yield
        self.nothing_foreign(owner, str(missing.value))


@pytest.mark.hard("random run")
def test_no_interleaving_of_calls_carries_anything_from_one_user_to_another(clock: Clock) -> None:
    client = chromadb.EphemeralClient()
    run_state_machine_as_test(
        lambda: Tenants(client, word_vectors, clock),  # type: ignore[arg-type] # anything that makes a machine will do
        settings=settings(at_most(25), stateful_step_count=25, report_multiple_bugs=False),
    )
