"""Is each experiment with a model one command, against a server of OpenAI's protocol, on the set that ships?"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks import with_model
from benchmarks.data import load
from benchmarks.xmemory_tables import TABLES
from tests.benchmarks.sensible_model import SensibleModel
from tests.models.chat_server import FakeChat, serving

SMALL = load(with_model.HERE, with_model.SMALL)
Row = dict[str, Any]


@pytest.fixture
def server() -> Iterator[FakeChat]:
    with serving() as running:
        running.replies = SensibleModel({one.query: str(one.answer) for one in SMALL.questions})
        yield running


@pytest.fixture
def run(server: FakeChat, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Runs a command, and gives the rows that it keeps."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)

    def rows(table: str, *more: str, models: tuple[str, ...] = ("m",)) -> list[Row]:
        server_of = ("--base-url", server.url, "--requests-per-minute", "1e6")
        command = ["with_model", table, "--model", *models, *server_of, "--json", "rows.json", *more]
        monkeypatch.setattr(sys, "argv", command)
        with_model.main()
        found: list[Row] = json.loads(Path("rows.json").read_text())["rows"]
        return found

    return rows


def by(rows: list[Row], name: str) -> dict[Any, Row]:
    return {row[name]: row for row in rows}


def test_the_set_that_ships_has_twenty_questions_whose_answers_are_in_their_gold() -> None:
    assert len(SMALL.questions) == len(SMALL.scorable) == 20
    assert {one.type for one in SMALL.questions} == {"single-hop", "multi-hop", "temporal", "open"}
    assert sum(len(one.gold_ids) > 1 for one in SMALL.questions) >= 6
    assert len({item.session for item in SMALL.items}) == 8


@pytest.mark.hard("large")
def test_xmemorys_table_4_has_a_row_for_each_stage_and_counts_all_that_is_asked(run: Any, capsys: Any) -> None:
    found = by(run("xmemory-4"), "method")
    assert list(found) == list(TABLES["xmemory-4"])
    assert all(row["GPT-Acc"] == row["Contain-Acc"] >= 0.7 for row in found.values()), "a judge that compares words"
    assert found["flat memory"]["recall"] > found["xMemory"]["recall"], "of Stage II the model needs few messages"
    assert found["+RepSel"]["Token/query"] == found["naive RAG"]["Token/query"] == 12, "one request"
    assert found["+UncSion"]["Token/query"] > 24, "Stage II asks as well"
    assert {name for name, row in found.items() if row["tokens to build"]} == {"xMemory, hierarchy by the model"}
    assert "; 0 replies are not the JSON" in capsys.readouterr().out
    assert {"multi-hop BLEU", "temporal F1", "open BLEU", "single-hop F1"} <= set(found["xMemory"])


@pytest.mark.hard("large")
def test_what_finds_nothing_is_judged_wrong_and_a_second_run_asks_nobody(run: Any, server: FakeChat) -> None:
    wide, narrow = (
        run("xmemory-1", "--sets", "small_set", "--page-tokens", tokens, "--every", "3") for tokens in ("400", "1")
    )
    naive = by(wide, "method")["naive RAG"], by(narrow, "method")["naive RAG"]
    assert [row["GPT-Acc"] for row in naive] == [1.0, 0.0]
    assert [row["recall"] for row in naive] == [1.0, 0.0]
    asked = len(server.requests)
    run("xmemory-1", "--page-tokens", "1", "--every", "3")
    assert all(one.get("logprobs") for one in server.requests[asked:]), "only uncertainties are not kept"
    server.replies = lambda _: ("noon", [])
    assert list(by(run("xmemory-1", "--every", "9"), "method")) == ["naive RAG", "flat memory"], "no log-probabilities"


def test_the_judge_may_be_another_model_and_costs_the_other_nothing(run: Any, server: FakeChat) -> None:
    (row, *_) = run("xmemory-1", "--every", "5", "--judge-model", "judge")
    judged = [one for one in server.requests if one["model"] == "judge"]
    assert {"right_answers" in one["messages"][1]["content"] for one in judged} == {True}
    assert row["Token/query"] == 12
    assert not any("right_answers" in one["messages"][1]["content"] for one in server.requests if one["model"] == "m")


@pytest.mark.hard("large")
def test_turns_are_learned_from_a_judge_and_not_from_gold_labels(run: Any, tmp_path: Path) -> None:
    shutil.copytree(with_model.HERE / with_model.SMALL, tmp_path / "other")
    queries = [json.loads(line) for line in (tmp_path / "other" / "queries.jsonl").read_text().splitlines()]
    wrong = {"mira": ["m6"], "olu": ["o6"]}
    told = "".join(json.dumps(one | {"gold_ids": wrong[one["tenant"]]}) + "\n" for one in queries)
    (tmp_path / "other" / "queries.jsonl").write_text(told)
    gold, other = (
        run("gam-rag-turns", "--turns", "2"),
        run(*("gam-rag-turns", "--turns", "2", "--data", str(tmp_path), "--sets", "other", "--page-tokens", "200")),
    )
    assert [row["turn"] for row in gold] == [0, 1, 2]
    same = ("GPT-Acc", "Contain-Acc", "rounds", "verdicts", "tokens/query", "tokens to learn")
    assert [[row[one] for one in same] for row in gold] == [[row[one] for one in same] for row in other]
    assert min(row["recall@5"] for row in gold) > 0.7 > max(row["recall@5"] for row in other)
    assert [row["verdicts"] > 0 for row in gold] == [True, True, False], "nobody is asked after the last turn"
    assert gold[2]["rounds"] <= gold[0]["rounds"] < 3.0, "the judge ends rounds early, and memory needs no more"


@pytest.mark.hard("large")
def test_the_ablations_begin_alike_and_learn_differently(run: Any) -> None:
    rows = run("gam-rag-ablations", "--turns", "1")
    variants = ["GAM-RAG", "w/o task", "w/o time", "w/o perplexity", "w/o gain"]
    assert list(dict.fromkeys(row["variant"] for row in rows)) == variants
    first, second = ([row for row in rows if row["turn"] == turn] for turn in (0, 1))
    assert len({(row["GPT-Acc"], row["recall@5"], row["rounds"]) for row in first}) == 1
    assert len({(row["GPT-Acc"], row["recall@5"], row["rounds"]) for row in second}) > 1


@pytest.mark.hard("large")
def test_gam_rags_table_2_asks_the_same_similar_and_different_questions(run: Any, server: FakeChat) -> None:
    found = by(run("gam-rag-2", "--every", "2"), "method")
    assert list(found) == ["vanilla RAG", "graph, our form", "GAM-RAG", "- 5-turn memorization"]
    assert found["GAM-RAG"]["index tokens"] == 12 * 69, "each sentence is asked for its time, once"
    assert found["vanilla RAG"]["index tokens"] == "/"
    assert any("Please tell me: " in one["messages"][1]["content"] for one in server.requests)
    for row in found.values():
        assert all(row[f"{kind} GPT-Acc"] >= 0.5 for kind in ("same", "similar", "different"))
    assert found["GAM-RAG"]["same rounds"] < 3.0
    assert "same rounds" not in {name for name, one in found["vanilla RAG"].items() if one is not None}


@pytest.mark.hard("large")
@pytest.mark.parametrize(
    ("table", "models", "systems"),
    [
        ("arm-2", ("m",), ["local", "ARM, local"]),
        ("arm-3x2", ("m", "n"), ["static", "dynamic conservative", "dynamic selective"]),
        ("arm-ablations", ("m",), ["static", "theta 3", "gamma 20", "alpha 0.95"]),
    ],
)
def test_arms_tables_have_answers_beside_their_rankings(
    run: Any, table: str, models: tuple[str, ...], systems: list[str]
) -> None:
    rows = run(table, "--every", "4", models=models)
    assert {row["model"] for row in rows} == set(models)
    assert set(systems) <= {row["system"] for row in rows}
    for row in rows:
        assert row["GPT-Acc"] == row["EM"] >= 0.5, "the model answers in the words of the right answer, or not at all"
        assert 0.0 < row["N@5"] <= row["R@5"] <= 1.0
        assert (row["tokens in"], row["tokens out"]) == (10.0, 2.0)
        assert {"P@5", "F1", "coverage", "time (s)", "time deviation", "length"} <= set(row)
    assert ("Eff." in rows[0]) == (table == "arm-2")
    assert ("update ms" in rows[0]) == (table == "arm-ablations")
