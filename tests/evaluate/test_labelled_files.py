"""Are folders of labelled data and the published files of LoCoMo and LongMemEval read as meant, each fault named?"""

from __future__ import annotations

import copy
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.evaluate.datasets import read_folder, read_locomo, read_longmemeval
from tests.evaluate.published_files import LOCOMO, LONGMEMEVAL, written

ITEM: dict[str, Any] = {"id": "tea", "text": "green tea", "mood": "calm"}
ASKED: dict[str, Any] = {"id": "q", "query": "which tea?", "gold_ids": ["tea"], "ts": "1970-01-02"}


def folder(place: Path, item: object = ITEM, asked: object = ASKED, *, zipped: bool = False) -> Path:
    for name, row in (("corpus", item), ("queries", asked)):
        line = f"{json.dumps(row)}\n".encode()
        ending, content = (".gz", gzip.compress(line)) if zipped else ("", line)
        (place / f"{name}.jsonl{ending}").write_bytes(content)
    return place


@pytest.mark.parametrize("zipped", [True, False])
def test_a_folder_is_read_gzipped_or_not(tmp_path: Path, zipped: bool) -> None:
    data = read_folder(folder(tmp_path, zipped=zipped), "tiny")
    assert (data.name, data.items[0].more, data.questions[0].ts) == ("tiny", {"mood": "calm"}, 86_400.0)
    assert read_folder(tmp_path).name == tmp_path.name


@pytest.mark.parametrize(
    ("item", "asked", "complaint"),
    [
        ({"id": 5, "text": "x"}, ASKED, "the id 5"),
        ({"id": "tea", "text": None}, ASKED, "the text None"),
        (ITEM, {**ASKED, "gold_ids": "tea"}, "the gold_ids 'tea'"),
        (ITEM, {**ASKED, "gold_ids": [5]}, r"the gold_ids \[5\]"),
        (ITEM, {**ASKED, "ts": "May"}, "the ts 'May'"),
        (ITEM, {**ASKED, "gold_ids": ["coffee"]}, "is not in the corpus"),
        (3, ASKED, "line 1, is not a JSON object"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, item: object, asked: object, complaint: str) -> None:
    with pytest.raises(InvalidInputError, match=complaint):
        read_folder(folder(tmp_path, item, asked))


def test_a_missing_folder_or_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="There is no folder"):
        read_folder(tmp_path / "none")
    with pytest.raises(InvalidInputError, match=r"corpus.jsonl.gz does not exist"):
        read_folder(tmp_path)


def test_turns_have_their_session_order_time_and_image(tmp_path: Path) -> None:
    data = read_locomo(written(tmp_path, "locomo10.json", LOCOMO))
    assert [(item.id, item.session, item.seq) for item in data.items] == [
        *(("conv-1:D1:1", "session_1", 0), ("conv-1:D1:2", "session_1", 1)),
        *(("conv-1:D2:1", "session_2", 2), ("conv-1:D2:2", "session_2", 3)),
    ]
    assert data.items[0].ts == 1_683_554_160.0
    assert data.items[1].labelled_text == "Ben: Look! [shared image: a photo of a blue bowl]"


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
def test_what_is_not_in_longmemevals_format_is_named(tmp_path: Path, change: dict[str, Any], complaint: str) -> None:
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
