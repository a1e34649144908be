"""Can any number of processes share a directory? With real ones that open, remember, forget, end and are killed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import chromadb
import pytest

from adaptive_memory_core import AdaptiveMemory, Keeping, Policy
from adaptive_memory_core.errors import EmbedderMismatchError, StoreInUseError
from adaptive_memory_core.flow.calls import running_calls
from adaptive_memory_core.flow.ports.ledger_values import Moves
from adaptive_memory_core.records import Scope
from adaptive_memory_core.store.chroma.importer import Importer
from adaptive_memory_core.store.ledger.mirror_rows import LedgerMirror
from adaptive_memory_core.store.ledger.outbox import LedgerDueRecords
from adaptive_memory_core.store.ledger.text_changes import LedgerInheritance
from tests.behaviour.conftest import eventually
from tests.behaviour.other_process import OtherProcess, asked_anew, by_letters
from tests.conftest import background_done

pytestmark = pytest.mark.hard("processes")
QUICK = Keeping(lag_seconds=0.2)
EVERY_READ_COUNTS = Policy(refresh_floor_seconds=0.0)


def opened(directory: Path, **more: Any) -> AdaptiveMemory:
    given = {"embedder": by_letters, "keeping": QUICK, "policy": EVERY_READ_COUNTS, **more}
    return AdaptiveMemory.open(directory, **given)


def is_guest(memory: AdaptiveMemory) -> bool:
    return not memory.ports().records.holds_collection


def contents(memory: AdaptiveMemory) -> dict[str, str]:
    """What the collection itself holds, of the process that holds it."""
    found: Any = memory.ports().records.collection.get(include=["documents"])
    return dict(zip(found["ids"], found["documents"], strict=True))


@pytest.mark.sample
def test_what_one_process_writes_every_other_finds_at_once(tmp_path: Path) -> None:
    with opened(tmp_path) as memory, OtherProcess(tmp_path) as other, OtherProcess(tmp_path) as third:
        alice = memory.for_user("alice")
        assert (other.holds, third.holds, is_guest(memory)) == (False, False, False)
        alice.remember("green tea", id="tea")
        assert other.do("alice.get('tea').text") == "green tea"
        assert other.do("alice.remember('black coffee', id='coffee', metadata={'n': 1})") == "coffee"
        assert third.do("alice.recall('coffee', k=1).ids") == ("coffee",)
        assert alice.recall("coffee", k=1).ids == ("coffee",)
        assert other.do("alice.remember('white tea', id='tea')") == "tea"
        assert alice.get("tea").text == "white tea"
        assert third.do("alice.forget('coffee').collection") is True
        assert alice.recall("coffee", k=5).ids == ("tea",)
        assert other.do("alice.get('coffee')").startswith("NotFoundError")
        assert contents(memory) == {"tea": "white tea"}


def test_no_recall_of_the_holder_puts_in_what_others_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What they wrote is found by the ledger, and the collection shows it within the lag. The background asks the
    collection from time to time, but not here."""
    with opened(tmp_path, keeping=Keeping(lag_seconds=600.0)) as memory, OtherProcess(tmp_path) as other:
        alice = memory.for_user("alice")
        alice.remember("green tea", id="tea")
        alice.recall("tea", k=1)  # the first one compares
        memory.sync()
        background_done(memory)  # what the first one had begun beside it
        due = memory.ports().ledger.due_records
        for number in range(3):
            other.do(f"alice.remember('black coffee {number}', id='c{number}')")
            assert f"c{number}" in alice.recall("black coffee", k=4).ids
            assert due.waiting() == number + 1
        other.do("alice.forget('c0').collection")
        assert "c0" not in alice.recall("black coffee", k=4).ids
        assert contents(memory).keys() == {"tea", "c1", "c2"}  # who asks the collection is told all
        assert due.waiting() == 0


def test_reads_and_verdicts_of_all_processes_count(tmp_path: Path) -> None:
    with opened(tmp_path) as memory, OtherProcess(tmp_path) as other:
        alice = memory.for_user("alice")
        alice.remember("green tea", id="tea")
        for _ in range(3):
            alice.recall("tea", k=1)
            other.do("alice.recall('tea', k=1).ids")
        recall = alice.recall("tea", k=1)
        assert other.do(f"alice.feedback({recall.id!r}, helpful=['tea'])") == 1
        read = alice.get("tea").read
        assert (read.retrieval_count, read.helpful) == (7, 1)
        other.do("memory.flush()")  # the holder does it
        metadata = memory.ports().records.metadata(["tea"])["tea"]
        assert metadata["retrieval_count"] == 7


def test_what_two_processes_learn_of_one_record_is_known_to_both(tmp_path: Path) -> None:
    questions = "memory.ports().ledger.judged_questions.of(alice.scope)"
    with opened(tmp_path) as memory, OtherProcess(tmp_path) as other:
        alice = memory.for_user("alice")
        alice.remember("green tea", id="tea")
        for number in range(3):
            alice.feedback(alice.recall("tea " + "b" * number, k=1), helpful=["tea"])
            assert other.do(f"alice.feedback(alice.recall('tea {'d' * number}e', k=1), helpful=['tea'])") == 1
        known = memory.ports().ledger.judged_questions.of(alice.scope)
        assert known is not None
        assert sum(known.helpful) == 6
        assert other.do(f"int(sum({questions}.helpful))") == 6
        assert other.do(f"{questions}.vectors.tolist()") == known.vectors.tolist()


def test_a_filter_on_texts_and_one_on_metadata_are_answered_without_chroma(tmp_path: Path) -> None:
    by_metadata = "alice.recall('tea', k=5, filter={'n': {'$gt': 1}}).ids"
    by_text = "alice.recall('tea', k=5, filter={'#document': {'$contains': 'green'}}).ids"
    with opened(tmp_path) as memory:
        memory.for_user("alice").remember("green tea", id="a", metadata={"n": 1})
        memory.for_user("alice").remember("red tea", id="b", metadata={"n": 2})
        said = asked_anew(tmp_path, by_metadata, by_text, "'chromadb' in sys.modules")
    assert said == [("b",), ("a",), False]


@pytest.mark.parametrize("how", ["is killed", "ends"])
def test_another_process_takes_over_when_the_holder(tmp_path: Path, how: str) -> None:
    with OtherProcess(tmp_path) as holder:
        assert holder.holds
        holder.do("alice.remember('green tea', id='tea')")
        with opened(tmp_path, keeping=Keeping(lag_seconds=60.0)) as memory, OtherProcess(tmp_path) as third:
            alice = memory.for_user("alice")
            assert is_guest(memory)
            alice.remember("black coffee", id="coffee")
            if how == "ends":
                holder.end()
            else:
                holder.kill()
            assert alice.recall("tea", k=1).ids == ("tea",)  # meanwhile as well
            assert alice.remember("red wine", id="wine") == "wine"
            if not eventually(lambda: third.do("holds()") or not is_guest(memory)):
                assert third.do("soon(holds)") or not is_guest(memory)
            assert third.do("alice.recall('wine', k=1).ids") == ("wine",)
            third.end()
            memory.flush()
            assert not is_guest(memory)
            assert contents(memory) == {"tea": "green tea", "coffee": "black coffee", "wine": "red wine"}
            assert alice.get("tea").read.retrieval_count == 1


def test_the_last_process_to_close_writes_what_is_due(tmp_path: Path) -> None:
    with OtherProcess(tmp_path) as holder:
        memory = opened(tmp_path)
        memory.for_user("alice").remember("green tea", id="tea")
        memory.for_user("alice").recall("tea")
        holder.kill()
        memory.close()
    collection = chromadb.PersistentClient(str(tmp_path)).get_collection("memories", embedding_function=None)
    assert collection.get(ids=["tea"])["metadatas"][0]["retrieval_count"] == 1  # type: ignore[index]


def test_a_collection_of_the_callers_own_client_is_shared_as_well(tmp_path: Path) -> None:
    with OtherProcess(tmp_path) as holder:
        holder.do("alice.remember('green tea', id='tea')")
        collection = chromadb.PersistentClient(str(tmp_path)).get_collection("memories", embedding_function=None)
        with AdaptiveMemory(collection, embedder=by_letters, keeping=QUICK) as memory:
            assert is_guest(memory)
            assert memory.for_user("alice").recall("tea").ids == ("tea",)
            memory.for_user("alice").remember("red wine", id="wine")
            holder.kill()
            memory.flush()  # by this process, which has taken over
            assert contents(memory) == {"tea": "green tea", "wine": "red wine"}


def test_what_a_foreign_program_writes_through_the_holders_client_is_seen_by_guests(tmp_path: Path) -> None:
    with OtherProcess(tmp_path) as holder:
        holder.do("alice.remember('green tea', id='tea')")
        with opened(tmp_path) as memory:
            record = {"ids": ["theirs"], "documents": ["red wine"], "metadatas": [{"user_id": "alice"}]}
            embedded = f"embeddings=by_letters({record['documents']})"
            holder.do(f"memory.ports().records.collection._collection.add(**{record}, {embedded})")
            memory.sync()
            assert memory.for_user("alice").recall("red wine", k=1).ids == ("theirs",)


def test_what_only_the_holder_can_do_is_refused_with_the_reason(tmp_path: Path) -> None:
    with OtherProcess(tmp_path):
        with opened(tmp_path) as memory, pytest.raises(StoreInUseError, match="Another process holds"):
            memory.check()
        with pytest.raises(EmbedderMismatchError, match="by_letters"):
            AdaptiveMemory.open(tmp_path, embedder=lambda texts: [[1.0, 2.0]] * len(texts))
        with pytest.raises(StoreInUseError, match="another ledger"):
            opened(tmp_path, ledger=":memory:")
        with pytest.raises(StoreInUseError, match="not opened the collection 'another'"):
            opened(tmp_path, collection="another", keeping=Keeping(wait_seconds=0.3))


def test_a_holder_whose_ledger_is_elsewhere_has_no_guests(tmp_path: Path) -> None:
    with OtherProcess(tmp_path / "here", f"options['ledger'] = {str(tmp_path / 'elsewhere.sqlite3')!r}") as holder:
        assert holder.holds
        with pytest.raises(StoreInUseError, match="chroma run"):
            opened(tmp_path / "here", keeping=Keeping(wait_seconds=0.3))


FORK = """
from adaptive_memory_core.errors import ClosedError
parent = AdaptiveMemory.open(sys.argv[1], **options)
parent.for_user("alice").remember("green tea", id="tea")
if os.fork():
    sys.stdin.close()
    os.close(1)
    time.sleep(0.1)
    while os.path.exists(sys.argv[1] + "/wait"):
        time.sleep(0.02)
    os._exit(0)  # as if it was killed
assert parent.closed
"""


def test_a_child_of_the_holder_stays_a_guest_and_whoever_comes_next_writes_what_it_remembered(tmp_path: Path) -> None:
    """Chroma's threads stay in the parent: what the child asked of Chroma would wait for them forever."""
    wait = tmp_path / "wait"
    wait.touch()
    with OtherProcess(tmp_path, FORK) as child:
        assert not child.holds
        assert child.do("alice.remember('red wine', id='wine')") == "wine"
        wait.unlink()
        assert child.do("alice.remember('black coffee', id='coffee')") == "coffee"
        assert child.do("soon(holds, 3.0)") is False
        assert child.do("alice.recall('tea', k=1).ids") == ("tea",)
        with opened(tmp_path) as memory:
            assert child.do("memory.flush()") is None
            assert contents(memory) == {"tea": "green tea", "wine": "red wine", "coffee": "black coffee"}
        child.process.stdin.close()
        child.process.stdout.read()  # until it has ended


CLOSED = """
with AdaptiveMemory.open(sys.argv[1] + "/parent", **options) as parent:
    parent.for_user("alice").remember("green tea", id="tea")
if os.fork():
    os._exit(0)
refused = None
try:
    AdaptiveMemory.open(sys.argv[1] + "/child", **{**options, "keeping": Keeping(wait_seconds=0.1)})
except Exception as error:
    refused = type(error).__name__ + ": " + str(error)
print(repr(refused), flush=True)
sys.exit()
"""


def test_a_child_of_a_process_that_used_chroma_is_told_that_it_cannot_make_a_collection(tmp_path: Path) -> None:
    with OtherProcess(tmp_path, CLOSED) as child:
        refused = str(child.holds)  # what it says first
    assert refused.startswith("StoreInUseError: This process was forked")
    assert "spawn method" in refused


def test_nothing_is_lost_or_doubled_when_processes_are_killed(tmp_path: Path) -> None:
    """A few of the kills that `python -m benchmarks.processes` makes; every second time it is the holder's turn."""
    options = ["--kills", "4", "--pause", "0.8", "--folder", str(tmp_path)]
    command = [sys.executable, "-m", "benchmarks.processes", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=240)
    assert "nothing is wrong" in done.stdout, done.stdout[-2000:] + done.stderr[-2000:]


def test_several_memories_of_the_holder_apply_what_others_left_one_at_a_time(tmp_path: Path) -> None:
    with opened(tmp_path) as memory, opened(tmp_path) as same, OtherProcess(tmp_path) as other:
        for number in range(20):
            other.do(f"alice.remember('tea {number}', id='tea')")
            assert (memory if number % 2 else same).for_user("alice").get("tea").text == f"tea {number}"
        assert contents(memory) == contents(same) == {"tea": "tea 19"}


def test_a_text_that_another_process_wrote_during_a_call_is_put_into_chroma_as_it_is_now(tmp_path: Path) -> None:
    with opened(tmp_path, keeping=Keeping(lag_seconds=600.0)) as memory, OtherProcess(tmp_path) as other:
        alice = memory.for_user("alice")
        alice.remember("green tea", id="tea")
        with running_calls.one_call():
            assert memory.ports().ledger.mirror.rows(["tea"])[0][1] == "green tea"
            assert other.do("alice.remember('black coffee', id='tea')") == "tea"
            assert contents(memory) == {"tea": "black coffee"}
        memory.sync()
        assert other.do("alice.get('tea').text") == "black coffee"


def test_a_recall_that_is_slow_to_settle_leaves_alone_what_another_process_wrote_over_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the ledger would take the last text but one for what its state was learned of."""
    settle = LedgerInheritance.settle
    with opened(tmp_path) as memory, OtherProcess(tmp_path) as other:
        alice = memory.for_user("alice")

        def slow(inheritance: LedgerInheritance, scope: Scope, moves: Moves, **named: Any) -> None:
            if moves.rewritten:
                monkeypatch.setattr(LedgerInheritance, "settle", settle)
                assert other.do("alice.remember('red wine', id='tea')") == "tea"
            settle(inheritance, scope, moves, **named)

        alice.remember("green tea", id="tea")
        alice.remember("black coffee", id="tea")
        monkeypatch.setattr(LedgerInheritance, "settle", slow)
        alice.recall("coffee", k=1)
        assert alice.get("tea").text == "red wine"
        assert memory.check().findings == ()


def test_a_comparison_does_not_put_back_what_another_process_wrote_over_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is due, applied and settled while the comparison has the record in hand."""
    among, read, renew = LedgerDueRecords.among, Importer._read, LedgerMirror.renew
    writes, seen = ["alice.remember('black coffee', id='tea')"], list[str]()
    with opened(tmp_path, keeping=Keeping(lag_seconds=600.0)) as memory, OtherProcess(tmp_path) as other:
        alice = memory.for_user("alice")

        def wrote_after(due: LedgerDueRecords, ids: Any) -> set[str]:
            found = among(due, ids)
            while writes:
                assert other.do(writes.pop()) == "tea"
            return found

        def read_before(comparison: Importer, page: Any) -> Any:
            found = read(comparison, page)
            assert contents(memory) == {"tea": "black coffee"}
            return found

        def noted(mirror: LedgerMirror, *given: Any) -> list[str]:
            newer = renew(mirror, *given)
            seen.append(other.do("alice.get('tea').text"))
            return newer

        alice.remember("green tea", id="tea")
        memory.sync()
        background_done(memory)
        memory.ports().records.collection.update(ids=["tea"], metadatas=[{"n": 1}])
        monkeypatch.setattr(LedgerDueRecords, "among", wrote_after)
        monkeypatch.setattr(Importer, "_read", read_before)
        monkeypatch.setattr(LedgerMirror, "renew", noted)
        memory.sync()
        assert set(seen) == {"black coffee"}
