"""Does "yesterday" get the day it meant in German, French, Spanish and Chinese as well?"""

from __future__ import annotations

import pytest

from adaptive_memory_core.context.entries import resolved

SAID_AT = 1_683_849_600.0  # 12 May 2023


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("Gestern sah ich sie.", "Gestern (2023-05-11) sah ich sie."),
        ("Das war letztes Jahr, am 3. Mai 2021 nicht.", "Das war letztes Jahr (2022), am 3. Mai 2021 nicht."),
        ("Nous l'avons vue hier.", "Nous l'avons vue hier (2023-05-11)."),
        ("La vi ayer en Lisboa.", "La vi ayer (2023-05-11) en Lisboa."),
        ("昨天回来", "昨天 (2023-05-11)回来"),
        ("I saw her yesterday.", "I saw her yesterday (2023-05-11)."),
        ("Nothing of the kind, in May 2021.", "Nothing of the kind, in May 2021."),
    ],
)
def test_words_that_hang_on_the_day_they_were_said_get_a_date(said: str, shown: str) -> None:
    assert resolved(said, SAID_AT) == shown


@pytest.mark.parametrize(
    "said",
    [
        "Der Termin ist am 9. Mai.",
        "Die Sitzung ist am Montag.",
        "Der Umzug ist im Mai.",
        "La réunion est le 9 mai.",
        "La réunion est lundi.",
        "La boda ha sido fijada para el 9 de mayo.",
        "La boda ha sido fijada para el lunes.",
        "婚礼定在5月9日了。",
        "婚礼定在周一了。",
        "The meeting is on Monday, the wedding on 9 May.",
    ],
)
def test_a_day_without_its_year_gets_none_for_it_may_lie_ahead(said: str) -> None:
    assert resolved(said, SAID_AT) == said
