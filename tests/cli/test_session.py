"""Is it always said whose memory is meant, and where?"""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from adaptive_memory_core.cli.app import app
from tests.cli.conftest import EMBEDDER, Run

OF_A_USER = (
    "remember tea, import -, recall tea, explain tea, get tea, log, stats, feedback r --helpful tea, pin tea, "
    "unpin tea, demote tea, forget tea, prune --below 0.1, export, replay"
)


@pytest.mark.parametrize("given", OF_A_USER.split(", "))
def test_no_command_forgets_whose_memory_it_is_or_takes_two(given: str, run: Run) -> None:
    command = given.split()
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


def test_path_and_user_may_be_in_the_environment(with_three: Run, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADAPTIVE_MEMORY_PATH", str(place))
    monkeypatch.setenv("ADAPTIVE_MEMORY_USER", "ana")
    assert ask("recall", "tea", "--look") == 0
    assert ask("--user", "bob", "recall", "tea", "--look") == 1  # what is typed holds
    assert ask("--everyone", "recall", "tea", "--look") == 1
    assert ask("replay", "--all-users") == 1  # goes on, and finds no recall
    assert ask("--user", "ana", "replay", "--all-users") == 2
    assert ask("--path", str(place / "none"), "stats") == 2
    monkeypatch.delenv("ADAPTIVE_MEMORY_USER")
    assert ask("stats") == 2


def ask(*args: str) -> int:
    return CliRunner().invoke(app, ["--embedder", EMBEDDER, *args]).exit_code


def test_a_server_that_is_typed_holds_and_not_a_path_of_the_environment(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ADAPTIVE_MEMORY_PATH", str(place))
    told = CliRunner().invoke(app, ["--user", "ana", "--server", "127.0.0.1:1", "stats"])
    assert "needs a ledger that all its users share" in told.stderr


def test_a_text_that_looks_like_an_option_can_be_given(with_three: Run) -> None:
    assert with_three("remember", "--id", "odd", "--", "--json").code == 0
    assert with_three("get", "odd").out.startswith("--json\n")


def test_wrong_embedders_and_paths_are_refused(run: Run) -> None:
    assert run("--embedder", "no.such.module:embed", "init", user=None).code == 2
    assert run("--embedder", "misspelt", "init", user=None).code == 2
