"""Do pins, verdicts, demotions and removals reach the memory from a shell?"""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Run


def test_verdicts_are_given_by_the_id_of_a_recall(with_three: Run) -> None:
    made = with_three("recall", "tea cat", "-k", "2", "--json").answer
    hit, other = (one["id"] for one in made["hits"])
    assert with_three("feedback", made["id"], "--helpful", hit, "--unhelpful", other).out == "2 verdicts\n"
    assert with_three("stats", "--json").answer["verdicts"] == 2
    assert with_three("feedback", "no such recall", "--helpful", hit).code == 1


def test_pin_unpin_and_demote(with_three: Run) -> None:
    with_three("recall", "tea", "-k", "1")
    assert with_three("pin", "tea", "cat").out == "tea: pinned\ncat: pinned\n"
    assert with_three("get", "cat", "--json").answer["read"]["pinned"] is True
    assert with_three("unpin", "cat", "--json").answer == {"unpinned": ["cat"]}
    assert with_three("get", "cat", "--json").answer["read"]["pinned"] is False
    assert with_three("demote", "tea").code == 0
    demoted = with_three("get", "tea", "--json").answer
    assert (demoted["read"]["pinned"], round(demoted["importance"], 3)) == (False, 0.475)


def test_where_one_id_is_wrong_none_is_changed(with_three: Run) -> None:
    refused = with_three("pin", "tea", "no such id")
    assert (refused.code, refused.out) == (1, "")
    assert with_three("get", "tea", "--json").answer["read"]["pinned"] is False
    assert with_three("forget", "tea", "no such id").code == 1
    assert with_three("get", "tea").code == 0


def test_forget_removes_and_says_what(with_three: Run) -> None:
    with_three("recall", "tea", "-k", "1")
    receipt, *_ = with_three("forget", "tea", "--json").answer
    assert (receipt["id"], receipt["collection"], receipt["log_entries"]) == ("tea", True, 1)
    assert with_three("get", "tea").code == 1
    assert "cat: forgotten" in with_three("forget", "cat").out


def test_prune_can_be_tried_first(with_three: Run, tmp_path: Path) -> None:
    nothing = with_three("prune", "--below", "0.5", "--dry-run", "--json").answer
    assert (nothing["ids"], nothing["dry_run"], nothing["kept"]) == ([], True, 3)
    assert with_three("prune", "--below", "0.5", "--archive", str(tmp_path / "gone.jsonl")).code == 0
    assert with_three("prune").code == 2
    assert with_three("prune", "--below", "5").code == 2
