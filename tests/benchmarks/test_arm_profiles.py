"""Does the comparison of profiles run on a tiny set, and does it measure what it says?"""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path

import pytest

from adaptive_memory_core import Policy
from benchmarks import arm_profiles
from benchmarks.arm_run import run
from benchmarks.arm_workload import workload
from benchmarks.data import load
from tests.benchmarks.test_arm_workload import made_up

WORDS = ("river", "violin", "tax return", "football", "passport", "recipe for soup")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Six needs, each said in eight ways."""
    data = tmp_path / "data" / "tiny"
    data.mkdir(parents=True)
    questions = [
        {"id": f"{split}-{word}-{n}", "query": f"{ask} {word}?", "gold_ids": [word], "split": split}
        for word in WORDS
        for split, asks in (
            ("train", ("where is my", "tell me of the", "is there a", "what about the")),
            ("test", ("how is the", "whose is the", "do I need the", "when comes the")),
        )
        for n, ask in enumerate(asks)
    ]
    for name, rows in (("corpus", [{"id": word, "text": word} for word in WORDS]), ("queries", questions)):
        with gzip.open(data / f"{name}.jsonl.gz", "wt", encoding="utf-8") as lines:
            lines.writelines(json.dumps(row) + "\n" for row in rows)
    return data.parent


@pytest.mark.hard("large")
def test_the_tables_and_the_report_hold_every_policy(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = folder / "report.json"
    policies = ["static", "aggressive", "balanced, in days"]
    command = ["arm_profiles", "--data", str(folder), "--sets", "tiny", "--questions", "40", "--json", str(out)]
    monkeypatch.setattr(sys, "argv", [*command, "--policies", *policies])
    arm_profiles.main()
    rows = json.loads(out.read_text(encoding="utf-8"))["rows"]
    assert [(row["items come"], row["policy"]) for row in rows] == [
        (a, p) for a in ("start", "drift") for p in policies
    ]
    assert all(row["exact"] == 1.0 and row["questions"] == 40 for row in rows)
    assert all(0.0 <= row[name] <= 1.0 for row in rows for name in ("NDCG@5", "P@5", "R@5", "kept", "fixed wrong"))
    assert (rows[0]["vs static"], rows[0]["kept"]) == (None, 1.0)
    assert rows[1]["kept"] < 1.0
    assert rows[1]["vs static all"]["low"] <= rows[1]["vs static all"]["high"]
    assert capsys.readouterr().out.count("aggressive") == 6


@pytest.mark.hard("large")
def test_a_run_counts_what_the_ledger_counts(folder: Path) -> None:
    tiny = workload(load(folder, "tiny"), questions=30, seed=3)
    outcome = run(tiny, Policy.preset("balanced"), arrival="drift")
    assert outcome.stats.recalls == 30  # the probes changed nothing
    assert len(outcome.stream("right after")) == len(outcome.needs("right after")) == 1
    assert len(outcome.probes) == len(outcome.pruned) == len(outcome.needs("probes"))
    assert all(answer.exact for answer in outcome.answers)


def test_missing_data_are_said_to_be_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["arm_profiles", "--data", str(tmp_path / "nowhere")])
    with pytest.raises(SystemExit) as refusal:
        arm_profiles.main()
    assert refusal.value.code == 2
    assert "nowhere" in capsys.readouterr().err


def test_plain_search_never_fades() -> None:
    outcome = run(workload(made_up(), questions=12, seed=0), arm_profiles.POLICIES["static"], arrival="start")
    assert (outcome.kept, outcome.stats.strengths.stale) == (1.0, 0)
    assert all(answer.exact and answer.fixed_same for answer in outcome.answers)
    assert outcome.probes == outcome.pruned == outcome.pruned_by_similarity
