"""Is public data read as its format says, and is a wrong folder explained?"""

from __future__ import annotations

import argparse
import gzip
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.data import Question, add_data_argument, halves, load

CORPUS: list[dict[str, Any]] = [
    {
        "id": "p0",
        "tenant": "ann",
        "session": "s1",
        "seq": 0,
        "ts": "1970-01-02T00:00:00",
        "speaker": "Ann",
        "text": "Hi.",
    },
    {"id": "p1", "text": "Plain.", "mood": "calm"},
]
QUERIES: list[dict[str, Any]] = [
    {"id": "q0", "query": "Who?", "gold_ids": ["p0", "p0"], "tenant": "ann", "type": "single-hop", "ts": "1970-01-03"},
    {"id": "q1", "query": "What?", "gold_ids": [], "answerable": False, "split": "test", "page": "x"},
    {"id": "q2", "query": "Trap?", "gold_ids": ["p1"], "answerable": False},
]


def write(folder: Path, *, corpus: list[Any] = CORPUS, queries: list[Any] = QUERIES) -> Path:
    (folder / "tiny").mkdir(parents=True)
    for name, rows in (("corpus", corpus), ("queries", queries)):
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / "tiny" / f"{name}.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    return folder


def refusal(folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as stopped:
        load(folder, "tiny")
    assert stopped.value.code == 2
    return capsys.readouterr().err


def test_items_and_questions_are_read_in_order(tmp_path: Path) -> None:
    tiny = load(write(tmp_path), "tiny")
    said, plain = tiny.items
    assert (tiny.name, [question.id for question in tiny.questions]) == ("tiny", ["q0", "q1", "q2"])
    assert (said.id, said.text, said.tenant, said.session, said.seq, said.speaker) == (
        "p0",
        "Hi.",
        "ann",
        "s1",
        0,
        "Ann",
    )
    assert (plain.tenant, plain.ts, plain.seq, plain.more) == (None, None, None, {"mood": "calm"})
    assert tiny.questions[1].split == "test"
    assert tiny.questions[1].more == {"page": "x"}


@pytest.fixture
def in_tokyo(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as elsewhere:
        elsewhere.setenv("TZ", "Asia/Tokyo")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="the zone of a process can only be changed on Unix")
@pytest.mark.usefixtures("in_tokyo")
def test_a_time_without_a_zone_is_utc(tmp_path: Path) -> None:
    tiny = load(write(tmp_path), "tiny")
    assert (tiny.items[0].ts, tiny.questions[0].ts, tiny.questions[1].ts) == (86400.0, 2 * 86400.0, None)


def test_only_answerable_questions_with_gold_are_scorable(tmp_path: Path) -> None:
    tiny = load(write(tmp_path), "tiny")
    assert [question.id for question in tiny.scorable] == ["q0"]
    assert tiny.questions[0].gold_ids == ("p0",)


def test_a_missing_folder_is_named_and_the_format_pointed_to(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    message = refusal(tmp_path, capsys)
    assert f"no folder {tmp_path / 'tiny'}" in message
    assert "benchmarks/data.py" in message


def test_a_missing_file_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (write(tmp_path) / "tiny" / "queries.jsonl.gz").unlink()
    assert "queries.jsonl.gz does not exist" in refusal(tmp_path, capsys)


def test_a_file_that_is_not_gzipped_json_lines_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    corpus = write(tmp_path) / "tiny" / "corpus.jsonl.gz"
    whole = gzip.compress(bytes(range(256)) * 20)
    for content in (b"plain", whole[:40], whole[:10] + b"\xff" * 40, gzip.compress(b"{}\n{"), gzip.compress(b"\xff\n")):
        corpus.write_bytes(content)
        assert "corpus.jsonl.gz" in refusal(tmp_path, capsys)


@pytest.mark.parametrize(
    ("corpus", "queries", "complaint"),
    [
        (CORPUS, [{"id": "q0", "query": "?", "gold_ids": ["p9"]}], "gold ['p9'] of question 'q0' is not in the corpus"),
        (CORPUS, [{"id": "q0", "query": "?"}], "line 1, has no gold_ids"),
        ([*CORPUS, {"text": "x"}], QUERIES, "line 3, has no id"),
        ([*CORPUS, {"id": "p0", "text": "x"}], QUERIES, "1 ids are used twice"),
        ([*CORPUS, {"id": "p2", "text": "x", "ts": "last May"}], QUERIES, "the ts 'last May'"),
        ([*CORPUS, {"id": "p2", "text": "x", "ts": []}], QUERIES, "the ts []"),
        ([*CORPUS, 5], QUERIES, "line 3, is not a JSON object"),
    ],
)
def test_a_wrong_line_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], corpus: list[Any], queries: list[Any], complaint: str
) -> None:
    assert complaint in refusal(write(tmp_path, corpus=corpus, queries=queries), capsys)


def questions(ids: set[int]) -> list[Question]:
    return [Question(id=f"q{number}", query="?", gold_ids=()) for number in sorted(ids)]


@given(ids=st.sets(st.integers(0, 500)), more=st.sets(st.integers(0, 500)), seed=st.integers(0, 99))
def test_adding_questions_moves_none_to_the_other_half(ids: set[int], more: set[int], seed: int) -> None:
    tuning, held_out = halves(questions(ids), seed)
    more_tuning, more_held_out = halves(questions(ids | more), seed)
    assert set(tuning) <= set(more_tuning)
    assert set(held_out) <= set(more_held_out)
    assert sorted(tuning + held_out, key=lambda question: int(question.id[1:])) == questions(ids)


def test_halves_are_about_equal_and_differ_with_the_seed() -> None:
    tuning, _ = halves(questions(set(range(2000))), 1)
    other, _ = halves(questions(set(range(2000))), 2)
    assert 900 < len(tuning) < 1100
    assert 400 < len(set(tuning) & set(other)) < 600


def test_the_data_folder_must_be_given() -> None:
    parser = argparse.ArgumentParser()
    add_data_argument(parser)
    assert parser.parse_args(["--data", "somewhere"]).data == Path("somewhere")
    with pytest.raises(SystemExit) as stopped:
        parser.parse_args([])
    assert stopped.value.code == 2
