"""Which names are found, whatever they stand between?"""

from __future__ import annotations

from collections.abc import Collection

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive_memory_core.graph.build import build_passage, sentences
from adaptive_memory_core.graph.names import known_names, names_in_sentence, normalised_name


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("I met Anna-Lena in São Paulo.", ["anna lena", "sao paulo"]),
        ("The University of Copenhagen opened.", ["university of copenhagen", "university", "copenhagen"]),
        ("Bosonid Boso the Elder came.", ["bosonid boso the elder", "bosonid boso", "elder"]),
        ("In 1975 nothing happened.", ["1975"]),
        ("Yeah, keep going!", []),
    ],
)
def test_names_by_rule(sentence: str, expected: list[str]) -> None:
    assert names_in_sentence(sentence) == expected


def test_one_name_in_two_spellings_is_one() -> None:
    assert normalised_name("Beyoncé’s") == normalised_name("BEYONCE") == "beyonce"  # noqa: RUF001
    assert normalised_name("J.K. Rowling") == normalised_name("J K Rowling")


def test_a_known_name_is_found_in_lower_case_if_it_has_several_words() -> None:
    there = {"demon algorithm", "demon"}
    assert known_names("how does the demon algorithm work", lambda one: there & set(one)) == ["demon algorithm"]
    assert known_names("a demon", lambda one: there & set(one)) == []
    assert known_names("a demon", lambda one: there & set(one), loose=True) == ["demon"]


def test_function_words_are_a_name_only_where_each_has_a_capital() -> None:
    there = {"what is", "by the", "rome"}
    assert known_names("What is by the gate of Rome?", lambda one: there & set(one)) == ["rome"]
    assert known_names("what is by the gate?", lambda one: there & set(one), loose=True) == []
    assert known_names("Who sang What Is?", lambda one: there & set(one)) == ["what is"]


@given(st.text(max_size=300))
def test_any_text_has_sentences_that_hold_all_of_it(text: str) -> None:
    found = sentences(text)
    assert all(one.strip() == one and one for one in found)
    assert "".join("".join(found).split()) == "".join(text.split())
    assert build_passage(text, text, lambda _: set()).sentences or not text.strip()


def test_a_chinese_title_is_found_in_running_text_and_in_a_question() -> None:
    there = {"北京大学", "北京", "胡适"}

    def known(possible: Collection[str]) -> set[str]:
        return there & set(possible)

    made = build_passage("他后来去了北京大学。校长是胡适。", "蔡元培", known)
    assert [set(one.names) & there for one in made.sentences] == [{"北京大学"}, {"胡适"}]
    assert known_names("胡适在北京大学做什么?", known) == ["胡适", "北京大学"]
