"""Does a policy survive being written to a file?"""

from __future__ import annotations

from pathlib import Path

import pytest

from adaptive_memory_core import Policy, PolicyError


def test_what_was_saved_is_loaded(tmp_path: Path) -> None:
    policy = Policy.preset("support").replace(decay={"rate": 0.95})
    policy.save(tmp_path / "policy.json")
    policy.save(tmp_path / "policy.json")
    assert Policy.load(str(tmp_path / "policy.json")) == policy
    assert [one.name for one in tmp_path.iterdir()] == ["policy.json"]


def test_what_is_no_policy_is_refused_with_what_to_give(tmp_path: Path) -> None:
    (tmp_path / "torn.json").write_bytes(b'{"half_life_days": \xff')
    for path in (tmp_path / "none.json", tmp_path, tmp_path / "torn.json"):
        with pytest.raises(PolicyError, match=r"Policy\.save"):
            Policy.load(path)
    with pytest.raises(PolicyError, match="cannot be written"):
        Policy().save(tmp_path / "no directory" / "policy.json")
