"""Is the documentation site whole? It is built as `make docs` does, and refuses links that lead nowhere."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

import adaptive_memory_core
import langchain_adaptive_memory
import llama_adaptive_memory
from docs.build_site import ROOT, build
from docs.gather_pages import as_in_the_site, pages, site_name

pytestmark = [
    pytest.mark.skipif(sys.version_info < (3, 11), reason="zensical needs Python 3.11"),
]
CONFIGURATION = (ROOT / "docs" / "zensical.toml").read_text("utf-8")
SMALL = '[project]\nsite_name = "small"\ndocs_dir = "pages"\nsite_dir = "site"\nuse_directory_urls = false\n'
ELSEWHERE = re.compile(r'<(?:script|img|link|iframe)\b[^>]*(?:src|href)="(?:https?:)?//[^"]*"')


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(ROOT, tmp_path_factory.mktemp("docs") / "built")


def small_repository(folder: Path, page: str) -> Path:
    """A repository of two pages and a picture, the second page with this text."""
    (folder / "docs" / "pictures").mkdir(parents=True)
    (folder / "docs" / "zensical.toml").write_text(SMALL, "utf-8")
    (folder / "docs" / "pictures" / "dot.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg"/>', "utf-8")
    (folder / "README.md").write_text("# Small\n\n## First steps\n\n[the page](docs/page.md)\n", "utf-8")
    (folder / "docs" / "page.md").write_text(f"# Page\n\n{page}\n", "utf-8")
    return folder


def test_every_page_has_its_place_in_the_navigation() -> None:
    missing = [one for one in pages(ROOT) if f'"{site_name(one.relative_to(ROOT).as_posix())}"' not in CONFIGURATION]
    assert missing == [], "give each a line under nav in docs/zensical.toml"


@pytest.mark.hard("site")
@pytest.mark.parametrize(
    "link", ["[a](other.md)", "[a](../README.md#no-such-heading)", "![a](pictures/none.svg)", "[a](../LICENSE)"]
)
def test_a_link_that_leads_nowhere_ends_the_build_and_names_the_page(link: str, tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"page\.(md|html)"):
        build(small_repository(tmp_path / "small", link), tmp_path / "built")


@pytest.mark.sample
@pytest.mark.hard("site")
def test_links_that_lead_somewhere_are_built(tmp_path: Path) -> None:
    page = "[home](../README.md#first-steps) ![dot](pictures/dot.svg)\n\n```python needs-server\n[x](y.md)\n```"
    site = build(small_repository(tmp_path / "small", page), tmp_path / "built")
    built = (site / "page.html").read_text("utf-8")
    assert 'href="index.html#first-steps"' in built
    assert (site / "pictures" / "dot.svg").is_file()
    assert "needs-server" not in built


def test_links_inside_of_code_stay_as_they_are() -> None:
    text = "```python\nprint('[a](../README.md)')\n```\n"
    assert as_in_the_site(text, "docs") == text


@pytest.mark.hard("site")
def test_whoever_reads_the_site_asks_nobody_else_for_anything(site: Path) -> None:
    built = sorted(site.glob("*.html"))
    assert len(built) > len(pages(ROOT))  # and the page for what is not found
    assert [(one.name, found) for one in built for found in ELSEWHERE.findall(one.read_text("utf-8"))] == []


@pytest.mark.hard("site")
@pytest.mark.parametrize("package", [adaptive_memory_core, langchain_adaptive_memory, llama_adaptive_memory])
def test_the_reference_has_every_public_name(site: Path, package: object) -> None:
    name, public = package.__name__, package.__all__  # type: ignore[attr-defined]
    built = (site / "api.html").read_text("utf-8")
    assert [one for one in public if f'id="{name}.{one}"' not in built] == []


@pytest.mark.hard("site")
def test_the_reference_has_the_verbs_as_they_are_called(site: Path) -> None:
    built = (site / "api.html").read_text("utf-8")
    verbs = ("remember", "remember_many", "recall", "feedback", "forget", "prune", "pin", "get", "stats")
    assert [verb for verb in verbs if f'id="adaptive_memory_core.UserMemory.{verb}"' not in built] == []
    assert "&gt;&gt;&gt; " in built
    assert "<blockquote" not in built  # an example is code, no quote within a quote
