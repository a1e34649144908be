"""Is it always said whose memory is meant, and where?"""

from __future__ import annotations

import pytest

from tests.cli.conftest import Run

OF_A_USER = [
    ["remember", "tea"],
    ["import", "-"],
    ["recall", "tea"],
    ["explain", "tea"],
    ["get", "tea"],
    ["log"],
    ["stats"],
    ["feedback", "r", "--helpful", "tea"],
    ["pin", "tea"],
    ["unpin", "tea"],
    ["demote", "tea"],
    ["forget", "tea"],
    ["prune", "--below", "0.1"],
    ["export"],
    ["replay"],
]


@pytest.mark.parametrize("command", OF_A_USER, ids=lambda command: command[0])
def test_no_command_forgets_whose_memory_it_is_or_takes_two(command: list[str], run: Run) -> None:
    for args, user in ((command, None), ([*command, "--everyone"], "ana"), ([*command, "--user", ""], None)):
        ended = run(*args, user=user, stdin="")
        assert (ended.code, ended.out) == (2, ""), ended
        assert "Traceback" not in ended.err


def test_everyones_records_are_apart_unless_they_are_asked_for(run: Run) -> None:
    assert run("remember", "the office is in Oslo", "--everyone", "--id", "office", "--create", user=None).code == 0
    assert run("recall", "office", "--everyone", user=None).code == 0
    assert run("recall", "office").code == 1
    shared = run("recall", "office", "--over-everyone", "--json").answer["hits"][0]
    assert (shared["id"], shared["shared"]) == ("office", "everyone")
    assert run("recall", "office", "--everyone", "--over-everyone", user=None).code == 2


def test_options_of_all_commands_may_stand_anywhere(with_three: Run) -> None:
    first = with_three("--json", "recall", "tea", "--look", user=None, stdin=None)
    assert first.code == 2
    behind = with_three("recall", "tea", "--look", "--user=ana", "--json", user=None)
    assert behind.answer["hits"]


def test_a_text_that_looks_like_an_option_can_be_given(with_three: Run) -> None:
    assert with_three("remember", "--id", "odd", "--", "--json").code == 0
    assert with_three("get", "odd").out.startswith("--json\n")


def test_wrong_embedders_and_paths_are_refused(run: Run) -> None:
    assert run("--embedder", "no.such.module:embed", "init", user=None).code == 2
    assert run("--embedder", "misspelt", "init", user=None).code == 2
