"""Which links of a built site lead nowhere? The builder looks after those between pages, this also after files."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


def broken_links(site: Path) -> list[str]:
    """Each as the page and where it leads; links to other sites are not followed."""
    read = {page.resolve(): _read(page) for page in sorted(site.rglob("*.html"))}
    return [
        f"{page.relative_to(site.resolve())}: {link}"
        for page, (links, _) in read.items()
        if page.name != "404.html"  # shown wherever something is missing, so its links are of the root of a host
        for link in links
        if not _leads_somewhere(page, link, {one: names for one, (_, names) in read.items()})
    ]


def _leads_somewhere(page: Path, link: str, names: dict[Path, set[str]]) -> bool:
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return True
    path = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    path = path / "index.html" if path.is_dir() else path
    return path.is_file() and (not parts.fragment or unquote(parts.fragment) in names.get(path, set()))


def _read(page: Path) -> tuple[list[str], set[str]]:
    """The links of a page, and the names that a link to it may end in."""
    found = list(_Attributes.of(page.read_text("utf-8")))
    links = [value for name, value in found if name in {"href", "src"}]
    return list(dict.fromkeys(links)), {value for name, value in found if name in {"id", "name"}}


class _Attributes(HTMLParser):
    """Gathers the attributes that have a value."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, str]] = []

    @classmethod
    def of(cls, text: str) -> Iterator[tuple[str, str]]:
        parser = cls()
        parser.feed(text)
        yield from parser.found

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        self.found += [(name, value) for name, value in attrs if value is not None]
