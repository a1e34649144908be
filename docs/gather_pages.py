"""Which pages has the site? Those under docs and a few from elsewhere in the repository, with links between them.

In the repository a page links to files as they lie there, so that it reads on any host of code. In the site all pages
lie in one folder, and the README is the first of them.
"""

from __future__ import annotations

import posixpath
import re
import shutil
from pathlib import Path

ELSEWHERE = {  # in the repository, and in the site
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CODE_OF_CONDUCT.md": "code_of_conduct.md",
    "CONTRIBUTING.md": "contributing.md",
    "RELEASING.md": "releasing.md",
    "SECURITY.md": "reporting_a_vulnerability.md",
    "benchmarks/README.md": "benchmarks.md",
}
LINK = re.compile(r"(\]\()(?!\w+:|#)([^)#\s]+)")
FOLDERS = ("tutorials", "guides", "reference", "background", "research")  # under docs, and one folder in the site
FENCE = re.compile(r"^```(\w+)[^\n]*$", re.MULTILINE)
CODE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def gather(root: Path, folder: Path) -> None:
    """Copies the pages and pictures of the repository at `root` into `folder`, as the site names them."""
    folder.mkdir(parents=True)
    for page in pages(root):
        text, place = page.read_text(encoding="utf-8"), page.relative_to(root)
        built = as_in_the_site(text, place.parent.as_posix())
        (folder / site_name(place.as_posix())).write_text(built, encoding="utf-8")
        copy_what_is_shown(root, place.parent.as_posix(), text, folder)


def copy_what_is_shown(root: Path, place: str, text: str, folder: Path) -> None:
    """Copies the files that a page links to and that are no pages: an example's settings, say."""
    for _, target in LINK.findall(CODE.sub("", text)):
        path = posixpath.normpath(posixpath.join(place, target))
        if not path.startswith("..") and not path.endswith(".md") and (root / path).is_file():
            (folder / site_name(path)).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(root / path, folder / site_name(path))


def pages(root: Path) -> list[Path]:
    """Every page of the repository that is one of the site."""
    written = sorted((root / "docs").rglob("*.md"))
    return [*written, *(root / one for one in ELSEWHERE if (root / one).is_file())]


def with_code(root: Path) -> list[Path]:
    """The pages that people read to use the library: without research notes, and without the one made of docstrings."""
    found = sorted((root / "docs").rglob("*.md"))
    return [page for page in found if page.parent.name != "research" and page.name != "api.md"]


def site_name(path: str) -> str:
    """What the site calls a file of the repository.

    >>> site_name("docs/guides/graph.md"), site_name("README.md"), site_name("docs/pictures/recall.svg")
    ('graph.md', 'index.md', 'pictures/recall.svg')
    """
    place = path.removeprefix("docs/")
    folder, _, name = place.partition("/")
    if folder in FOLDERS:
        return f"research_{name}" if folder == "research" else name
    return ELSEWHERE.get(path, place)


def as_in_the_site(text: str, folder: str) -> str:
    """A page that lies in this folder of the repository, with its links as the site has them.

    The word after the language of a block of code, which says how the block is tested, is left out.

    >>> as_in_the_site("[a](../../README.md) [b](graph.md#k) [c](https://example.org) [d](#e)", "docs/guides")
    '[a](index.md) [b](graph.md#k) [c](https://example.org) [d](#e)'
    >>> as_in_the_site("[a](docs/guides/graph.md)", ".")
    '[a](graph.md)'
    """

    def links(prose: str) -> str:
        return LINK.sub(lambda found: found[1] + site_name(posixpath.normpath(posixpath.join(folder, found[2]))), prose)

    parts, end = [], 0
    for block in CODE.finditer(text):
        parts += [links(text[end : block.start()]), FENCE.sub(r"```\1", block[0])]
        end = block.end()
    return "".join([*parts, links(text[end:])])
