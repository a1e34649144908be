"""Does the mirror know who wrote: we alone, or somebody else as well?"""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from chromadb import Collection

from adaptive_memory_core import Fields
from adaptive_memory_core.flow.calls.call_state import one_call
from adaptive_memory_core.store.chroma.changes import FILES
from adaptive_memory_core.store.chroma.records import ChromaRecords
from adaptive_memory_core.store.mirror.collection_state import FileTimes, SizeAndLast
from adaptive_memory_core.store.mirror.in_step import InStep
from tests.conftest import word_vectors

LENGTHS = itertools.count(1)


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    write(tmp_path)
    return tmp_path


@pytest.fixture
def in_step(directory: Path) -> InStep:
    """In step with the collection, as a comparison found it."""
    found = InStep(FileTimes(directory), late_seconds=2.0)
    found.compare()
    found.compared()
    return found


def write(directory: Path) -> None:
    """Somebody writes: the file is never again as long as it was."""
    (directory / FILES[0]).write_bytes(b"x" * next(LENGTHS))


def write_ourselves(in_step: InStep, directory: Path) -> None:
    with in_step.changing(["a"], 0):
        write(directory)
    in_step.heard(["a"])


def test_what_we_write_keeps_it_in_step_and_is_not_taken_for_another_program(in_step: InStep, directory: Path) -> None:
    before = in_step.only_ours_since()
    write_ourselves(in_step, directory)
    assert in_step.holds()
    assert before is not None
    assert in_step.only_ours_since() == before


def test_a_comparison_that_finds_nothing_is_no_news(in_step: InStep, directory: Path) -> None:
    before = in_step.only_ours_since()
    write_ourselves(in_step, directory)
    in_step.compare()
    assert in_step.compared(found=False)
    assert in_step.only_ours_since() == before


def test_what_somebody_else_wrote_is_news_as_soon_as_it_is_seen_and_after_it_was_compared(
    in_step: InStep, directory: Path
) -> None:
    before = in_step.only_ours_since()
    write(directory)
    assert in_step.only_ours_since() is None
    in_step.compare()
    assert in_step.compared(found=False)  # what was found may have been taken in before
    assert in_step.only_ours_since() not in (None, before)


def test_what_only_a_comparison_found_is_news(in_step: InStep) -> None:
    """Written at the same moment as something of ours, or by a call of ours that was broken off."""
    first = in_step.only_ours_since()
    in_step.compare()
    in_step.compared(found=True)
    second = in_step.only_ours_since()
    in_step.heard(["a"], by_comparing=True)
    assert len({first, second, in_step.only_ours_since()}) == 3


def test_a_call_that_looked_before_a_write_of_ours_ended_still_trusts_the_mirror(
    in_step: InStep, directory: Path
) -> None:
    with one_call():
        assert in_step.holds()
        write_ourselves(in_step, directory)
        assert in_step.holds()
        write(directory)
    with one_call():
        assert not in_step.holds()


def test_what_somebody_else_removes_while_we_write_back_is_not_hidden_by_what_we_add_then(
    collection: Collection,
) -> None:
    """A server tells how many there are: one less, and one more, are as many as before."""

    def add(one: str) -> None:
        collection.add(ids=[one], documents=[one], embeddings=word_vectors([one]))

    for one in ("a", "b"):
        add(one)
    in_step = InStep(SizeAndLast(ChromaRecords(collection, Fields()), 0.0), late_seconds=2.0)
    in_step.compare()
    assert in_step.compared()
    with in_step.changing(["b"], 0):
        with in_step.changing(["b"], 0):
            assert in_step.holds()
        collection.delete(ids=["a"])
        with in_step.changing(["c"]):
            add("c")
    in_step.heard(["b", "c"])
    assert not in_step.holds()
