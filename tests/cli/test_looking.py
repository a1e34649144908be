"""Does the shell see what the library finds: hits, reasons, the log, numbers?"""

from __future__ import annotations

import json

from tests.cli.conftest import Run


def test_recall_prints_hits_and_counts_them_as_read_unless_it_only_looks(with_three: Run) -> None:
    looked = with_three("recall", "green tea", "-k", "1", "--look")
    score, found_id, text = looked.out.strip().split("  ")
    assert (found_id, text) == ("tea", "Ana likes green tea")
    assert 0 < float(score) <= 1
    assert with_three("get", "tea", "--json").answer["read"]["retrieval_count"] == 0
    found = with_three("recall", "green tea", "-k", "1", "--json").answer
    assert [one["id"] for one in found["hits"]] == ["tea"]
    assert sum(found["hits"][0]["parts"].values()) == found["hits"][0]["score"]
    assert with_three("get", "tea", "--json").answer["read"]["retrieval_count"] == 1
    assert with_three("recall", "tea", "--filter", '{"project": "apollo"}').out.split()[1] == "db"
    assert "Ana likes green tea" in with_three("recall", "green tea", "--max-tokens", "200").out


def test_an_empty_answer_is_exit_code_1_and_nothing_on_stdout(with_three: Run) -> None:
    none = with_three("recall", "tea", user="bob")
    assert (none.out, none.code) == ("", 1)
    assert with_three("recall", "tea", "--json", user="bob").answer["hits"] == []
    assert with_three("log", user="eve").code == 1
    assert with_three("get", "no such id").code == 1
    assert with_three("get", "tea", user="bob").code == 1


def test_explain_says_why_and_why_not(with_three: Run) -> None:
    whole = with_three("explain", "green tea", "-k", "1").out
    assert "Ana likes green tea" in whole
    assert "beyond k" in whole
    assert with_three("explain", "green tea", "--id", "tea").out.startswith("tea is hit 1 of 3: score")
    assert "cat was dropped: beyond k; score" in with_three("explain", "green tea", "-k", "1", "--id", "cat").out
    gone = with_three("explain", "green tea", "--id", "no such id")
    assert (gone.code, gone.out) == (1, "")
    told = with_three("explain", "green tea", "-k", "1", "--id", "cat", "--json").answer
    assert told["why"].startswith("cat was dropped")
    assert {one["id"] for one in told["dropped"]} == {"cat", "db"}
    filtered = with_three("explain", "tea", "--id", "tea", "--filter", '{"project": "apollo"}').out
    assert "not among those that pass the filter" in filtered


def test_explain_says_how_far_away_a_record_is_that_was_no_candidate(with_three: Run) -> None:
    lines = "\n".join(f'"green tea number {one}"' for one in range(40))
    assert with_three("import", "-", stdin=lines).code == 0
    assert "cat was not a candidate" in with_three("explain", "green tea number", "--id", "cat").out


def test_explaining_and_looking_count_nothing(with_three: Run) -> None:
    with_three("explain", "tea")
    with_three("explain", "tea", "--id", "cat")
    with_three("recall", "tea", "--look")
    with_three("get", "tea")
    numbers = with_three("stats", "--json").answer
    assert (numbers["records"], numbers["recalls"], numbers["reads"]) == (3, 0, 0)


def test_the_log_has_each_recall_with_its_candidates(with_three: Run) -> None:
    with_three("recall", "green\n tea", "-k", "1")
    made = with_three("recall", "the cat", "-k", "2", "--json").answer["id"]
    lines = with_three("log").out.splitlines()
    assert len(lines) == 2
    assert lines[0].split("  ")[1:] == ["2 of 2", made, "the cat"]
    assert lines[1].endswith("green tea")
    newest, *_ = with_three("log", "--json", "--limit", "1").answer
    assert newest["id"] == made
    assert {one["id"] for one in newest["candidates"]} == {"tea", "cat", "db"}
    assert len(with_three("log", "--containing", "tea").out.splitlines()) >= 1
    assert with_three("log", "--until", "2000-01-01").code == 1
    assert len(with_three("log", "--since", "1h").out.splitlines()) == 2


def test_stats_are_lines_a_person_reads(with_three: Run) -> None:
    with_three("recall", "tea", "-k", "1")
    assert with_three("stats").out.splitlines()[:3] == ["records: 3", "recalls: 1", "reads: 1"]


def test_a_text_does_not_command_the_terminal(with_three: Run) -> None:
    with_three("remember", "evil \x1b[2J\x07 tea", "--id", "evil")
    assert not set(with_three("recall", "evil tea").out) & {"\x1b", "\x07"}
    assert not set(with_three("explain", "evil tea").out) & {"\x1b", "\x07"}
    assert not set(with_three("get", "evil").out) & {"\x1b", "\x07"}


def test_nor_does_it_as_json(with_three: Run) -> None:
    text = "evil \x9b2J\x7f\u202e tea"
    with_three("remember", text, "--id", "evil")
    for command in (["recall", "evil tea", "--json"], ["get", "evil", "--json"], ["export", "--records"]):
        out = with_three(*command).out
        assert not set(out) & {"\x9b", "\x7f", "\u202e"}
        assert "evil \\u009b2J\\u007f\\u202e tea" in out
    assert json.loads(with_three("get", "evil", "--json").out)["text"] == text
    assert not set(with_three("get", "evil").out) & {"\x9b", "\u202e"}
