"""Are the words of a text those that somebody will ask for?"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive_memory_core.channels.words.words_of_text import words


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        ("we deployed it", "the deployment"),
        ("Her cat's name", "cats"),
        ("raised ERR_CONN_RESET again", "err_conn_reset"),
        ("see net.http_client.send()", "http_client"),
        ("the getUserName call", "user name"),
        ("open /etc/hosts.allow", "/etc/hosts.allow"),
        ("version v1.2.3 is out", "v1.2.3"),
        ("write to ana@example.org", "ana@example.org"),
        ("東京都に住んでいる", "東京"),
        ("Die Straße nach Köln", "köln"),
    ],
)
def test_what_is_asked_for_is_among_the_words_that_were_stored(stored: str, asked: str) -> None:
    assert set(words(asked)) & set(words(stored))


def test_a_code_is_found_as_a_whole_and_not_only_by_its_parts() -> None:
    assert "e-42-x" in words("failed with E-42-X")
    assert "e-42-x" not in words("failed with E, 42 and X")


def test_the_commonest_words_say_nothing() -> None:
    assert words("what is it that they were doing with this") == []


@given(st.text(max_size=200))
def test_any_text_has_words_or_none_and_never_blank_ones(text: str) -> None:
    assert all(word.strip() for word in words(text))
