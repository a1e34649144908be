"""Does the shell compare systems as an experiment file says, and ask no paid server before it may?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from adaptive_memory_core.evaluate.comparison import Comparison
from tests.cli.conftest import Run
from tests.models.chat_server import FakeChat, serving

SAID = ["I drink green tea", "my cat is called Turing", "we deploy on Tuesday"]
ASKED = [("what tea do I drink", "green tea"), ("what is the cat called", "Turing"), ("when do we deploy", "Tuesday")]
EXPERIMENT = """
title = "tea"
k = 2
data = [{ folder = "notes" }]
systems = [{ use = "bm25" }, { use = "chroma", name = "plain" }]
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "notes").mkdir()
    corpus = [{"id": f"n{number}", "text": text} for number, text in enumerate(SAID)]
    queries = [
        {"id": f"q{number}", "query": text, "gold_ids": [f"n{number}"], "answer": answer}
        for number, (text, answer) in enumerate(ASKED)
    ]
    for name, rows in (("corpus", corpus), ("queries", queries)):
        (tmp_path / "notes" / f"{name}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    path = tmp_path / "experiment.toml"
    path.write_text(EXPERIMENT)
    return path


def test_a_comparison_is_told_as_tables_as_json_and_as_a_file(run: Run, file: Path, tmp_path: Path) -> None:
    told = run("compare", str(file), user=None)
    assert told.code == 0, told.err
    assert "notes: 3 items, 1 users, 3 questions" in told.out
    assert "Less bm25, question by question" in told.out
    out = tmp_path / "result.json"
    found = run("compare", str(file), "--json", "--out", str(out), user=None)
    assert found.answer["title"] == "tea"
    assert [one["name"] for one in found.answer["systems"]] == ["bm25", "plain"]
    assert Comparison.from_json(out.read_text()) == Comparison.from_json(found.out)


def test_a_model_is_asked_only_with_yes_and_the_cost_is_said_first(run: Run, file: Path) -> None:
    with serving() as server:
        server.reply = "Green tea."
        prices = "input_price = 1.0, output_price = 2.0, requests_per_minute = 60000"
        model = f'models = [{{ model = "m", base_url = "{server.url}", {prices} }}]'
        file.write_text(f"{EXPERIMENT}\n{model}\n")
        before = run("compare", str(file), "--json", user=None)
        assert (before.code, before.answer["estimate"]["lines"][0]["requests"]) == (0, 6)
        assert before.answer["cost"] > 0.0
        assert "give --yes" in before.err
        assert server.requests == []
        after = run("compare", str(file), "--json", "--yes", user=None)
        assert len(_distinct(server)) == len(server.requests) <= 6
        assert "6 requests" in after.err
        coverage = {
            one["system"]: one["mean"] for one in after.answer["results"] if one["measure"] == "key-term coverage"
        }
        assert coverage["plain + m"] == pytest.approx(1 / 3)
        assert file.with_name("experiment.replies.jsonl").exists()


def _distinct(server: FakeChat) -> set[str]:
    return {json.dumps(one, sort_keys=True) for one in server.requests}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("title = ", "cannot be read"),
        (EXPERIMENT + "depht = 3", "unknown setting depht"),
        (EXPERIMENT + "k = 0", "cannot be read"),
        (EXPERIMENT.replace("k = 2", "k = 0"), "k is 0"),
        (EXPERIMENT.replace('"bm25"', '"bm52"'), "There is no system 'bm52'"),
        (EXPERIMENT.replace('"notes"', '"nowhere"'), "There is no folder"),
        (EXPERIMENT.replace('use = "chroma", name = "plain"', 'use = "bm25"'), "Two systems have the same name"),
        (EXPERIMENT.replace('{ use = "bm25" }', '{ use = "bm25", policy = "balanced" }'), "has no policy"),
        (EXPERIMENT.replace('{ use = "bm25" }', '{ use = "static", policy = "ballanced" }'), "no preset 'ballanced'"),
        (EXPERIMENT + 'baseline = "x"', "The baseline 'x' is not a system"),
        (EXPERIMENT + 'arm = "theta 9"', "The paper's experiments are"),
        (EXPERIMENT + "models = [{ name = 'm' }]", "has no `model`"),
        (EXPERIMENT + "models = [{ model = 'm', requests_per_minute = 0 }]", "requests_per_minute is 0"),
        (EXPERIMENT + "models = [{ model = 'm', api_key_env = 5 }]", "api_key_env is 5. It must be a valid string"),
        (EXPERIMENT + "cache = 5", "cache is 5. It must be"),
        (EXPERIMENT + "reading = 'no'", "reading is 'no'. It must be a valid boolean"),
        (
            EXPERIMENT.replace('{ use = "bm25" }', '{ use = "bm25", settings = "x" }'),
            "settings is 'x'. It must be a valid dictionary",
        ),
        (EXPERIMENT.replace('{ use = "bm25" }', '{ use = "bm25", settings = { b = 0.5 } }'), "b would change nothing"),
        (
            EXPERIMENT.replace('{ use = "bm25" }', '{ use = "adaptive", settings = { k = 5 } }'),
            "k would change nothing",
        ),
        (EXPERIMENT + "arm = 5", "The paper's experiments are"),
        (EXPERIMENT.replace('{ folder = "notes" }', "{ most = 3 }"), "name 0 sources"),
        (EXPERIMENT.replace('{ folder = "notes" }', '{ folder = "notes", every = 0 }'), "every is 0"),
        (EXPERIMENT.replace("k = 2", "").replace("[{ folder", "[3, { folder"), "must be a list of tables"),
    ],
)
def test_what_an_experiment_says_wrongly_is_named(run: Run, file: Path, text: str, complaint: str) -> None:
    file.write_text(text)
    ended = run("compare", str(file), user=None)
    assert ended.code == 2
    assert complaint in ended.err
    assert "Traceback" not in ended.err
    assert ended.out == ""


def test_an_experiment_may_be_json_and_a_missing_one_is_named(run: Run, file: Path, tmp_path: Path) -> None:
    path = tmp_path / "experiment.json"
    path.write_text(json.dumps({"data": [{"folder": "notes"}], "systems": [{"use": "bm25"}]}))
    assert run("compare", str(path), user=None).code == 0
    assert run("compare", str(tmp_path / "none.toml"), user=None).code == 2


@pytest.mark.parametrize("out", ["nowhere/result.json", ".", "a" * 300, "notes/corpus.jsonl", "experiment.toml"])
def test_where_the_result_cannot_go_nothing_is_run(out: str, run: Run, file: Path, tmp_path: Path) -> None:
    before = {one: one.read_bytes() for one in tmp_path.rglob("*") if one.is_file()}
    ended = run("compare", str(file), "--out", str(tmp_path / out), user=None)
    assert (ended.code, ended.out) == (2, "")
    assert "Name a new file" in ended.err
    assert {one: one.read_bytes() for one in tmp_path.rglob("*") if one.is_file()} == before


def test_an_earlier_result_is_written_over(run: Run, file: Path, tmp_path: Path) -> None:
    out = tmp_path / "result.json"
    for _ in range(2):
        assert run("compare", str(file), "--out", str(out), user=None).code == 0
    assert Comparison.from_json(out.read_text()).title == "tea"


@pytest.mark.parametrize("wrong", ["k = 100000000000", "depth = 20000", "minutes_apart = inf"])
def test_a_number_that_nobody_can_use_is_refused(wrong: str, run: Run, file: Path) -> None:
    file.write_text(f"{wrong}\n{EXPERIMENT.replace('k = 2', '')}")
    assert run("compare", str(file), user=None).code == 2


def test_a_number_that_json_does_not_know_is_refused_before_anything_is_run(run: Run, file: Path) -> None:
    file.write_text(EXPERIMENT.replace('{ use = "bm25" }', '{ use = "bm25", axis = "theta", value = nan }'))
    ended = run("compare", str(file), user=None)
    assert (ended.code, ended.out) == (2, "")
    assert "value" in ended.err
