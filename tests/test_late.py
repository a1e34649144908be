"""Is what is loaded late the same as what would be loaded at once?"""

from __future__ import annotations

import gc
import re
import sys
from pathlib import Path

import pytest

from adaptive_memory_core.late import PATTERN_METHODS, late_pattern, loaded


def test_a_late_pattern_finds_what_the_pattern_finds() -> None:
    source, text = r"(?P<day>\d+)\. may", "from 3. May to 12. MAY"
    late, pattern = late_pattern(source, re.IGNORECASE), re.compile(source, re.IGNORECASE)
    assert [one["day"] for one in late.finditer(text)] == ["3", "12"]
    assert late.groupindex == pattern.groupindex
    assert late.sub("-", text) == pattern.sub("-", text) == "from - to -"
    assert late.flags == pattern.flags


def test_it_is_compiled_once_and_at_its_first_use(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []
    real = re.compile

    def counted(source: str, flags: int) -> re.Pattern[str]:
        compiled.append(source)
        return real(source, flags)

    monkeypatch.setattr(re, "compile", counted)
    late = late_pattern("tea|coffee")
    assert compiled == []
    for name in PATTERN_METHODS:
        getattr(late, name)
    assert compiled == ["tea|coffee"]


@pytest.mark.parametrize("collects", [True, False])
def test_loading_a_module_leaves_the_garbage_collector_as_it_was(
    collects: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "told_late.py").write_text("import gc\nduring = gc.isenabled()\n")
    (tmp_path / "broken_late.py").write_text("raise ValueError('no')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "told_late", raising=False)
    try:
        gc.enable() if collects else gc.disable()
        assert loaded("told_late", "during") is False
        assert gc.isenabled() is collects
        with pytest.raises(ValueError, match="no"):
            loaded("broken_late", "anything")
        assert gc.isenabled() is collects
    finally:
        gc.enable()
