"""Does the shell say how good and fast recalls are, what another policy would find, and write only a better one?"""

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


def test_replay_compares_by_a_preset_or_a_file(with_three: Run, tmp_path: Path) -> None:
    with_three("recall", "green tea", "-k", "1")
    summary = with_three("replay", "--policy", "support")
    assert summary.out.startswith("1 recalls, 0 would have returned something else")
    file = tmp_path / "policy.json"
    file.write_text(Policy(min_similarity=1.0).to_json())
    changed = with_three("replay", "--policy", str(file), "--changed").out
    assert "- tea: below the similarity floor" in changed
    assert with_three("replay", "--policy", str(file), "--json").answer["recalls"][0]["dropped"] == ["tea"]
    assert with_three("replay", "--policy", "no such policy").code == 2
    assert with_three("replay", "--since", "2999-01-01").code == 1


def test_all_users_are_replayed_only_where_that_is_said(with_three: Run) -> None:
    with_three("recall", "green tea")
    assert with_three("replay", user=None).code == 2
    assert with_three("replay", "--all-users").code == 2
    found = with_three("replay", "--all-users", "--json", user=None)
    assert len(found.answer["recalls"]) == 1
    assert "ana" not in found.out


def test_recalls_are_timed_beside_chromas_query(with_three: Run) -> None:
    found = with_three("bench", "-k", "2")
    assert found.code == 0
    assert found.out.splitlines()[0] == "3 questions over 3 records, k=2, embedding included"
    assert found.out.count("median") == 3
    told = with_three("bench", "--questions", "2", "--json").answer
    assert (told["records"], told["k"], told["recall_ms"]["count"], told["chroma_ms"]["count"]) == (3, 10, 2, 2)
    assert min(told["recall_ms"]["median"], told["chroma_ms"]["median"]) > 0.0
    assert "chromadb" in told["versions"]


def test_nothing_counts_as_read(with_three: Run) -> None:
    assert with_three("bench").code == 0
    assert with_three("stats", "--json").answer["recalls"] == 0


def test_only_the_users_own_records_are_asked_about(with_three: Run) -> None:
    with_three("remember", "Bo likes black coffee", user="bo")
    assert with_three("bench", "--json").answer["records"] == 3


def test_where_nothing_can_be_asked_it_says_what_to_do(with_three: Run) -> None:
    nobody = with_three("bench", user="nobody")
    assert (nobody.code, nobody.out) == (2, "")
    assert "Remember some first" in nobody.err
    assert "Name a user" in with_three("bench", "--everyone", user=None).err
    assert with_three("bench", user=None).code == 2
    assert with_three("bench", "--questions", "0").code == 2
