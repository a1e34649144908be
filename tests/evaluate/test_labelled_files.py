"""Is a folder of labelled data read gzipped or not, and is each wrong line named?"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.evaluate.datasets import read_folder

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
