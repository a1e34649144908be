"""Does the shell say what another policy would have retrieved?"""

from __future__ import annotations

from pathlib import Path

from adaptive_memory_core import Policy
from tests.cli.conftest import Run


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
