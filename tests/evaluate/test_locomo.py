"""Is LoCoMo's own file read as it is meant: turns, images, sloppy evidence, and questions with a wrong premise?"""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.evaluate.datasets import read_locomo
from tests.evaluate.published_files import LOCOMO, written


def test_turns_have_their_session_order_time_and_image(tmp_path: Path) -> None:
    data = read_locomo(written(tmp_path, "locomo10.json", LOCOMO))
    assert [(item.id, item.session, item.seq) for item in data.items] == [
        *(("conv-1:D1:1", "session_1", 0), ("conv-1:D1:2", "session_1", 1)),
        *(("conv-1:D2:1", "session_2", 2), ("conv-1:D2:2", "session_2", 3)),
    ]
    assert data.items[0].ts == 1_683_554_160.0
    assert data.items[1].said == "Ben: Look! [shared image: a photo of a blue bowl]"


def test_evidence_is_read_as_it_is_meant_and_wrong_premises_are_not_answerable(tmp_path: Path) -> None:
    data = read_locomo(written(tmp_path, "locomo10.json", LOCOMO))
    assert [question.gold_ids for question in data.questions] == [
        *(("conv-1:D1:1",), ("conv-1:D2:1", "conv-1:D1:2"), (), ("conv-1:D2:1",))
    ]
    assert [question.id for question in data.scorable] == ["conv-1:q0", "conv-1:q1"]
    assert (data.questions[2].answer, data.questions[3].more["adversarial_answer"]) == ("2022", "fun")


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"qa": None}, "the qa None"),
        ({"qa": [{"question": "?"}]}, "question 0 has the category None"),
        ({"conversation": {"session_1": [], "session_1_date_time": "May"}}, "'May' is not a time as in LoCoMo"),
        ({"conversation": {"session_1_date_time": "1:56 pm on 8 May, 2023", "session_1": [{}]}}, "the dia_id None"),
    ],
)
def test_what_is_not_in_its_format_is_named(tmp_path: Path, change: dict[str, Any], complaint: str) -> None:
    rows = copy.deepcopy(LOCOMO)
    rows[0] |= change
    with pytest.raises(InvalidInputError, match=complaint):
        read_locomo(written(tmp_path, "locomo10.json", rows))
