"""Are records written from a shell as they are by the library, and nothing by a slip of the pen?"""

from __future__ import annotations

import json
from pathlib import Path

import chromadb

from tests.cli.conftest import Run
from tests.conftest import word_vectors


def test_a_memory_is_made_by_init_and_by_nothing_else(run: Run, place: Path) -> None:
    refused = run("remember", "tea")
    assert (refused.code, refused.out) == (2, "")
    assert "There is no memory in" in refused.err
    assert not place.exists()
    assert run("init", user=None).code == 0
    assert run("init", user=None).code == 0
    missing = run("--collection", "misspelt", "stats")
    assert missing.code == 2
    assert "'memories'" in missing.err
    assert [one.name for one in chromadb.PersistentClient(str(place)).list_collections()] == ["memories"]


def test_an_empty_file_in_the_place_of_chromas_is_no_memory(run: Run, place: Path) -> None:
    place.mkdir()
    (place / "chroma.sqlite3").touch()
    refused = run("remember", "tea")
    assert (refused.code, refused.out) == (2, "")
    assert "there is none" in refused.err
    assert (place / "chroma.sqlite3").stat().st_size == 0


def test_remember_prints_the_id_and_keeps_all_that_was_given(run: Run) -> None:
    given = [
        "--id",
        "db",
        "--importance",
        "0.9",
        "--kind",
        "fact",
        "--created-at",
        "2026-03-02",
        "--metadata",
        '{"a": 1}',
    ]
    assert run("remember", "PostgreSQL it is", *given, "--create").out == "db\n"
    told = run("get", "db", "--json").answer
    assert (told["text"], told["importance"], told["kind"], told["metadata"]) == (
        "PostgreSQL it is",
        0.9,
        "fact",
        {"a": 1},
    )
    assert told["created_at"] == 1_772_409_600.0
    new = run("remember", "-", "--json", stdin="from a pipe\n").answer["id"]
    assert run("get", new, "--json").answer["text"] == "from a pipe"
    assert run("remember", "MySQL it is", "--id", "db2", "--supersedes", "db").code == 0
    assert [one["id"] for one in run("recall", "it is", "-k", "1", "--json").answer["hits"]] == ["db2"]


def test_what_is_remembered_and_messages_that_are_imported_have_themes(run: Run, tmp_path: Path) -> None:
    assert run("remember", "Ana adopted a beagle puppy.", "--create").code == 0
    assert run("remember", "Ana's beagle puppy chews shoes.", "--kind", "fact").code == 0
    said = [{"speaker": "Ana", "text": "The billing server failed.", "session": "work", "at": 1_760_000_000.0}]
    (tmp_path / "said.jsonl").write_text("\n".join(json.dumps(one) for one in [*said, "Ana's desk is red."]))
    assert len(run("import", str(tmp_path / "said.jsonl"), "--json").answer["ids"]) == 2
    found = run("themes", "--json").answer
    assert any("puppy" in one["name"] for one in found)
    known = {each["text"] for one in found for each in one["known"]}
    assert any("puppy chews shoes" in text for text in known)
    assert any("billing server failed" in text for text in known)
    assert not any("desk" in text for text in known)
    assert "puppy" in run("themes").out


def test_wrong_arguments_store_nothing(run: Run) -> None:
    assert run("init", user=None).code == 0
    for wrong in (
        ["--importance", "7"],
        ["--metadata", "[1]"],
        ["--metadata", "{"],
        ["--created-at", "yesterday"],
        ["--no-such-option"],
    ):
        ended = run("remember", "tea", *wrong)
        assert (ended.code, ended.out) == (2, ""), wrong
        assert "Traceback" not in ended.err
    assert run("stats", "--json").answer["records"] == 0


def test_an_import_checks_all_lines_before_it_writes_one(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "records.jsonl"
    file.write_text('"a text alone"\n\n{"text": "tea", "id": "tea"}\n{"txt": "misspelt"}\n')
    refused = run("import", str(file), "--create")
    assert refused.code == 2
    assert "Line 4 of" in refused.err
    file.write_text('"a text alone"\n{"text": "tea", "id": "tea"}\n')
    assert len(run("import", str(file), "--create", "--json").answer["ids"]) == 2
    assert run("import", str(file)).out == "2 records\n"
    assert run("import", str(tmp_path / "none.jsonl")).code == 2
    assert run("import").code == 2


def test_each_line_of_a_text_becomes_a_record(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text('Ana likes tea.\n\n   \n  "quoted" {and} odd  \r\nThe standup is at nine.')
    assert run("import", "--lines", str(file), "--create").out == "3 records\n"
    assert run("get", run("recall", "quoted", "--json").answer["hits"][0]["id"]).out.startswith('"quoted" {and} odd\n')
    assert run("import", "--lines", "-", stdin="one\n\ntwo\n").out == "2 records\n"
    assert run("stats", "--json").answer["records"] == 5
    both = run("import", str(file), "--lines", str(file))
    assert (both.code, "several things" in both.err) == (2, True)
    assert run("import", "--lines", str(tmp_path / "none.txt")).code == 2
    told = run("import", str(file))
    assert (told.code, "--lines FILE" in told.err) == (2, True)


def test_of_an_existing_collection_only_the_users_own_records_are_taken(run: Run, tmp_path: Path) -> None:
    client = chromadb.PersistentClient(str(tmp_path / "theirs"))
    notes = client.create_collection("notes", embedding_function=None)
    texts = ["tea of ana", "tea of bob", "tea of nobody"]
    notes.add(
        ids=["a", "b", "n"],
        documents=texts,
        embeddings=[one.tolist() for one in word_vectors(texts)],
        metadatas=[{"user_id": "ana", "kind": "fact", "own": 1}, {"user_id": "bob"}, {"own": 2}],
    )
    source = ["--from-path", str(tmp_path / "theirs"), "--from-collection", "notes"]
    copied = run("import", *source, "--create", "--json").answer
    assert (copied["ids"], copied["left_out"]) == (["a", "n"], 1)
    told = run("get", "a", "--json").answer
    assert (told["kind"], told["metadata"]) == ("fact", {"own": 1})
    assert run("import", "--from-path", str(tmp_path / "theirs"), "--from-collection", "none").code == 2


def test_a_text_of_any_characters_comes_back_as_it_was(run: Run) -> None:
    text = 'naïve "quotes" 茶 \U0001f375'
    run("remember", text, "--id", "x", "--create")
    assert json.loads(run("recall", "quotes", "--json").out)["hits"][0]["text"] == text


def test_verdicts_are_given_by_the_id_of_a_recall(with_three: Run) -> None:
    made = with_three("recall", "tea cat", "-k", "2", "--json").answer
    hit, other = (one["id"] for one in made["hits"])
    assert with_three("feedback", made["id"], "--helpful", hit, "--unhelpful", other).out == "2 verdicts\n"
    assert with_three("stats", "--json").answer["verdicts"] == 2
    assert with_three("feedback", "no such recall", "--helpful", hit).code == 1


def test_pin_unpin_and_demote(with_three: Run) -> None:
    with_three("recall", "tea", "-k", "1")
    assert with_three("pin", "tea", "cat").out == "tea: pinned\ncat: pinned\n"
    assert with_three("get", "cat", "--json").answer["read"]["pinned"] is True
    assert with_three("unpin", "cat", "--json").answer == {"unpinned": ["cat"]}
    assert with_three("get", "cat", "--json").answer["read"]["pinned"] is False
    assert with_three("demote", "tea").code == 0
    demoted = with_three("get", "tea", "--json").answer
    assert (demoted["read"]["pinned"], round(demoted["importance"], 3)) == (False, 0.475)


def test_where_one_id_is_wrong_none_is_changed(with_three: Run) -> None:
    refused = with_three("pin", "tea", "no such id")
    assert (refused.code, refused.out) == (1, "")
    assert with_three("get", "tea", "--json").answer["read"]["pinned"] is False
    assert with_three("forget", "tea", "no such id").code == 1
    assert with_three("get", "tea").code == 0


def test_forget_removes_and_says_what(with_three: Run) -> None:
    with_three("recall", "tea", "-k", "1")
    receipt, *_ = with_three("forget", "tea", "--json").answer
    assert (receipt["id"], receipt["collection"], receipt["log_entries"]) == ("tea", True, 1)
    assert with_three("get", "tea").code == 1
    assert "cat: forgotten" in with_three("forget", "cat").out


def test_prune_can_be_tried_first(with_three: Run, tmp_path: Path) -> None:
    nothing = with_three("prune", "--below", "0.5", "--dry-run", "--json").answer
    assert (nothing["ids"], nothing["dry_run"], nothing["kept"]) == ([], True, 3)
    assert with_three("prune", "--below", "0.5", "--archive", str(tmp_path / "gone.jsonl")).code == 0
    refused = with_three("prune")
    assert refused.code == 2
    assert "--unread-for 90" in refused.err
    assert with_three("prune", "--below", "5").code == 2
    tried = with_three("prune", "--max-records", "1", "--dry-run")
    assert (tried.code, tried.out.splitlines()[0]) == (0, "2 records would be removed, 1 kept")
    assert len(tried.out.splitlines()) == 3
    assert with_three("stats", "--json").answer["records"] == 3


def test_prune_removes_nothing_unasked_where_nobody_can_be_asked(with_three: Run, tmp_path: Path) -> None:
    refused = with_three("prune", "--max-records", "1")
    assert (refused.code, refused.out) == (2, "")
    assert "2 records would be removed, but nobody can be asked" in refused.err
    assert "--yes" in refused.err
    assert with_three("stats", "--json").answer["records"] == 3
    removed = with_three("prune", "--max-records", "1", "--yes", "--archive", str(tmp_path / "gone.jsonl"))
    assert (removed.code, removed.out.splitlines()[0]) == (0, "2 records removed, 1 kept")
    assert len((tmp_path / "gone.jsonl").read_text().splitlines()) == 2


def test_prune_shows_ten_records_and_counts_the_others(with_three: Run) -> None:
    lines = "\n".join(f"a note about matter {one}" for one in range(12))
    assert with_three("import", "--lines", "-", stdin=lines).code == 0
    shown = with_three("prune", "--max-records", "1", "--dry-run").out.splitlines()
    assert (shown[0], len(shown), shown[-1]) == ("14 records would be removed, 1 kept", 12, "and 4 more")
    assert len(with_three("prune", "--max-records", "1", "--dry-run", "--json").answer["ids"]) == 14
