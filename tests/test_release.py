"""Could this be published as it is? Wheel and source archive are built as `make dist` does, and checked."""

from __future__ import annotations

import filecmp
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from email import message_from_bytes
from email.message import Message
from pathlib import Path

import pytest
import yaml

from tests.release_fields import FIELDS, LANGCHAIN, LLAMA_INDEX, UNTRUE, field_of, unfinished

ROOT = Path(__file__).parents[1]
FOLDERS = (".", *(str(Path(one).parent) for one in (LANGCHAIN, LLAMA_INDEX)))
WHEEL = "adaptive_memory_retrieval-*.whl"
pytestmark = pytest.mark.hard("install")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(ROOT, tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="module")
def metadata(built: Path) -> Message:
    return metadata_of(next(built.glob(WHEEL)))


def build(root: Path, folder: Path) -> Path:
    for one in FOLDERS:
        run("build", "--no-isolation", "--outdir", str(folder), str(root / one))
    return folder


def metadata_of(file: Path) -> Message:
    with zipfile.ZipFile(file) as wheel:
        return message_from_bytes(wheel.read(next(name for name in wheel.namelist() if name.endswith("/METADATA"))))


def run(module: str, *arguments: str) -> str:
    done = subprocess.run([sys.executable, "-m", module, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_twine_finds_nothing_to_complain_of(built: Path) -> None:
    files = sorted(map(str, built.iterdir()))
    assert run("twine", "check", "--strict", *files).count("PASSED") == 2 * len(FOLDERS)


def test_the_metadata_say_what_an_index_shows(metadata: Message) -> None:
    needed = ("Name", "Version", "Summary", "License-Expression", "License-File", "Keywords", "Requires-Python")
    assert [name for name in needed if not metadata[name]] == []
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert str(metadata.get_payload()).startswith("# Adaptive memory retrieval")
    supported = {one.rsplit(" ", 1)[1] for one in metadata.get_all("Classifier", []) if "Python :: 3." in one}
    least, below = map(
        int, re.findall(r"3\.(\d+)", " ".join(sorted(metadata["Requires-Python"].split(","), reverse=True)))
    )
    assert supported == {f"3.{minor}" for minor in range(least, below)}


def test_a_release_is_refused_while_a_field_is_empty_and_a_draft_is_built() -> None:
    lines, check = unfinished(ROOT), "tests.release_fields"
    done = subprocess.run([sys.executable, "-m", check], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, [line for line in lines if line not in done.stderr]) == (int(bool(lines)), [])
    plans = [subprocess.check_output(["make", "-n", "dist", *one], cwd=ROOT, text=True) for one in ([], ["DRAFT=1"])]
    assert [check in plan for plan in plans] == [True, False]


def test_a_tag_publishes_what_make_dist_makes_and_no_token_is_kept(built: Path) -> None:
    text = (ROOT / ".github" / "workflows" / "publish.yml").read_text("utf-8")
    workflow = yaml.safe_load(text)
    assert workflow[True] == {"push": {"tags": ["v*"]}}  # YAML reads `on` as true
    assert [word for word in ("secrets", "password", "token:") if word in text.replace("id-token:", "")] == []
    build, publish = workflow["jobs"]["build"], workflow["jobs"]["publish"]
    assert [step["run"] for step in build["steps"] if step.get("run", "").startswith("make")] == [
        "make test",
        "make dist",
    ]
    assert ("permissions" in build, publish["permissions"]) == (False, {"id-token": "write"})
    assert (publish["needs"], publish["environment"]) == ("build", {"name": "${{ matrix.name }}"})
    published = {one["name"]: one["files"] for one in publish["strategy"]["matrix"]["include"]}
    assert list(published) == [field_of(ROOT / folder / "pyproject.toml", "project.name") for folder in FOLDERS]
    taken = [one.name for start in published.values() for one in built.glob(f"{start}-*")]
    assert sorted(taken) == sorted(one.name for one in built.iterdir())  # each file once


@pytest.mark.parametrize(("tag", "status"), [("v{}", 0), ("v{}.1", 1), ("v", 1), ("v.*", 1)])
def test_a_tag_that_is_not_the_version_is_refused(tag: str, status: int) -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "publish.yml").read_text("utf-8"))
    step = next(one for one in workflow["jobs"]["build"]["steps"] if one.get("name") == "The tag is the version")
    given = {**os.environ, "GITHUB_REF_NAME": tag.format(field_of(ROOT / "pyproject.toml", "project.version"))}
    done = subprocess.run(
        ["bash", "-ec", step["run"]], cwd=ROOT, env=given, capture_output=True, text=True, check=False
    )
    assert (done.returncode, "Tag the commit" in done.stdout) == (status, bool(status))


def test_with_the_fields_filled_in_nothing_is_refused_and_the_readme_has_full_addresses(tmp_path: Path) -> None:
    """Both in the wheel of a checkout and in that of the source archive."""
    left_out = shutil.ignore_patterns(".*", "benchmarks", "tests", "__pycache__")
    root = Path(shutil.copytree(ROOT, tmp_path / "repository", ignore=left_out))
    fill_in(root)
    assert unfinished(root) == []
    built = build(root, tmp_path / "dist")
    run("build", "--no-isolation", "--wheel", "--outdir", str(tmp_path), str(root))
    wheel = next(tmp_path.glob(WHEEL))
    assert filecmp.cmp(wheel, built / wheel.name, shallow=False)
    shown = metadata_of(wheel)
    links = re.findall(r"\]\(([^)]+)\)", str(shown.get_payload()))
    assert [link for link in links if not link.startswith(("https://", "#"))] == []
    assert f"https://host.invalid/it/blob/v{shown['Version']}/docs/background/ranking.md" in links


def fill_in(root: Path) -> None:
    commented = re.compile(r"^# (?=\[project\.urls|(?:authors|\w+_url|[A-Z]\w+) = )", re.MULTILINE)
    for file in {root / one[0] for one in FIELDS}:
        text = commented.sub("", file.read_text("utf-8"))
        file.write_text(re.sub(r'(?<=[=:] )""', '"https://host.invalid/it"', text), "utf-8")
    for name, words in UNTRUE.items():
        (root / name).write_text((root / name).read_text("utf-8").replace(words, ""), "utf-8")


def test_a_second_build_gives_the_same_bytes(built: Path, tmp_path: Path) -> None:
    again = build(ROOT, tmp_path)
    assert filecmp.cmpfiles(built, again, [one.name for one in again.iterdir()], shallow=False)[1:] == ([], [])


@pytest.mark.parametrize(("file", "extra"), [(LANGCHAIN, "langchain"), (LLAMA_INDEX, "llama-index")])
def test_what_repeats_the_version_has_the_same(file: str, extra: str, built: Path, metadata: Message) -> None:
    name, version = Path(file).parent.name.replace("-", "_"), metadata["Version"]
    thin = metadata_of(next(built.glob(f"{name}-{version}-*.whl")))
    assert thin.get_all("Requires-Dist") == [f"adaptive-memory-retrieval[{extra}]=={version}"]
    assert field_of(ROOT / "CITATION.cff", "version") == version


def test_the_thin_distributions_install_next_to_the_library(built: Path, tmp_path: Path) -> None:
    """No two wheels hold the same file, LlamaIndex's import path exists, and what the pages show runs."""
    wheels = sorted(built.glob("*.whl"))
    files = [name for one in wheels for name in zipfile.ZipFile(one).namelist()]
    assert len(files) == len(set(files))
    run("pip", "install", "--quiet", "--no-deps", "--no-compile", "--target", str(tmp_path), *map(str, wheels))
    place = field_of(ROOT / LLAMA_INDEX, "tool.llamahub.import_path")
    pages = "".join((ROOT / one / "README.md").read_text("utf-8") for one in FOLDERS[1:])
    code = f"import {place} as a, langchain_adaptive_memory as b; print(a, b)\n"
    code += "".join(re.findall(r"```python\n(.*?)```", pages, re.DOTALL))
    paths = {**os.environ, "PYTHONPATH": str(tmp_path)}
    shown = subprocess.check_output([sys.executable, "-c", code], cwd=tmp_path, env=paths, text=True)
    assert shown.count(str(tmp_path)) == 2
    assert shown.endswith("Alice likes PostgreSQL.\nDeploys are done on Tuesdays.\n")


@pytest.mark.sample
def test_the_wheel_holds_the_packages_and_their_types_and_nothing_else(built: Path) -> None:
    with zipfile.ZipFile(next(built.glob(WHEEL))) as wheel:
        names = wheel.namelist()
    packages = {"adaptive_memory_core", "langchain_adaptive_memory", "llama_adaptive_memory"}
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == packages
    assert [one for one in sorted(packages) if f"{one}/py.typed" not in names] == []


def test_the_source_archive_holds_all_that_make_test_needs(built: Path) -> None:
    with tarfile.open(next(built.glob("adaptive_memory_retrieval-*.tar.gz"))) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    needed = {"README.md", "LICENSE", "CHANGELOG.md", "CITATION.cff", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md"}
    needed |= {"RELEASING.md", "SECURITY.md", "Makefile", "pyproject.toml", "hatch_build.py", LANGCHAIN}
    needed |= {"docs/zensical.toml", "docs/pictures/recall.svg", "benchmarks/README.md", "tests/conftest.py"}
    assert needed - names == set()
    assert [name for name in names if name.endswith((".sqlite3", ".gz", ".pyc"))] == []
