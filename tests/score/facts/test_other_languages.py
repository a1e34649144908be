"""In other languages than English, is nothing called outdated that may still hold, and what changed still told?"""

from __future__ import annotations

import pytest

from adaptive_memory_core.policy.updates import Updates
from adaptive_memory_core.score.facts.asked import asked
from adaptive_memory_core.score.facts.same_fact import in_same_words
from adaptive_memory_core.score.facts.statement import statement

STILL_HOLDS = [
    ("Luc parle espagnol.", "Luc parle italien.", "Quelle langue parle Luc ?"),
    ("Luc aime le thé.", "Luc aime le café.", "Qu'aime Luc ?"),
    ("Luc possède un bateau.", "Luc possède un camion.", "Que possède Luc ?"),
    ("Luc habla francés.", "Luc habla italiano.", "¿Qué idioma habla Luc?"),
    ("Marta parla tedesco.", "Marta parla russo.", "Che lingua parla Marta?"),
    ("Maria fala alemão.", "Maria fala russo.", "Que língua fala Maria?"),
    ("Jan spreekt Duits.", "Jan spreekt Frans.", "Welke taal spreekt Jan?"),
    ("Anna besöker Rom.", "Anna besöker Oslo.", "Vilken stad besöker Anna?"),
    ("Piotr lubi herbatę.", "Piotr lubi kawę.", "Co lubi Piotr?"),
    ("Анна говорит по-немецки.", "Анна говорит по-французски.", "На каком языке говорит Анна?"),
    ("佐藤さんはお茶が好きです。", "佐藤さんはコーヒーが好きです。", "佐藤さんは何が好きですか"),
    ("Luc a mangé une pizza.", "Luc a mangé une soupe.", "Qu'a mangé Luc ?"),
    ("Luc est allé à Rome.", "Luc est allé à Oslo.", "Où est allé Luc ?"),
    ("Marta ha comprado una silla.", "Marta ha comprado una mesa.", "¿Qué ha comprado Marta?"),
    ("Marta ha comprato una sedia.", "Marta ha comprato un tavolo.", "Cosa ha comprato Marta?"),
    ("Jan heeft een fiets gekocht.", "Jan heeft een auto gekocht.", "Wat heeft Jan gekocht?"),
    ("Анна ездила в Рим.", "Анна ездила в Осло.", "Куда ездила Анна?"),
]
HAS_ONE_VALUE = [
    ("Luc habite à Rome.", "Luc habite à Oslo.", "Où habite Luc ?"),
    ("Marta vive en Roma.", "Marta vive en Oslo.", "¿Dónde vive Marta?"),
    ("Marta abita a Roma.", "Marta abita a Oslo.", "Dove abita Marta?"),
    ("Jan woont in Utrecht.", "Jan woont in Leiden.", "Waar woont Jan?"),
    ("Анна живёт в Риме.", "Анна живёт в Осло.", "Где живёт Анна?"),
    ("Piotr mieszka w Rzymie.", "Piotr mieszka w Oslo.", "Gdzie mieszka Piotr?"),
    ("O médico de Maria é o Dr. Souza.", "O médico de Maria é o Dr. Lima.", "Quem é o médico de Maria?"),
    ("Luc est marié avec Anne.", "Luc est marié avec Zoé.", "Avec qui Luc est-il marié ?"),
    ("她最喜欢的饮料是绿茶。", "她最喜欢的饮料是咖啡。", "她最喜欢的饮料是什么？"),
    ("Le code de la porte est 4711.", "Le code de la porte est 9922.", "Quel est le code de la porte ?"),
]


@pytest.mark.parametrize(
    ("old", "new", "cue", "is_replaced"),
    [
        *[(*statements, False) for statements in STILL_HOLDS],
        *[(*statements, True) for statements in HAS_ONE_VALUE],
    ],
)
def test_only_what_has_one_value_is_replaced_by_a_newer_one(old: str, new: str, cue: str, is_replaced: bool) -> None:
    assert in_same_words(statement(old), statement(new), asked(cue), Updates()) is is_replaced
