"""Does what the documentation points to exist? Tests, pages, commands, and the extras that its snippets need."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs.gather_pages import with_code

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
PAGES = with_code(ROOT)
RESEARCH = sorted((ROOT / "docs" / "research").glob("*.md"))
FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ALL = "\n".join(page.read_text("utf-8") for page in (README, *PAGES, *RESEARCH))


def test_every_promise_of_the_threat_model_names_tests_that_exist() -> None:
    rows = re.findall(
        r"^\| ([^|]+) \| (`tests/[^|]+) \|$", (ROOT / "docs" / "guides" / "users.md").read_text("utf-8"), re.MULTILINE
    )
    assert len(rows) >= 15
    for promise, cells in rows:
        named = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", cells)
        assert len(named) == cells.count("::") >= 1, promise
        for path, test in named:
            assert re.search(rf"^(?:async )?def {test}\(", (ROOT / path).read_text("utf-8"), re.MULTILINE), test


def test_every_link_between_the_pages_leads_somewhere() -> None:
    others = [ROOT / one for one in ("SECURITY.md", "CONTRIBUTING.md", "RELEASING.md", "benchmarks/README.md")]
    api = ROOT / "docs" / "reference" / "api.md"
    pages = {path: path.read_text("utf-8") for path in (README, *others, api, *PAGES, *RESEARCH)}
    for one, text in pages.items():
        for target, anchor in re.findall(r"\]\((?!https?:)([^)#]*)#?([^)]*)\)", text):
            path = (one.parent / target).resolve() if target else one
            assert path.exists(), f"{one.name}: {target}"
            assert not anchor or anchor in anchors(pages[path]), f"{one.name}: {target}#{anchor}"


def anchors(text: str) -> set[str]:
    """The names by which GitHub links to the headings of a page."""
    titles = re.findall(r"^#+ (.+)$", FENCE.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_every_module_that_the_documentation_names_can_be_run() -> None:
    for name in re.findall(r"python -m\s+(benchmarks\.\w+)", ALL):
        assert (ROOT / f"{name.replace('.', '/')}.py").exists(), name


LOCAL = '"adaptive-memory-retrieval[local]"'
OPTIONAL = dict(re.findall(r"^([\w-]+) = (\[.*\])$", (ROOT / "pyproject.toml").read_text("utf-8"), re.MULTILINE))
EXTRAS = {  # what a snippet imports or uses, and the extra that brings it
    r"langchain|langgraph": "langchain",
    r"llama_index|llama_adaptive_memory": "llama-index",
    r"AdaptiveMemory\.open\((?![^)]*embedder=)|LocalEmbedd": "local",
}


@pytest.mark.parametrize("page", [README, *PAGES], ids=lambda page: page.name)
def test_what_a_page_tells_to_install_is_enough_for_the_snippets_after_it(page: Path) -> None:
    extras: set[str] = {"local"}  # said in the README, which every page leads back to
    for language, code in FENCE.findall(page.read_text("utf-8")):
        for said in re.findall(r'pip install "adaptive-memory-retrieval\[([\w,-]+)\]"', code):
            extras = set(said.split(",")) | {"local" for one in said.split(",") if LOCAL in OPTIONAL[one]}
        needed = {extra for sign, extra in EXTRAS.items() if re.search(sign, code)} if "python" in language else set()
        assert needed <= extras, (
            f"{page.name} says to install {sorted(extras)}, and this needs {sorted(needed)}: {code}"
        )
