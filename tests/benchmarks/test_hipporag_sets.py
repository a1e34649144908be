"""Sets as HippoRAG 2 publishes them are read: each of their forms of gold, on a made-up set."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.hipporag_sets import either, read

CORPUS = [
    {"title": "Ada", "text": "Ada knew Bob."},
    {"title": "Bob", "text": "Bob lived in Rome."},
    {"title": "Bob", "text": "Bob is a name."},
]
BOB = {"title": "Bob", "paragraph_text": "Bob lived in Rome.", "is_supporting": True}
ADA = {"title": "Ada", "text": "Ada knew Bob."}
GOLD: dict[str, Any] = {
    "titles": {"_id": "q", "supporting_facts": [["Ada", 0], ["Bob", 0]], "context": [["Ada", ["Ada knew Bob."]]]},
    "paragraphs": {"id": "q", "paragraphs": [BOB, {**BOB, "title": "Ada", "is_supporting": False}]},
    "contexts": {"contexts": [ADA]},
}


def made(folder: Path, question: Any) -> Path:
    (folder / "toy_corpus.json").write_text(json.dumps(CORPUS), encoding="utf-8")
    asked = [{"question": "Where did Ada's friend live?", **question}]
    (folder / "toy.json").write_text(json.dumps(asked), encoding="utf-8")
    return folder


@pytest.mark.parametrize(("form", "gold"), [("titles", ("0", "1", "2")), ("paragraphs", ("1",)), ("contexts", ("0",))])
def test_gold_is_found_in_each_form(tmp_path: Path, form: str, gold: tuple[str, ...]) -> None:
    data = either(made(tmp_path, GOLD[form]), "toy")
    assert (data.items[0].title, data.items[0].text) == ("Ada", "Ada\nAda knew Bob.")
    assert [one.gold_ids for one in data.scorable] == [gold]


def test_a_question_that_needs_what_is_not_there_is_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert read(made(tmp_path, {"supporting_facts": [["Eve", 0]]}), "toy").scorable == ()
    assert "1 of 1 questions need nothing" in capsys.readouterr().err


def test_a_damaged_file_ends_the_program_with_a_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (made(tmp_path, {}) / "toy.json").write_text("{", encoding="utf-8")
    with pytest.raises(SystemExit):
        read(tmp_path, "toy")
    assert "hipporag_sets" in capsys.readouterr().err
