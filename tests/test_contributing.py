"""CONTRIBUTING.md is true: its files, commands and layers exist, and so do the forge's and pre-commit's."""

from __future__ import annotations

import re

import yaml

from tests.size import CORE, ROOT
from tests.suites import KINDS
from tests.test_layers import LAYERS

PAGE = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
MAKEFILE = (ROOT / "Makefile").read_text("utf-8")
TARGETS = set(re.findall(r"^([\w-]+):", MAKEFILE, re.MULTILINE))


def section(title: str) -> str:
    return PAGE.split(f"## {title}\n", 1)[1].split("\n## ", 1)[0]


def test_every_file_that_is_named_exists() -> None:
    named = re.findall(r"(?<![\w./])([\w.]+(?:/[\w.]+)+)", PAGE)
    missing = [one for one in named if not any((place / one.rstrip(".")).exists() for place in (ROOT, CORE))]
    assert [one for one in missing if not one.startswith(".venv")] == []
    assert len(named) > 15


def test_every_command_of_make_exists() -> None:
    assert set(re.findall(r"make ([a-z][a-z-]+)", section("Set-up"))) <= TARGETS
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text("utf-8")
    assert re.findall(r"run: make ([\w-]+)", workflow) == ["test", "test-hard"]


def test_every_layer_that_is_named_exists() -> None:
    named = re.findall(r"`(\w+)`", section("The layers").split("|---|", 1)[1].rsplit("|", 1)[0])
    assert set(named) - {"recall"} <= set().union(*LAYERS)


def test_the_glossary_is_short_and_names_each_term_once() -> None:
    terms = re.findall(r"^\| ([^|]+?) \| [^|]+ \|$", section("Glossary"), re.MULTILINE)[1:]
    assert len(terms) == len(set(terms)) <= 25


def test_kinds_that_are_named_exist() -> None:
    assert set(re.findall(r'mark\.hard\("([^"]+)"\)', PAGE)) <= set(KINDS)


def test_the_hooks_run_what_make_runs_and_need_no_network() -> None:
    repositories = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))["repos"]
    assert [one["repo"] for one in repositories] == ["local"]
    hooks = {hook["id"]: hook["entry"] for hook in repositories[0]["hooks"]}
    assert set(hooks) == {"ruff-format", "ruff-check", "mypy"}
    assert all(one["language"] == "system" for one in repositories[0]["hooks"])
