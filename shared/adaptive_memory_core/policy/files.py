"""How is a policy kept in a file of its own? As JSON in UTF-8, written beside it first and then put in its place."""

from __future__ import annotations

from pathlib import Path

from adaptive_memory_core.errors import PolicyError
from adaptive_memory_core.shown_in_errors import reason, shown
from adaptive_memory_core.whole_file import write_whole


def read_policy(path: str | Path) -> str:
    """The text of the file, or a PolicyError that says what to give."""
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeError, TypeError, ValueError) as error:
        raise PolicyError(
            f"No policy can be read from {shown(path)}: {reason(error)}. Give a file of Policy.save()."
        ) from error


def write_policy(path: str | Path, text: str) -> None:
    """The file has the old text or the new one, whatever happens meanwhile."""
    try:
        write_whole(path, f"{text}\n")
    except (OSError, TypeError, ValueError) as error:
        raise PolicyError(
            f"The policy cannot be written to {shown(path)}: {reason(error)}. Give a file in a directory that is there."
        ) from error
