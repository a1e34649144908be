"""Does the shell say how good recalls are, and write a policy only where it serves better?"""

from __future__ import annotations

import json
import os
import random
import threading
from pathlib import Path

import pytest

from adaptive_memory_core import Policy
from tests.behaviour.test_tuning import FILLERS
from tests.cli.conftest import Run

TEA = {"question": "green tea", "answers": ["tea"]}
CAT = ["the cat", "the cat is called Turing"]


def lines(*given: object) -> str:
    return "\n".join(map(json.dumps, given))


def test_eval_measures_labelled_questions(with_three: Run) -> None:
    found = with_three("eval", "-", "-k", "1", stdin=lines(TEA, CAT, {"question": "tea", "answers": "nowhere"}))
    assert found.code == 0
    assert found.out.startswith("3 questions, k=1\nrecall@1: 0.667 [")
    told = with_three("eval", "-", "--json", stdin=lines(TEA)).answer
    assert [one["mean"] for one in told["measures"]] == [1.0, 1.0, 1.0]
    assert with_three("stats", "--json").answer["recalls"] == 0


def test_what_is_no_labelled_question_is_wrong_usage(with_three: Run, tmp_path: Path) -> None:
    for stdin in ("", "no json", lines("tea"), lines({"question": "tea"}), lines({**TEA, "gold": 1})):
        found = with_three("eval", "-", stdin=stdin)
        assert (found.code, found.out) == (2, "")
        assert "question" in found.err
    assert with_three("eval", str(tmp_path / "none.jsonl")).code == 2
    assert with_three("eval", "-", user=None, stdin=lines(TEA)).code == 2


def test_a_refused_tuning_writes_nothing_and_ends_with_one(with_three: Run, tmp_path: Path) -> None:
    out = tmp_path / "policy.json"
    found = with_three("tune", "-", "--out", str(out), stdin=lines(TEA, CAT))
    assert found.code == 1
    assert "refused, the policy stays as it is: too thin" in found.out
    assert not out.exists()
    assert with_three("tune", "--json").answer["refused"].startswith("too thin")
    assert with_three("tune", "--all-users", user=None).code == 1


def test_a_tuned_policy_is_written_and_kept(run: Run, tmp_path: Path) -> None:
    chance = random.Random(0)
    records, pairs = [], []
    for topic in range(60):
        best = chance.randrange(4)
        for number in range(4):
            text = f"topic{topic} {chance.choice(FILLERS)}"
            worth = float(number == best)
            records.append({"id": f"{topic}-{number}", "text": text, "importance": worth})
        pairs.append({"question": f"topic{topic}", "answers": [f"{topic}-{best}"]})
    assert run("import", "-", "--create", stdin=lines(*records)).code == 0
    start, out = tmp_path / "start.json", tmp_path / "policy.json"
    Policy(channels=("dense",)).save(start)
    found = run(
        "tune", "-", "-k", "4", "--policy", str(start), "--out", str(out), "--keep", "--json", stdin=lines(*pairs)
    )
    assert found.code == 0
    assert Policy.load(out) == Policy.from_json(json.dumps(found.answer["policy"]))
    before = run("eval", "-", "--policy", str(start), "--json", stdin=lines(*pairs)).answer["measures"][-1]["mean"]
    assert run("eval", "-", "--json", stdin=lines(*pairs)).answer["measures"][-1]["mean"] > before


def test_options_that_do_not_go_together_are_wrong_usage(with_three: Run) -> None:
    for arguments in (["--all-users"], ["--held-out", "1"], ["--since", "yesterday"]):
        assert with_three("tune", *arguments).code == 2
    assert with_three("tune", "-", "--all-users", user=None, stdin=lines(TEA)).code == 2
    assert with_three("tune", "--all-users", "--keep", user=None).code == 2


def test_where_the_policy_cannot_be_written_nothing_is_searched(with_three: Run, tmp_path: Path) -> None:
    for out in (tmp_path / "nowhere" / "policy.json", tmp_path):
        ended = with_three("tune", "--out", str(out))
        assert (ended.code, ended.out) == (2, "")


@pytest.mark.skipif(os.name != "posix", reason="pipes of POSIX")
def test_questions_may_come_through_a_pipe_with_a_name(with_three: Run, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    line = json.dumps({"question": "which tea?", "answers": ["tea"]})
    writing = threading.Thread(target=pipe.write_text, args=(line,))
    writing.start()
    ended = with_three("eval", str(pipe), "--json")
    writing.join()
    assert (ended.code, ended.answer["questions"]) == (0, 1)
