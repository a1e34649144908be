"""Does the shell say how fast recalls are, without changing what is remembered?"""

from __future__ import annotations

from tests.cli.conftest import Run


def test_recalls_are_timed_beside_chromas_query(with_three: Run) -> None:
    found = with_three("bench", "-k", "2")
    assert found.code == 0
    assert found.out.splitlines()[0] == "3 questions over 3 records, k=2, embedding included"
    assert found.out.count("median") == 3
    told = with_three("bench", "--questions", "2", "--json").answer
    assert (told["records"], told["k"], told["recall_ms"]["count"], told["chroma_ms"]["count"]) == (3, 10, 2, 2)
    assert min(told["recall_ms"]["median"], told["chroma_ms"]["median"]) > 0.0
    assert "chromadb" in told["versions"]


def test_nothing_counts_as_read(with_three: Run) -> None:
    assert with_three("bench").code == 0
    assert with_three("stats", "--json").answer["recalls"] == 0


def test_only_the_users_own_records_are_asked_about(with_three: Run) -> None:
    with_three("remember", "Bo likes black coffee", user="bo")
    assert with_three("bench", "--json").answer["records"] == 3


def test_where_nothing_can_be_asked_it_says_what_to_do(with_three: Run) -> None:
    nobody = with_three("bench", user="nobody")
    assert (nobody.code, nobody.out) == (2, "")
    assert "Remember some first" in nobody.err
    assert "Name a user" in with_three("bench", "--everyone", user=None).err
    assert with_three("bench", user=None).code == 2
    assert with_three("bench", "--questions", "0").code == 2
