"""How is a memory block cut to size? Whole memories are left out, so that its marks still close."""

from __future__ import annotations

from itertools import pairwise
from typing import Literal

from adaptive_memory_core.context.clean import estimated_tokens

BlockStyle = Literal["text", "xml"]
_ENTRIES = ("<memory", "<beside", "<in_brief", "<did_not_fit")


def shortened(content: str, style: BlockStyle, tokens: int) -> str | None:
    """The content less at least so many tokens, in whole memories from the end; None where none would be left.

    >>> shortened("heading\\n- best\\n- second", "text", 1)
    'heading\\n- best'
    >>> shortened("<all>\\n<memory>best</memory>\\n<memory>second</memory>\\n</all>", "xml", 1)
    '<all>\\n<memory>best</memory>\\n</all>'
    """
    lines, saved = content.split("\n"), 0
    while saved < tokens:
        last = _last_entry(lines, style)
        if last is None:
            return None
        saved += estimated_tokens(lines.pop(last) + "\n")
        if style == "xml":
            lines = _without_empty(lines)
    return "\n".join(lines) if _last_entry(lines, style) is not None else None


def _last_entry(lines: list[str], style: BlockStyle) -> int | None:
    """Which line holds the last memory; the first line of a text is its heading."""
    if style == "text":
        return len(lines) - 1 if len(lines) > 1 else None
    entries = [number for number, line in enumerate(lines) if line.startswith(_ENTRIES)]
    return entries[-1] if entries else None


def _without_empty(lines: list[str]) -> list[str]:
    """Less the conversations of which every turn has gone."""
    empty = {
        number
        for number, (one, other) in enumerate(pairwise(lines))
        if one.startswith("<conversation") and other == "</conversation>"
    }
    return [line for number, line in enumerate(lines) if number not in empty and number - 1 not in empty]
