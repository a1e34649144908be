"""Do the benchmarks of evidence, of its cost and of what is missed run as a user runs them, with a model as well?"""

from __future__ import annotations

import gzip
import json
import math
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from adaptive_memory_core.evaluate.tokens_shown import Texts
from benchmarks import hierarchy, hierarchy_cost, hierarchy_structure
from benchmarks.baselines import Ranking
from benchmarks.data import Dataset, Item, Question, load
from benchmarks.evidence_systems import systems
from benchmarks.hierarchy_bounds import MESSAGES, OF_FLAT, SECONDS, SHAPES, beside_bounds
from benchmarks.hierarchy_misses import BEHIND, NOT_FOUND, WHERE, Miss, Telling, by, misses
from tests.models.chat_server import FakeChat, serving

TALK = (
    ("Ana", "Where did you go last week?", "s1"),
    ("Ben", "I went to Oslo for the ski race.", "s1"),
    ("Ana", "My garden has tomatoes now.", "s2"),
    ("Ben", "My sister has bought a red kayak.", "s2"),
)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "talk"
    folder.mkdir()
    corpus = [
        {"id": f"t{n}", "tenant": "a", "session": of, "seq": n, "ts": 1.7e9 + 90_000 * n, "speaker": who, "text": text}
        for n, (who, text, of) in enumerate(TALK)
    ]
    asked = {"tenant": "a", "type": "single", "category": 4, "answerable": True}
    queries = [
        {"id": "q1", "query": "Where did Ben go for the ski race?", "gold_ids": ["t1"], "answer": "Oslo", **asked},
        {"id": "q2", "query": "What has Ben's sister bought?", "gold_ids": ["t3"], "answer": "a red kayak", **asked},
    ]
    for name, rows in (("corpus", corpus), ("queries", queries)):
        with gzip.open(folder / f"{name}.jsonl.gz", "wt") as lines:
            lines.write("\n".join(map(json.dumps, rows)))
    return tmp_path


@pytest.fixture
def server() -> Iterator[FakeChat]:
    """Sure of itself, and right, where the evidence is before it."""
    with serving() as made:

        def replies(request: dict[str, Any]) -> tuple[str, list[list[float]]]:
            told = json.loads(request["messages"][1]["content"])
            right = "Oslo" if "ski" in told["question"] else "a red kayak"
            if any(right in text for text in told["evidence"]):
                return right, [[0.0, -50.0]]
            return "no idea", [[math.log(0.5), math.log(0.5)]]

        made.replies = replies
        yield made


def run(main: Any, monkeypatch: pytest.MonkeyPatch, data: Path, *arguments: str) -> list[dict[str, Any]]:
    kept = data / "rows.json"
    monkeypatch.setattr(
        sys, "argv", ["benchmark", "--data", str(data), "--sets", "talk", *arguments, "--json", str(kept)]
    )
    main()
    rows: list[dict[str, Any]] = json.loads(kept.read_text())["rows"]
    return rows


def test_all_systems_in_one_run_and_answers_of_a_model(
    data: Path, server: FakeChat, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    systems = ("naive chunks", "windows", "flat", "episodes", "top down")
    rows = run(hierarchy.main, monkeypatch, data, "--systems", *systems, "--model", "m", "--base-url", server.url)
    evidence = {row["system"]: row for row in rows if row["table"] == "Evidence within a budget"}
    assert list(evidence) == list(systems)
    assert all(evidence[name]["r2000"] == "1.000" for name in systems)
    answered = {row["system"]: row for row in rows if row["table"] == "Answers of a model"}
    assert list(answered) == ["flat", "episodes", "top down"]
    assert (answered["flat"]["F1"], answered["flat"]["tokens a query"]) == (1.0, 12.0)
    assert answered["top down"]["tokens a query"] > 12.0  # the expansion asks as well


def test_conversations_that_have_long_ended_are_recalled_with_what_has_grown_from_them(data: Path) -> None:
    talk = load(data, "talk")
    (shown,) = systems(talk, talk.questions, ["top down"])
    assert all(len({unit.block for unit in units}) == len(TALK) for units in shown.units)  # a day lies between them


def test_structure_with_and_without_splits(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = run(hierarchy_structure.main, monkeypatch, data, "--settings", "w/o split and merge", "cap 12")
    assert [row["setting"] for row in rows] == ["w/o split and merge", "cap 12"]
    assert all(row["semantics"] >= row["themes"] >= 1 for row in rows)
    assert all(0.0 <= float(row["r500"]) <= 1.0 for row in rows)


ROW = {"set": "talk", "messages": MESSAGES // 2, SECONDS: 29.0, "attach, ms, p50": 0.05, "attach, ms, p99": 11.0}


def test_what_takes_more_than_it_may_is_told() -> None:
    recalls = [{"set": "talk", "shape": "episodes", OF_FLAT: 1.6}, {"set": "other", "shape": "episodes", OF_FLAT: 9.0}]
    held = {row["what"]: row["held"] for row in beside_bounds(ROW, recalls)}
    assert held == {
        SECONDS: True,
        "attach, ms, p50": True,
        "attach, ms, p99": False,
        "a recall of 'episodes', of flat": False,
    }
    slow = next(beside_bounds({**ROW, SECONDS: 31.0}, []))
    assert (slow["at most"], slow["held"]) == (30.0, False)


def test_the_command_prints_what_a_recall_of_each_shape_costs(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = data / "rows.json"
    monkeypatch.setattr(sys, "argv", ["cost", "--data", str(data), "--sets", "talk", "--json", str(kept)])
    with suppress(SystemExit):  # of a machine that is too slow today
        hierarchy_cost.main()
    rows = json.loads(kept.read_text())["rows"]
    assert {row["shape"] for row in rows if "shape" in row} == set(SHAPES)
    assert all(row[OF_FLAT] > 0.0 for row in rows if "shape" in row)
    assert {row["what"] for row in rows if "what" in row} >= {SECONDS, "a recall of 'episodes', of flat"}
    assert "What a recall of each shape costs" in capsys.readouterr().out


TURNS = tuple(Item(id=f"t{number}", text="x" * 30, speaker="Ana", session="s", seq=number) for number in range(30))
ROOM = 30  # tokens: for the heading and two of the turns
SINGLE, MULTI = {"category": 4}, {"category": 1}
RANKING = [one.id for one in TURNS]
SAID = ("It rained.", "Which bird is it?", "An owl, Ben!", "Nice.", "Oh.", "Well.", "So.", "Yes.", *("No.",) * 20)


def found(questions: list[Question], rankings: list[Ranking]) -> list[Miss]:
    return misses(Texts(Dataset("", TURNS, ())), Telling(TURNS), questions, rankings, ROOM)


def test_evidence_is_counted_by_how_far_behind_the_cut_it_stands() -> None:
    crowded_out = Question("q1", "?", gold_ids=("t0", "t3"), more=SINGLE)
    far_behind = Question("q2", "?", gold_ids=("t29",), more=MULTI)
    missed = found([crowded_out, far_behind], [RANKING, RANKING])
    rows = list(by(missed, "turns behind", [*(name for name, _ in BEHIND), NOT_FOUND], ROOM))
    told = {row["turns behind"]: (row["all"], row["single-hop"], row["multi-hop"], row["tokens"]) for row in rows}
    assert told["1 to 5"] == ("0.250", "0.250", "0.000", "9")
    assert told["21 to 100"] == ("0.500", "0.000", "0.500", "9")
    assert told["6 to 20"] == told[NOT_FOUND] == ("0.000", "0.000", "0.000", "")


def test_what_no_candidate_is_was_not_found() -> None:
    question = Question("q", "?", gold_ids=("t29",), more=SINGLE)
    assert [one.behind for one in found([question], [RANKING[:2]])] == [NOT_FOUND]


@pytest.mark.parametrize(("turn", "where"), [(1, 0), (2, 1), (0, 2), (4, 3), (5, 4)])
def test_it_says_where_the_nearest_telling_word_stands(turn: int, where: int) -> None:
    items = [Item(id=f"t{n}", text=text, speaker="Ben", session="s", seq=n) for n, text in enumerate(SAID)]
    assert Telling(items).where(Question("q", "What bird did Ben see?", gold_ids=()), f"t{turn}") == WHERE[where]


def test_a_speakers_name_and_a_word_that_many_turns_have_tell_nothing() -> None:
    items = [Item(id=f"t{n}", text=text, speaker="Ben", session="s", seq=n) for n, text in enumerate(SAID)]
    assert Telling(items).where(Question("q", "Ben, no?", gold_ids=()), "t2") == WHERE[-1]
