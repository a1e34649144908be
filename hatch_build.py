"""The README as an index shows it, without the repository around the page: relative links become full addresses.

They lead to the Repository in `[project.urls]`, at the tag of this version. As long as there is none, links stay.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

RELATIVE = r"(?!\w+:|#|\))"
LINK = re.compile(rf"(?<=\]\(){RELATIVE}")
PICTURE = re.compile(rf"(!\[[^\]]*\]\(|(?:src|srcset)=\"){RELATIVE}")


class CustomMetadataHook(MetadataHookInterface):
    def update(self, metadata: dict[str, Any]) -> None:
        text = (Path(self.root) / "README.md").read_text("utf-8")
        if repository := metadata.get("urls", {}).get("Repository"):
            text = with_full_addresses(text, repository, f"v{metadata['version']}")
        metadata["readme"] = {"text": text, "content-type": "text/markdown"}


def with_full_addresses(text: str, repository: str, tag: str) -> str:
    """The page with its relative links, as the host of the repository serves them.

    >>> with_full_addresses("[a](docs/a.md#b) [c](#c) [d](https://d.org) ![e](e.svg)", "https://host/x", "v1")
    '[a](https://host/x/blob/v1/docs/a.md#b) [c](#c) [d](https://d.org) ![e](https://host/x/raw/v1/e.svg)'
    >>> with_full_addresses('<img src="e.svg">', "https://host/x/", "v1")
    '<img src="https://host/x/raw/v1/e.svg">'
    """
    place = repository.rstrip("/").removesuffix(".git")
    shown = PICTURE.sub(rf"\1{place}/raw/{tag}/", text)
    return LINK.sub(f"{place}/blob/{tag}/", shown)
