"""Pages keep the rules of plain English that a machine can see; tests/test_size.py counts what is left elsewhere."""

from __future__ import annotations

import ast

import pytest

from tests.prose import ROOT, RULES, docstrings, findings, in_pages, messages, paragraphs

WRONG = {
    "0.5, not .5": "a recall of .82",
    "per: 60 reads per user": "after 60 reads a user",
    "is not a, has no": "this is no number",
    "again, rebuild": "it is made anew",
    "depends on": "it hangs on the policy",
    "release, remove": "it lets go of the lock",
    "is calculated, happens": "how a score comes about",
    "finds": "the next recall that comes upon it",
    "your own": "a channel of your own",
    "instead of": "in place of the path",
    "is in, is stored in": "it stands in the ledger",
    "anyone who, or the subject itself": "whoever reads it",
    "anywhere, or if": "wherever it is",
    "next to, in addition to, against": "the file beside it",
    "available": "no model was at hand",
    "reports, warns, stores: software does not tell or know": "what the ledger knows",
    "the usual word": "amid a transaction",
    "If or when, at the start of a sentence": "Where the log is off, a note says so.",
    "no nested parentheses": "the ledger (one file (or a server) for all) is",
}
FINE = [
    "0.82 of 3.10.2 in tests/x.py, *.md and ...",
    "after 60 reads per user, and 3 of a user's records",
    "There is no user; it is no longer there",
    "Where is it?",
    "the score (see `f(x (y))`) is calculated",
    'the word "anew" and the code `in place of`',
]


@pytest.mark.parametrize("rule", RULES)
def test_each_rule_finds_what_it_is_for(rule: str) -> None:
    assert rule in {one.rule for one in findings(ROOT, paragraphs(WRONG[rule]))}


@pytest.mark.parametrize("text", FINE)
def test_plain_english_is_left_alone(text: str) -> None:
    assert list(findings(ROOT, paragraphs(text))) == []


def test_a_phrase_is_found_across_lines_and_code_is_not_looked_at() -> None:
    page = "# A page\n\nThe first line says in place\nof.\n\n```\nmade anew\n```\n"
    assert [(one.line, one.rule) for one in findings(ROOT, paragraphs(page))] == [(3, "instead of")]


def test_docstrings_and_messages_are_looked_at() -> None:
    docstring = '"""Made anew.\n\n    >>> f()\n    (1, (2, 3))\n    """'
    tree = ast.parse(f'def f():\n    {docstring}\n    raise ValueError(f"{{f:.9}} is no number")\n')
    assert [one.text.strip() for one in docstrings(tree)] == ["Made anew."]
    assert [one.text for one in messages(tree)] == [" is no number"]


def test_the_pages_keep_the_rules() -> None:
    assert [str(one) for one in in_pages()] == []
