"""Is what the README and the pages under docs say true? Their code runs, their tables are those of the dataclasses."""

from __future__ import annotations

import dataclasses
import itertools
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from adaptive_memory_core import Fields, Policy, Weights, policy
from adaptive_memory_core.cli.app import app as command
from docs.gather_pages import with_code
from docs.generate_policy import GROUPS, page

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = [(match[1], match[2]) for match in FENCE.finditer(README)]
POLICY = (ROOT / "docs" / "reference" / "policy.md").read_text(encoding="utf-8")
PAGES = with_code(ROOT)
TUTORIALS = [page for page in PAGES if page.parent.name == "tutorials"]
RUN = [code for language, code in BLOCKS if language == "python"]
QUICKSTART = FENCE.findall(README.split("## Quickstart\n", 1)[1])
ALL = "\n".join([README, *(page.read_text(encoding="utf-8") for page in PAGES)])
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}")
FIELD_ROW = re.compile(r"^\| `(\w+)` \| `([^`]+)` \|", re.MULTILINE)
PRESET_ROW = re.compile(r"^\| `(\w+)` \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|", re.MULTILINE)
PROFILE_ROW = re.compile(r"^\| `(\w+)` \| (\d+) \| (\d+) \| (0\.\d+) \|$", re.MULTILINE)


def section(title: str, text: str = README) -> str:
    """The text below a heading, up to the next one."""
    return re.split(r"^#+ ", text.split(f"# {title}\n", 1)[1], maxsplit=1, flags=re.MULTILINE)[0]


def listed(title: str) -> dict[str, Any]:
    return {name: eval(default, vars(policy)) for name, default in FIELD_ROW.findall(section(title, ALL))}


def defaults(owner: type[Any]) -> dict[str, Any]:
    return {field.name: field.default for field in dataclasses.fields(owner)}


@pytest.mark.parametrize("number", range(len(RUN)))
def test_each_snippet_of_the_readme_runs_by_itself(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(RUN[number], "README.md", "exec", dont_inherit=True), {"__name__": "readme"})


def test_the_quickstart_prints_what_the_readme_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (_, code), (_, shown) = QUICKSTART
    exec(compile(code, "README.md", "exec", dont_inherit=True), {"__name__": "readme"})
    assert UUID.sub("UUID", capsys.readouterr().out) == UUID.sub("UUID", shown)


def run_commands(lines: str) -> None:
    """Each line is a call of the command, and ends well."""
    for line in lines.splitlines():
        program, *arguments = shlex.split(line)
        assert program == "adaptive-memory"
        ended = CliRunner().invoke(command, arguments)
        assert ended.exit_code == 0, f"{line}: {ended.output}"


@pytest.mark.parametrize("page", [page for page in PAGES if page not in TUTORIALS], ids=lambda page: page.name)
def test_the_code_of_a_page_runs_in_order(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": page.stem}
    blocks = FENCE.findall(page.read_text(encoding="utf-8"))
    known = {"", "python", "python needs-framework", "python needs-model", "python needs-server", "sh", "sql", "text"}
    assert {language for language, _ in blocks} <= known
    for language, code in blocks:
        compiled = compile(code, page.name, "exec", dont_inherit=True) if language.startswith("python") else None
        if compiled is not None and language == "python":
            exec(compiled, names)
        elif language == "sh":
            run_commands(code)
    assert any(language == "python" for language, _ in blocks)


def test_the_readme_names_every_page() -> None:
    assert [page.name for page in PAGES if f"({page.relative_to(ROOT).as_posix()}" not in README] == []


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.name)
def test_a_tutorial_prints_what_it_shows(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": page.stem}
    blocks = FENCE.findall(page.read_text(encoding="utf-8"))
    shown = 0
    for (language, code), (after, output) in itertools.pairwise([*blocks, ("", "")]):
        if language != "python":
            continue
        exec(compile(code, page.name, "exec", dont_inherit=True), names)
        printed = capsys.readouterr().out
        assert (printed == "") is (after != "text"), code
        assert after != "text" or printed == output
        shown += after == "text"
    assert shown >= 4


def test_the_langchain_page_lists_the_fields_of_the_retriever() -> None:
    from langchain_adaptive_memory import AdaptiveMemoryRetriever

    page = (ROOT / "docs" / "guides" / "langchain.md").read_text(encoding="utf-8").split("## LangGraph")[0]
    fields = AdaptiveMemoryRetriever.model_fields
    rows = FIELD_ROW.findall(page)
    assert len(rows) >= 8
    for name, default in rows:
        assert repr(fields[name].default) == default.replace('"', "'"), name


def test_no_block_of_code_is_left_out_unless_it_says_why() -> None:
    assert {language for language, _ in BLOCKS} == {"", "python", "text"}
    assert [code for language, code in BLOCKS if language.startswith("python")] == RUN
    assert len(RUN) >= 3
    for language, code in BLOCKS:
        if language.startswith("python"):
            compile(code, "README.md", "exec")


def test_the_readme_and_its_quickstart_are_short() -> None:
    assert len(README.splitlines()) <= 120
    assert len([line for line in QUICKSTART[0][1].splitlines() if line]) <= 10


@pytest.mark.parametrize(
    ("title", "owner"),
    [
        ("Policy", Policy),
        *((kind.__name__, kind) for kind in GROUPS.values()),
        ("Keeping", policy.Keeping),
        ("Keys", Fields),
    ],
)
def test_the_documentation_lists_every_field_with_its_default(title: str, owner: type[Any]) -> None:
    shown, true = listed(title), defaults(owner)
    assert shown == true
    assert list(shown) == list(true)
    assert [type(value) for value in shown.values()] == [type(value) for value in true.values()]


def test_the_page_on_the_policy_is_as_the_code_has_it() -> None:
    """Where this fails: python docs/generate_policy.py."""
    assert page() == POLICY


def test_the_page_on_the_policy_explains_every_field() -> None:
    for kind in (Policy, *GROUPS.values(), policy.Keeping):
        rows = re.findall(r"^\| `(\w+)` \| `[^`]+` \| .*? \| (.+) \|$", section(kind.__name__, POLICY), re.MULTILINE)
        assert [name for name, _ in rows] == [field.name for field in dataclasses.fields(kind)]
        assert {len(said) > 5 for _, said in rows} == {True}
    assert set(GROUPS.values()) | {Policy, policy.Keeping, policy.Remembrance} == {
        getattr(policy, name) for name in policy.__all__
    }


def test_the_documentation_lists_every_preset_with_its_numbers() -> None:
    rows = PRESET_ROW.findall(section("Presets", POLICY))
    for name, recency, importance, similarity, half_life in rows:
        preset = Policy.preset(name)
        assert preset.weights == Weights(float(recency), float(importance), float(similarity))
        assert preset.half_life_days == pytest.approx(float(half_life), abs=0.005)
    with pytest.raises(ValueError, match=", ".join(sorted(row[0] for row in rows))):
        Policy.preset("no such preset")


def test_the_readme_lists_arms_profiles_with_the_papers_numbers() -> None:
    rows = PROFILE_ROW.findall((ROOT / "docs" / "background" / "ranking.md").read_text(encoding="utf-8"))
    assert len(rows) == 5
    for name, theta, gamma, alpha in rows:
        decay = Policy.preset(name).decay
        numbers = (decay.remembrance_threshold, decay.grace, decay.rate)
        assert numbers == (int(theta), float(gamma), float(alpha))


def test_the_other_frameworks_are_tested_with_the_versions_that_the_page_names() -> None:
    """And nothing of them is required: no extra, and no group for development."""
    files = "\n".join(one.read_text("utf-8") for one in (ROOT / "tests").glob("frameworks_*.txt"))
    named = re.findall(r"`([\w-]+==[\d.]+)`", (ROOT / "docs" / "guides" / "agents.md").read_text("utf-8"))
    assert len(named) == 6
    assert sorted(named) == sorted(re.findall(r"^([\w-]+==[\d.]+)", files, re.MULTILINE))
    required = (ROOT / "pyproject.toml").read_text("utf-8").split("[tool.", 1)[0]
    assert [one for one in named if one.split("==")[0] in required] == ["langmem==0.0.30"]  # for tests of the store


def test_every_file_and_make_target_the_readme_names_exists() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for path in re.findall(r"`((?:examples|benchmarks|tests)/[\w./]*)`", ALL):
        assert (ROOT / path).exists(), path
    for target in re.findall(r"(?:^|`)make (\w+)", README, re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_the_changelog_speaks_of_this_version() -> None:
    version = re.search(r'^version = "([^"]+)"', (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)
    assert version is not None
    assert f"## [{version[1]}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
