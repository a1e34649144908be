"""A text that first says since when, or that something changed, is compared from its point on."""

from __future__ import annotations

import pytest

from adaptive_memory_core.score.facts.openings import without_opening
from tests.score.facts.test_versions import newest, untouched


@pytest.mark.parametrize(
    ("cue", "old", "new"),
    [
        ("what does the Gold tier cost?", "The Gold tier is $9 a month.", "As of June the Gold tier is $11 a month."),
        ("when does the shop close?", "The shop closes at 6.", "From Tuesday the shop closes at 8."),
        ("where is the picnic?", "The picnic is in Hyde Park.", "They changed the place: the picnic is in Kew."),
        ("what is the door code?", "The door code is 1234.", "Security reset it, the door code is 9876."),
        ("who is Ida's boss?", "Ida's boss is Karl.", "Karl left, so Ida reports to Nele."),
        ("is the sauna on?", "The sauna is on.", "The sauna is off until November."),
        (
            "which Postgres version is in production?",
            "Postgres 12 is in production.",
            "We bumped Postgres in production to 15.",
        ),
        ("who owns the boat?", "The boat belongs to the Hubers.", "The Hubers sold the boat to Rita Meier."),
        ("how old is Tim?", "Tim is 4 years old.", "Tim turned 5 on Monday."),
        (
            "which database is in production?",
            "Production is on MySQL 5.",
            "Production DB was upgraded to MySQL 8, no issues.",
        ),
    ],
)
def test_what_comes_before_the_point_hides_no_newer_version(cue: str, old: str, new: str) -> None:
    assert newest(cue, old, new) == new


@pytest.mark.parametrize(
    ("cue", "old", "new"),
    [
        ("what does the Gold tier cost?", "The Gold tier is $9 a month.", "As of June the Silver tier is $7 a month."),
        ("where is the picnic?", "The picnic is in Hyde Park.", "They changed the date: the meeting is in Kew."),
        ("who owns the boat?", "The boat belongs to the Hubers.", "The Hubers sold the boat trailer to Rita Meier."),
        ("is the sauna on?", "The sauna is on.", "The oven is off until November."),
        ("how old is Tim?", "Tim is 4 years old.", "Tim's rabbit turned 5."),
        ("where does Ilse live?", "Ilse lives in Oslo.", "Ilse found a new place for lunch in Turin."),
        ("what does Uwe study?", "Uwe studies law in Bonn.", "Uwe dropped his keys and called Anna."),
    ],
)
def test_what_is_of_something_else_stays_where_it_is(cue: str, old: str, new: str) -> None:
    assert untouched(cue, old, new)


@pytest.mark.parametrize(
    "text",
    [
        "At the lake house, the door code is 9876.",
        "Since Bonn is far, we went by train.",
        "From London the train takes two hours.",
        "Ana: my cat is black.",
        "Budget: the sum is 500.",
        "",
        "From Monday",
    ],
)
def test_what_is_no_such_opening_is_left(text: str) -> None:
    assert without_opening(text) == text
