"""How is a published text written down? In one line, with one space between words."""

from __future__ import annotations


def one_line(text: str) -> str:
    """The text without line breaks, double spaces and spaces at its ends.

    >>> one_line(" a  b\\nc ")
    'a b c'
    """
    return " ".join(text.split())
