"""Which names are found and told apart, whatever they stand between, and in time that grows no faster than the text?"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive_memory_core.graph.alike_names import may_be_one
from adaptive_memory_core.graph.build import MOST_SENTENCES, build_passage, sentences, split_title
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


WORDS = st.lists(st.text(alphabet="abcdeilmnorstuvx", min_size=1, max_size=9), min_size=1, max_size=4)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("louis xiv", "louis xv"),
        ("world war i", "world war ii"),
        ("apollo 11", "apollo 12"),
        ("boeing 737", "boeing 747"),
        ("1 october 1914", "1 october 1915"),
        ("20 june", "20 july"),
        ("j smith", "john smith"),
        ("george bush", "george w bush"),
        ("a b smith", "a c smith"),
        ("north korea", "south korea"),
        ("eastern conference", "western conference"),
        ("prince albert", "princess albert"),
        ("thirteenth amendment", "fourteenth amendment"),
        ("fiftieth street", "sixtieth street"),
        ("dreizehnter bezirk", "vierzehnter bezirk"),
        ("treizième arrondissement", "seizième arrondissement"),
        ("northampton", "southampton"),
        ("westbahnhof", "ostbahnhof"),
        ("melbourne", "university of melbourne"),
        ("anna smith", "hanna jones"),
        ("iran", "iraq"),
        ("東京都庁", "京都府庁"),
        ("第1師団本部", "第2師団本部"),
        ("of the", "of they"),
        ("", "john smith"),
    ],
)
def test_these_are_two(one: str, other: str) -> None:
    assert not may_be_one(one, other)
    assert not may_be_one(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Jon Smith", "John Smith"),
        ("Universidad de Salamanca", "University of Salamanca"),
        ("Los Angeles Dogers", "Los Angeles Dodgers"),
        ("Louis XIV of Frankrijk", "Louis XIV of Frankreich"),
        ("Olympic Winter Games", "Winter Olympics Game"),
        ("Gorbachov", "Gorbachev"),
        ("Northhampton", "Northampton"),
        ("Wesminster Abbey", "Westminster Abbey"),
    ],
)
def test_these_may_be_one(one: str, other: str) -> None:
    assert may_be_one(normalised_name(one), normalised_name(other))


@given(WORDS, WORDS)
def test_it_is_the_same_both_ways_and_never_of_itself(left: list[str], right: list[str]) -> None:
    one, other = " ".join(left), " ".join(right)
    assert not may_be_one(one, one)
    assert may_be_one(one, other) == may_be_one(other, one)


@given(WORDS, st.integers(0, 9999), st.integers(0, 9999))
def test_another_number_is_always_another_name(words: list[str], first: int, second: int) -> None:
    name = " ".join(words)
    if first != second:
        assert not may_be_one(f"{name} {first}", f"{name} {second}")


TEXTS: dict[str, Callable[[int], str]] = {
    "blanks amid a line": lambda size: "x" + " " * size + "y",
    "blanks before a line": lambda size: " " * size + "xy",
    "signs of a heading": lambda size: "x" + "#" * size + "y",
    "sentences": lambda size: "It rained. " * (size // 11),
    "short forms": lambda size: "Mr. " * (size // 4),
    "numbers": lambda size: "12. A " * (size // 6),
    "short sentences": lambda size: "Ab c. " * (size // 6),
    "one long name": lambda size: "Name of the " * (size // 12),
    "names": lambda size: " ".join(f"Name{number}" for number in range(size // 9)),
    "quotes": lambda size: '"a ' * (size // 3),
    "brackets": lambda size: "(" * size,
    "stops and blanks": lambda size: ". " + " " * size + "(" * size,
}
SIZE = 8_000


def seconds(text: str) -> float:
    """The least of three tries, in the thread's own time."""

    def once() -> float:
        began = time.thread_time()
        build_passage(text, None, lambda _: set())
        return time.thread_time() - began

    return min(once() for _ in range(3))


@pytest.mark.parametrize("kind", TEXTS)
def test_a_text_of_four_times_the_length_takes_no_more_than_a_multiple(kind: str) -> None:
    small, large = seconds(TEXTS[kind](SIZE)), seconds(TEXTS[kind](4 * SIZE))
    assert large < 10 * small + 0.02  # what grows as the square takes 16 times as long


def test_a_text_of_too_many_sentences_keeps_the_rest_in_its_last_one() -> None:
    found = sentences("It rained. " * (MOST_SENTENCES + 100))
    assert len(found) == MOST_SENTENCES
    assert found[-1].count("rained") == 101


@pytest.mark.parametrize(
    ("text", "title", "body"),
    [
        ("# Rome #\n\n\nIt is old.", "Rome", "It is old."),
        ("  Rome  \n  It is old.", "Rome", "  It is old."),
        ("Rome\n", "Rome", ""),
        ("Rome is old.\nIt lies there.", None, "Rome is old.\nIt lies there."),
        ("\n", None, "\n"),
    ],
)
def test_a_heading_is_the_first_line_that_ends_no_sentence(text: str, title: str | None, body: str) -> None:
    assert split_title(text, None) == (title, body)


def test_short_forms_and_numbers_of_lines_end_no_sentence() -> None:
    text = '12. Then Mr. Smith met Gen. Lee. "He said so in Jan." Then 5. Nobody knew.'
    assert sentences(text) == ["12. Then Mr. Smith met Gen. Lee.", '"He said so in Jan."', "Then 5.", "Nobody knew."]
