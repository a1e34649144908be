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
    tried = with_three("prune", "--max-records", "1", "--dry-run")
    assert (tried.code, tried.out.splitlines()[0]) == (0, "2 records would be removed, 1 kept")
    assert len(tried.out.splitlines()) == 3
    assert with_three("stats", "--json").answer["records"] == 3


def test_prune_removes_nothing_unasked_where_nobody_can_be_asked(with_three: Run, tmp_path: Path) -> None:
    refused = with_three("prune", "--max-records", "1")
    assert (refused.code, refused.out) == (2, "")
    assert "2 records would be removed, and nobody can be asked" in refused.err
    assert "--yes" in refused.err
    assert with_three("stats", "--json").answer["records"] == 3
    removed = with_three("prune", "--max-records", "1", "--yes", "--archive", str(tmp_path / "gone.jsonl"))
    assert (removed.code, removed.out.splitlines()[0]) == (0, "2 records removed, 1 kept")
    assert len((tmp_path / "gone.jsonl").read_text().splitlines()) == 2


def test_prune_shows_ten_records_and_counts_the_others(with_three: Run) -> None:
    lines = "\n".join(f"a note about matter {one}" for one in range(12))
    assert with_three("import", "--lines", "-", stdin=lines).code == 0
    shown = with_three("prune", "--max-records", "1", "--dry-run").out.splitlines()
    assert (shown[0], len(shown), shown[-1]) == ("14 records would be removed, 1 kept", 12, "and 4 more")
    assert len(with_three("prune", "--max-records", "1", "--dry-run", "--json").answer["ids"]) == 14
