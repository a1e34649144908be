"""Are files checked, copied, taken along and given other vectors from a shell?"""

from __future__ import annotations

import json
from pathlib import Path

import chromadb
import psycopg
import pytest

from tests.cli.conftest import Run
from tests.postgres_server import empty_database, new_database


def test_flush_writes_reads_into_the_collection(with_three: Run, place: Path) -> None:
    with_three("recall", "tea", "-k", "1")
    flushed = with_three("flush", user=None)
    assert (flushed.code, flushed.out) == (0, "")
    collection = chromadb.PersistentClient(str(place)).get_collection("memories", embedding_function=None)
    metadata = collection.get(ids=["tea"])["metadatas"]
    assert metadata is not None
    assert metadata[0]["retrieval_count"] == 1


def test_check_needs_no_user_and_its_code_tells(with_three: Run, place: Path) -> None:
    assert with_three("check", user=None).out == "Nothing is wrong.\n"
    assert with_three("check", "--json", user=None).answer == {"ok": True, "findings": []}
    with_three("recall", "tea")
    ledger = place / "adaptive_memory.sqlite3"
    ledger.write_bytes(b"no database at all" * 1_000)
    torn = with_three("check", user=None)
    assert (torn.code, torn.out) == (3, "")
    assert "Traceback" not in torn.err


def test_a_backup_is_a_memory(with_three: Run, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    assert with_three("backup", str(copy), user=None).out == f"{copy}\n"
    assert with_three("--path", str(copy), "get", "tea").code == 0
    assert with_three("backup", str(copy), user=None).code in (2, 3)


def test_what_was_learned_and_the_records_are_taken_along(with_three: Run, tmp_path: Path) -> None:
    with_three("recall", "tea", "-k", "1")
    learned, records, other = tmp_path / "learned.json", tmp_path / "records.jsonl", str(tmp_path / "other")
    assert with_three("export", str(learned)).out == f"{learned}\n"
    assert with_three("export", str(records), "--records").code == 0
    assert with_three("export", str(learned)).code == 2
    assert with_three("export", str(learned), "--force").code == 0
    assert {json.loads(line)["id"] for line in records.read_text().splitlines()} == {"tea", "cat", "db"}
    assert with_three("export", "--records").out == records.read_text()
    assert with_three("--path", other, "import", str(records), "--create").out == "3 records\n"
    assert with_three("--path", other, "restore", str(learned)).out == "1 records\n"
    assert with_three("--path", other, "get", "tea", "--json").answer["read"]["retrieval_count"] == 1
    assert with_three("restore", str(records)).code == 2
    assert with_three("restore", str(tmp_path / "none")).code == 2


def test_reembed_gives_vectors_of_another_embedder(with_three: Run) -> None:
    assert with_three("reembed", "--to", "tests.cli.test_upkeep:letters", user=None).code == 0
    wrong = with_three("recall", "tea")
    assert wrong.code == 2
    assert "embedder" in wrong.err
    assert with_three("recall", "tea", "--embedder", "tests.cli.test_upkeep:letters").code == 0
    assert with_three("reembed", "--to", "nowhere:embed", user=None).code == 2


def letters(texts: list[str]) -> list[list[float]]:
    return [[float(1 + text.lower().count(letter)) for letter in "aeiourst"] for text in texts]


@pytest.mark.hard("PostgreSQL")
def test_the_tables_of_a_ledger_on_a_server_are_created_once(run: Run) -> None:
    create = ("create-tables", "--ledger", empty_database())
    assert "CREATE TABLE adaptive_memory.records" in run(*create, "--dry-run", user=None).out
    first = run(*create, "--json", user=None)
    assert (first.code, first.answer) == (0, {"created": True})
    assert run(*create, user=None).out == "the tables were there already\n"
    assert run(*create, "--dry-run", user=None).out == ""


@pytest.mark.hard("PostgreSQL")
def test_the_sql_for_row_level_security_is_printed_as_psql_takes_it(run: Run) -> None:
    printed = run("row-level-security", user=None).out
    with psycopg.connect(new_database(), autocommit=True) as owner:
        owner.execute(printed)
        assert owner.execute("SELECT relrowsecurity FROM pg_class WHERE relname = 'records'").fetchone() == (True,)


@pytest.mark.hard("PostgreSQL")
def test_a_ledger_is_moved_to_a_server(with_three: Run, place: Path) -> None:
    file, address = str(place / "adaptive_memory.sqlite3"), empty_database()
    moved = with_three("move-ledger", "--from", file, "--to", address, "--json", user=None)
    assert (moved.code, moved.answer["rows"] > 0) == (0, True)
    assert with_three("move-ledger", "--from", file, "--to", address, user=None).code == 2
    assert with_three("move-ledger", "--from", f"{file}.none", "--to", address, user=None).code == 2
