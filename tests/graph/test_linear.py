"""Does the time that a text takes grow no faster than the text? One user's text must not hold up the others'."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from adaptive_memory_core.graph.build import MOST_SENTENCES, build_passage, sentences, split_title

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
