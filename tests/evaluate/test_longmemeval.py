"""Is LongMemEval's own file read as it is meant: a history for each question, evidence, and what was never said?"""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.evaluate.datasets import read_longmemeval
from tests.evaluate.published_files import LONGMEMEVAL, written


def test_each_question_has_a_history_of_its_own_in_the_order_of_time(tmp_path: Path) -> None:
    data = read_longmemeval(written(tmp_path, "longmemeval_s.json", LONGMEMEVAL))
    own = [item for item in data.items if item.tenant == "q1"]
    assert [(item.session, item.seq, item.speaker) for item in own] == [
        *(("answer_1", 0, "user"), ("answer_1", 1, "assistant"), ("s_tram", 2, "user")),
        *(("s_tram", 3, "assistant"), ("s_late", 4, "user"), ("s_late", 5, "assistant")),
    ]
    assert own[0].ts == 1_684_549_260.0
    first, second, trap = data.questions
    assert [item.text for item in own if item.id in first.gold_ids] == ["I like green tea best."]
    assert (second.answer, len(second.gold_ids), second.more["answer_sessions"]) == ("2", 2, ["answer_2a", "answer_2b"])
    assert not trap.answerable
    assert [one.id for one in data.scorable] == ["q1", "q2"]


def test_a_record_may_be_a_session_or_what_the_user_said_in_it(tmp_path: Path) -> None:
    path = written(tmp_path, "longmemeval_s.json", LONGMEMEVAL)
    whole = read_longmemeval(path, records="session").items[0]
    assert whole.text == "user: I like green tea best.\nassistant: Noted, green tea."
    assert read_longmemeval(path, records="user").items[0].text == "I like green tea best."
    with pytest.raises(InvalidInputError, match="turn, session, user"):
        read_longmemeval(path, records="turns")


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"haystack_dates": ["2023/05/20 (Sat) 02:21"]}, "different lengths"),
        ({"haystack_dates": ["May"] * 3}, "'May' is not a time as in LongMemEval"),
        ({"haystack_sessions": [[{"role": "user"}]] * 3}, "a turn has the content None"),
        ({"answer_session_ids": None}, "the answer_session_ids None"),
        ({"question": 5}, "the question 5"),
    ],
)
def test_what_is_not_in_its_format_is_named(tmp_path: Path, change: dict[str, Any], complaint: str) -> None:
    rows = copy.deepcopy(LONGMEMEVAL[:1])
    rows[0] |= change
    with pytest.raises(InvalidInputError, match=complaint):
        read_longmemeval(written(tmp_path, "s.json", rows))


@pytest.mark.parametrize("content", ["{", "{}", "[]", "[1]"])
def test_another_file_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "s.json"
    path.write_text(content)
    with pytest.raises(InvalidInputError, match=r"Give longmemeval_s.json"):
        read_longmemeval(path)
