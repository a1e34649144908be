"""Do commands that only ask leave Chroma alone, and do they miss nothing by that?"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from adaptive_memory_core.store.held_elsewhere import MOST_STATES
from tests.cli.conftest import command

LOADED = (
    "import sys; from adaptive_memory_core.cli.app import app\n"
    "try: app()\n"
    "finally: print('chromadb' in sys.modules, file=sys.stderr)"
)
Asked = Callable[..., Any]


@pytest.fixture
def asked(tmp_path: Path) -> Asked:
    """The answer to a command of Ana's, and whether Chroma was loaded for it."""
    common = ["--path", str(tmp_path / "memory"), "--user", "ana"]  # the tests' embedder loads Chroma
    lines = [json.dumps({"id": f"n{one}", "text": f"green tea number {one}"}) for one in range(MOST_STATES + 20)]
    assert command(*common, "import", "-", "--create", stdin="\n".join(lines)).returncode == 0

    def ask(*args: str) -> tuple[Any, bool]:
        ended = command(*common, *args, "--json", program=[sys.executable, "-c", LOADED])
        assert ended.returncode == 0, ended.stderr
        return json.loads(ended.stdout), ended.stderr.splitlines()[-1] == "True"

    return ask


def in_chroma(place: Path, call: str) -> str:
    """What another program does with the collection."""
    program = f"""
import chromadb
from adaptive_memory_core import LocalEmbedder
notes = chromadb.PersistentClient({str(place)!r}).get_collection("memories", embedding_function=None)
vector = lambda text: [LocalEmbedder()([text])[0].tolist()]
print({call})
"""
    ended = command(program=[sys.executable, "-c", program])
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.mark.hard("processes")
@pytest.mark.parametrize("name", ["recall", "explain"])
def test_a_question_is_answered_from_the_ledger_alone(name: str, asked: Asked) -> None:
    found, loaded = asked(name, "tea number 7", "-k", "1")
    assert ([one["id"] for one in found["hits"]], loaded) == (["n7"], False)
    assert asked("get", "n7")[0]["read"]["retrieval_count"] == (1 if name == "recall" else 0)
    assert [asked(*one)[1] for one in (["log"] if name == "recall" else ["stats"],)] == [False]


@pytest.mark.hard("processes")
def test_what_others_have_written_is_found(asked: Asked, tmp_path: Path) -> None:
    meta = "metadatas=[{'user_id': 'ana'}]"
    text = "the cello is at the repair shop"
    in_chroma(
        tmp_path / "memory", f"notes.add(ids=['cello'], documents=[{text!r}], embeddings=vector({text!r}), {meta})"
    )
    found, loaded = asked("recall", "cello repair", "-k", "1")
    assert ([one["id"] for one in found["hits"]], loaded) == (["cello"], True)
    assert asked("recall", "cello repair", "-k", "1")[1] is False
    in_chroma(tmp_path / "memory", "notes.delete(ids=['cello'])")
    found, loaded = asked("recall", "cello repair", "-k", "1", "--min-score", "0")
    assert ([one["id"] for one in found["hits"]] != ["cello"], loaded) == (True, True)


@pytest.mark.hard("processes")
def test_reads_are_shown_to_others_by_flush_or_once_there_are_many(asked: Asked, tmp_path: Path) -> None:
    assert asked("recall", "tea number 7", "-k", "1")[1] is False
    shown = "notes.get(where={'retrieval_count': 1})['ids']"
    assert in_chroma(tmp_path / "memory", shown) == "[]\n"
    asked("flush")
    assert in_chroma(tmp_path / "memory", shown) == "['n7']\n"
    assert asked("recall", "green tea", "-k", str(MOST_STATES + 10), "--min-score", "0")[1] is False
    assert asked("recall", "green tea", "-k", "1")[1] is True
    assert in_chroma(tmp_path / "memory", f"len({shown})") == f"{MOST_STATES + 10}\n"
