"""Does a page go only where one can be, and is anything else a clear error?"""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.pages.markup import MADE_BY
from adaptive_memory_core.store.output_files import check_page_file, write_page


@pytest.mark.parametrize("name", ["a\0b.html", "\ud800.html", "a" * 300, "a" * 250 + ".html"])
def test_a_name_that_no_file_can_have_is_wrong_usage(name: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="Give"):
        write_page(check_page_file(tmp_path / name), "a page")
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(os.name != "posix", reason="modes of POSIX")
def test_a_page_that_was_closed_to_others_stays_so(tmp_path: Path) -> None:
    page = tmp_path / "ana.html"
    page.write_text(f"<!-- {MADE_BY} -->")
    page.chmod(0o600)
    write_page(check_page_file(page), f"{MADE_BY} anew")
    assert stat.S_IMODE(page.stat().st_mode) == 0o600
