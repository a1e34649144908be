"""Do a caller's own channels find as ours do, and does a recall live through one that fails, lies or hangs?"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from chromadb import Collection

import adaptive_memory_core
from adaptive_memory_core import AdaptiveMemory, Cue, InvalidInputError, Policy, PolicyError, Weights
from adaptive_memory_core.errors import EmbedderError, StoreError
from adaptive_memory_core.policy import Advanced, Fusion
from tests.conftest import Clock, Open, word_vectors

FILLER = [f"nothing of note happened on day {n}" for n in range(60)]
OWN = Policy(channels=("dense", "sql"))
WORDS = Policy(channels=("dense", "lexical"))
BRIEF = 1.5  # seconds until a channel that never answers is given up: some hundred times what the others take


class Channel:
    """Gives what a test says, and remembers what it was asked."""

    def __init__(self, answer: Any = ()) -> None:
        self.answer = answer
        self.asked: list[tuple[str, str | None, int]] = []

    def __call__(self, cue: str, user: str | None, limit: int) -> Any:
        self.asked.append((cue, user, limit))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


class Hanging:
    """Answers when it is let go, and not before."""

    def __init__(self) -> None:
        self.free = threading.Event()
        self.calls = 0

    def __call__(self, *_: object, **__: object) -> Any:
        self.calls += 1
        self.free.wait(60)
        return {}


def _awaitable(function: Callable[..., Any], *asked: Any) -> Any:
    """A plain function, whose answer is still to be awaited."""
    return function(*asked)


Over = Callable[..., AdaptiveMemory]


@pytest.fixture
def over(collection: Collection, clock: Clock) -> Iterator[Over]:
    """A memory with these arguments, over one collection."""
    opened: list[AdaptiveMemory] = []

    def opener(**arguments: Any) -> AdaptiveMemory:
        opened.append(AdaptiveMemory(collection, **{"embedder": word_vectors, "clock": clock, **arguments}))
        return opened[-1]

    yield opener
    for memory in opened:
        memory.close()


@pytest.fixture
def hanging() -> Iterator[Hanging]:
    channel = Hanging()
    yield channel
    channel.free.set()


async def test_what_only_a_channel_of_the_callers_found_is_a_candidate_like_any_other(over: Over) -> None:
    sql = Channel({"error": 0.9})

    async def later(*asked: Any) -> Any:
        await asyncio.sleep(0)
        return sql(*asked)

    for channel in (sql, later):
        alice = over(channels={"sql": channel}, policy=OWN).for_user("alice")
        alice.remember_many([*FILLER, {"text": "the gateway was restarted", "id": "error"}])
        for answer in (alice.recall("nothing of note", k=3), await alice.arecall("nothing of note", k=3)):
            assert answer.ids[0] == "error"
            assert answer[0].parts["sql"] > 0.0 == answer[1].parts["sql"]
            assert all(sum(one.parts.values()) == pytest.approx(one.score) for one in answer)
            assert " sql " in answer.explain()
            assert answer[0].similarity < 0.5
        logged = alice.recalls()[0]
        assert logged.candidates[0].parts["sql"] > 0.0
    assert sql.asked == [("nothing of note", "alice", 20)] * 4


def test_a_channel_counts_by_its_weight(over: Over) -> None:
    alice = over(channels={"sql": Channel({"b": 1.0}), "graph2": Channel([("a", 0.9)])}, policy=OWN).for_user("alice")
    alice.remember_many([{"text": "tea", "id": "a"}, {"text": "coffee", "id": "b"}])
    both = Policy(
        channels=("dense", "sql", "graph2"), advanced=Advanced(fusion=Fusion(vectors=0)), weights=Weights(0, 0, 1)
    )
    alone = both.replace(advanced={"channel_weights": {"sql": 0.0, "graph2": 2.0}})
    assert alice.recall("milk", policy=both).ids == ("b", "a")
    answer = alice.recall("milk", policy=alone)
    assert answer.ids == ("a", "b")
    assert answer[0].parts == pytest.approx({"similarity": 0.0, "sql": 0.0, "graph2": 0.9})


def test_a_channel_is_asked_only_where_the_policy_names_it(over: Over) -> None:
    sql = Channel({})
    alice = over(channels={"sql": sql}).for_user("alice")
    alice.remember("tea")
    alice.recall("tea")
    assert not sql.asked
    alice.recall("tea", policy=OWN)
    assert len(sql.asked) == 1


@pytest.mark.parametrize("policy", [OWN, OWN.replace(advanced={"fusion": "rrf"})])
def test_ids_of_others_and_of_nobody_are_dropped_alike_with_the_reason(over: Over, policy: Policy) -> None:
    memory = over(channels={"sql": Channel({"secret": 1.0, "nowhere": 1.0, "own": 0.5})}, policy=policy)
    memory.for_user("bob").remember("the password is swordfish", id="secret")
    alice = memory.for_user("alice")
    alice.remember("tea", id="own")
    for scope, here in ((alice, ("own",)), (memory.for_everyone(), ())):
        answer = scope.recall("swordfish password")
        assert answer.ids == here
        reasons = {one.id: one.reason for one in answer.dropped}
        assert reasons["secret"] == reasons["nowhere"] == "not a record of this scope"
        assert "swordfish" not in answer.explain().replace("swordfish password", "")


def test_two_users_with_one_id_each_find_their_own(over: Over) -> None:
    memory = over(channels={"sql": Channel({"note": 1.0})}, policy=OWN)
    for name in ("alice", "bob"):
        memory.for_user(name).remember_many([*FILLER, {"text": f"the note of {name}", "id": "note"}])
    for name in ("alice", "bob"):
        assert memory.for_user(name).recall("nothing", k=1)[0].text == f"the note of {name}"


def test_a_filter_and_a_bar_hold_for_what_a_channel_found(over: Over) -> None:
    alice = over(channels={"sql": Channel({"food": 1.0, "sea": 0.9})}, policy=OWN).for_user("alice")
    alice.remember("swordfish steak", id="food", metadata={"topic": "food"})
    alice.remember("swordfish swim", id="sea", metadata={"topic": "sea"})
    answer = alice.recall("swordfish", filter={"topic": "sea"})
    assert answer.ids == ("sea",)
    assert [(one.id, one.reason) for one in answer.dropped] == [
        ("food", "no record of this scope that passes the filter")
    ]
    assert alice.recall("swordfish", accept=lambda record: record.id != "food").ids == ("sea",)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (RuntimeError("no connection"), "no connection"),
        (KeyError(), "KeyError"),
        ({"a": 1.5}, "it gave 1.5 for 'a'. Give a number in [0, 1] for each id."),
        ({"a": float("nan")}, "it gave nan for 'a'"),
        ({"a": "much"}, "it gave 'much' for 'a'"),
        ({"a": True}, "it gave True for 'a'"),
        (["a", "b"], "it gave 'a'. Give a mapping from ids to numbers"),
        ({1: 0.5}, "it gave (1, 0.5). Give a mapping"),
        (None, "it gave None. Give a mapping"),
        ("ab", "it gave 'ab'. Give a mapping"),
        ({"\ud800": 1.0}, "it gave the id '\\ud800', which is not Unicode"),
    ],
)
def test_a_channel_that_fails_or_says_nonsense_is_left_out_and_the_rest_answers(
    over: Over, answer: Any, said: str
) -> None:
    alice = over(channels={"sql": Channel(answer)}, policy=Policy(channels=("dense", "lexical", "sql"))).for_user(
        "alice"
    )
    alice.remember("tea", id="a")
    found = alice.recall("tea")
    assert found.ids == ("a",)
    assert "sql" not in found[0].parts
    assert found[0].parts["words"] > 0.0
    (note,) = found.trace
    assert note.startswith(f"the channel 'sql' was left out: {said}")
    assert note in found.explain()


@pytest.mark.parametrize("numbers", [{"a": 1.0000001, "b": -1e-9}, [("a", 1), ["b", 0]]])
def test_a_rounding_error_is_no_nonsense(over: Over, numbers: Any) -> None:
    alice = over(channels={"sql": Channel(numbers)}, policy=OWN).for_user("alice")
    alice.remember_many([{"text": "tea", "id": "a"}, {"text": "tea", "id": "b"}])
    answer = alice.recall("tea")
    assert answer.ids == ("a", "b")
    assert not answer.trace


async def test_a_channel_that_does_not_answer_in_time_is_left_out(over: Over, hanging: Hanging) -> None:
    async def asleep(*_: Any) -> Any:
        await asyncio.Event().wait()

    memory = over(channels={"sql": hanging, "lazy": asleep}, policy=OWN.replace(advanced={"timeout_seconds": BRIEF}))
    alice, lazy = memory.for_user("alice"), memory.policy.replace(channels=("dense", "sql", "lazy"))
    alice.remember("tea")
    answer = alice.recall("tea")
    assert len(answer) == 1
    assert answer.trace == (f"the channel 'sql' was left out: no answer within {BRIEF:g} seconds",)
    answer = await alice.arecall("tea", policy=lazy)
    assert len(answer) == 1
    assert [note.partition(":")[2] for note in answer.trace] == [f" no answer within {BRIEF:g} seconds"] * 2


@pytest.mark.hard("processes")
def test_a_call_that_hangs_holds_up_neither_close_nor_the_end_of_the_interpreter(tmp_path: Path) -> None:
    program = f"""
import chromadb, threading
from adaptive_memory_core import AdaptiveMemory, Policy
def hang(*_): threading.Event().wait()
async def sleep(*_):
    import asyncio
    await asyncio.sleep(3600)
collection = chromadb.PersistentClient({str(tmp_path / "db")!r}).create_collection("tea", embedding_function=None)
policy = Policy(channels=("dense", "a", "b")).replace(advanced={{"timeout_seconds": 0.5}})
own = {{"a": hang, "b": sleep}}
embed = lambda texts: [[float(len(text)), 1.0] for text in texts]
memory = AdaptiveMemory(collection, embedder=embed, policy=policy, channels=own, reranker=hang)
memory.for_user("alice").remember("tea")
print(len(memory.for_user("alice").recall("tea")))
memory.close()
"""
    environment = {"PYTHONPATH": str(Path(adaptive_memory_core.__file__).parents[1]), "HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, env=environment, timeout=120
    )
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "1", "")


async def test_a_coroutine_of_a_blocking_caller_has_one_loop_for_all_its_calls(over: Over) -> None:
    loops: list[Any] = []

    async def sql(cue: str, user: str | None, limit: int) -> dict[str, float]:
        loops.append(asyncio.get_running_loop())
        return {"a": 1.0}

    alice = over(channels={"sql": sql, "lazy": partial(_awaitable, sql)}, policy=OWN).for_user("alice")
    alice.remember("tea", id="a")
    for _ in range(2):
        await asyncio.to_thread(alice.recall, "tea")
        alice.recall("tea", policy=Policy(channels=("dense", "lazy")))
    assert len(set(loops)) == 1
    await alice.arecall("tea")
    await alice.arecall("tea", policy=Policy(channels=("dense", "lazy")))
    assert loops[-2:] == [asyncio.get_running_loop()] * 2


async def test_a_recall_that_is_cancelled_cancels_its_channels(over: Over) -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    async def sql(*_: Any) -> Any:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    alice = over(channels={"sql": sql}, policy=OWN).for_user("alice")
    await alice.aremember("tea")
    recall = asyncio.create_task(alice.arecall("tea"))
    await begun.wait()
    recall.cancel()
    with pytest.raises(asyncio.CancelledError):
        await recall
    await ended.wait()
    assert alice.stats().recalls == 0


def test_words_that_do_not_answer_in_time_are_left_out_and_hold_up_nobody(
    over: Over, hanging: Hanging, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = over(policy=WORDS.replace(advanced={"timeout_seconds": BRIEF}))
    alice = memory.for_user("alice")
    alice.remember("tea")
    with monkeypatch.context() as patched:
        patched.setattr(memory.ports().words, "look", hanging)
        answer = alice.recall("tea")
        assert len(answer) == 1
        assert answer.trace == (f"the channel 'lexical' was left out: no answer within {BRIEF:g} seconds",)
        assert alice.recall("tea", policy=Policy(channels=("dense",))).step == 2
    assert alice.recall("tea", policy=WORDS).trace == ()


@pytest.mark.parametrize("vectorless", ["embedder", "collection", "slow embedder", "slow collection"])
async def test_where_the_vectors_fail_the_words_answer(
    over: Over, hanging: Hanging, monkeypatch: pytest.MonkeyPatch, vectorless: str
) -> None:
    memory = over(policy=WORDS)
    alice = memory.for_user("alice")
    alice.remember_many([*FILLER, {"text": "a zebra crossed", "id": "zebra"}])
    alice.recall("zebra")
    policy = WORDS.replace(advanced={"timeout_seconds": BRIEF if "slow" in vectorless else 0.0})

    def broken(*_: object, **__: object) -> Any:
        raise (StoreError if vectorless == "collection" else EmbedderError)("out of order")

    owner, method = (
        (memory.ports().search, "compare") if "collection" in vectorless else (memory.ports().embedder, "embed_query")
    )
    monkeypatch.setattr(owner, method, hanging if "slow" in vectorless else broken)
    blocking = vectorless != "slow collection"
    answer = alice.recall("zebra", policy=policy) if blocking else await alice.arecall("zebra", policy=policy)
    assert answer.ids == ("zebra",)
    (note,) = answer.trace
    assert note.startswith("the channel 'dense' was left out:")
    assert (f"no answer within {BRIEF:g} seconds" if "slow" in vectorless else "out of order") in note
    if "slow" in vectorless:
        return
    with pytest.raises((StoreError, EmbedderError)):
        alice.recall("giraffe", policy=policy)  # no word of it anywhere: that is no answer
    with pytest.raises((StoreError, EmbedderError)):
        alice.recall("zebra", policy=policy.replace(channels=("dense",)))


def test_where_everything_fails_the_error_is_the_collections(over: Over, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = over(policy=WORDS)
    alice = memory.for_user("alice")
    alice.remember("a zebra")
    alice.recall("zebra")

    def broken(*_: object, **__: object) -> Any:
        raise StoreError("out of order")

    for name in ("nearest", "compare", "among", "stored"):
        monkeypatch.setattr(memory.ports().search, name, broken)
    with pytest.raises(StoreError, match="out of order"):
        alice.recall("zebra")


def test_a_vector_of_another_length_is_still_the_callers_mistake(over: Over) -> None:
    """Where only words find, as well: what they find is compared with the vector."""
    alice = over(policy=WORDS).for_user("alice")
    alice.remember("a zebra")
    with pytest.raises(StoreError, match="2 numbers"):
        alice.recall(Cue("zebra", [1.0, 2.0]))


def test_a_limit_of_time_changes_nothing_where_all_are_fast(over: Over) -> None:
    alice = over(policy=WORDS).for_user("alice")
    alice.remember_many([*FILLER, "a zebra crossed"])
    limited = WORDS.replace(advanced={"timeout_seconds": 60})
    plain, watched = (alice.recall("a zebra", reinforce=False, policy=one) for one in (WORDS, limited))
    assert [(one.id, one.score) for one in plain] == [(one.id, one.score) for one in watched]
    assert not watched.trace


def test_channels_are_refused_where_they_enter(over: Over) -> None:
    memory = over(channels={"sql": Channel()})
    with pytest.raises(PolicyError, match=r"names the channels 'sqll'\. This memory has: dense, lexical, sql"):
        memory.for_user("alice").recall("tea", policy=Policy(channels=("dense", "sqll")))
    with pytest.raises(PolicyError, match="names the channels 'sqll'"):
        memory.policy = Policy(channels=("dense", "sqll"))
    assert memory.policy == Policy()
    with pytest.raises(PolicyError, match="names the channels 'sql'"):
        over(policy=OWN)
    for name in ("words", "similarity", "dense", "reranker", "time", "a b", "", 1):
        with pytest.raises(PolicyError, match="Give a mapping from a name that you choose"):
            over(channels={name: Channel()})
    for wrong in ("sql", None, dict):
        with pytest.raises(InvalidInputError, match="Give a function of cue, user and limit"):
            over(channels={"sql": wrong})


def test_channels_and_a_reranker_can_be_given_to_open(open_memory: Open) -> None:
    with closing(
        open_memory(channels={"sql": Channel({"a": 1.0})}, policy=OWN, reranker=lambda _, texts: [1] * len(texts))
    ) as memory:
        memory.for_user("alice").remember("tea", id="a")
        assert {"sql", "reranker"} <= memory.for_user("alice").recall("tea")[0].parts.keys()


def test_a_policy_with_channels_of_the_callers_can_be_written_down_and_read() -> None:
    by_name: Any = "rrf"
    policy = Policy(channels=("dense", "sql"), advanced=Advanced(channel_weights={"sql": 2}, fusion=by_name)).replace(
        recall_k=30
    )
    assert Policy.from_json(policy.to_json()) == policy
    assert policy.hash != policy.replace(advanced={"channel_weights": {"sql": 3}}).hash
    assert hash(policy) == hash(Policy.from_json(policy.to_json()))


@pytest.mark.parametrize("weights", [{"sql": -1}, {"sql": "1"}, {"words": 1}, {"dense": 1}, "sql", 5, {"sql": True}])
def test_a_weight_that_makes_no_sense_is_refused(weights: Any) -> None:
    with pytest.raises(PolicyError, match="channel_weights"):
        Policy(advanced=Advanced(channel_weights=weights))


def test_reciprocal_ranks_are_those_of_the_literature(over: Over) -> None:
    numbers = {f"r{n}": (n + 1) / 10 for n in range(5)}
    alice = over(channels={"sql": Channel(numbers)}).for_user("alice")
    alice.remember_many([{"text": "tea " * (n + 1) + "and coffee", "id": f"r{n}"} for n in range(8)])
    policy = OWN.replace(weights=Weights(0, 0, 1), advanced={"fusion": Fusion(method="rrf")})
    answer = alice.recall("tea", k=8, policy=policy)
    by_vectors = [one.id for one in sorted(answer, key=lambda one: -one.similarity)]
    by_sql = sorted(numbers, key=lambda one: -numbers[one])
    expected = {
        one: (1 / (61 + by_vectors.index(one)) + (1 / (61 + by_sql.index(one)) if one in by_sql else 0.0)) / (2 / 61)
        for one in by_vectors
    }
    assert {one.id: one.score for one in answer} == pytest.approx(expected)
    assert list(answer.ids) == sorted(expected, key=lambda one: -expected[one])


def test_a_weight_of_a_channel_that_the_memory_does_not_have_is_refused(over: Over) -> None:
    alice = over().for_user("alice")
    with pytest.raises(PolicyError, match="nope"):
        alice.recall("tea", policy=Policy(advanced=Advanced(channel_weights={"nope": 1})))
