"""Is the list of long files true?"""

from __future__ import annotations

from tests.longest_first import ROOT, SECONDS


def test_every_file_that_is_said_to_be_long_exists() -> None:
    assert [one for one in SECONDS if not (ROOT / one).exists()] == []
