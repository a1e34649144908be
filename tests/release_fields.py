"""What the owner of the project fills in before the first release, and what is no longer true with it.

python -m tests.release_fields      # lists what is missing, and fails if anything is; `make dist` calls it
"""

from __future__ import annotations

import importlib
import json
import sys
from functools import reduce
from pathlib import Path
from typing import Any

import yaml

tomllib = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
ROOT = Path(__file__).parents[1]
LANGCHAIN = "packaging/langchain-adaptive-memory/pyproject.toml"
LLAMA_INDEX = "packaging/llama-index-retrievers-adaptive-memory/pyproject.toml"
AUTHORS, REPOSITORY = "project.authors", "project.urls.Repository"
URLS = [f"project.urls.{one}" for one in ("Homepage", "Documentation", "Repository", "Issues", "Changelog")]
FIELDS = [  # with the field of pyproject.toml that each repeats
    *(("pyproject.toml", one, one) for one in (AUTHORS, *URLS)),
    *((file, one, one) for file in (LANGCHAIN, LLAMA_INDEX) for one in (AUTHORS, REPOSITORY)),
    (LLAMA_INDEX, "tool.llamahub.class_authors.AdaptiveMemoryRetriever", None),
    ("docs/zensical.toml", "project.site_url", "project.urls.Documentation"),
    ("docs/zensical.toml", "project.repo_url", REPOSITORY),
    ("CITATION.cff", "authors", None),
    ("CITATION.cff", "repository-code", REPOSITORY),
]
UNTRUE = {"README.md": "is released", "SECURITY.md": "not released", "CHANGELOG.md": "] - unreleased"}


def main() -> None:
    if missing := unfinished(ROOT):
        advice = "Fill these in (RELEASING.md), or build a draft: make dist DRAFT=1"
        raise SystemExit("\n  ".join(["This cannot be published yet:", *missing]) + f"\n{advice}")


def unfinished(root: Path) -> list[str]:
    """One line per field that is empty or differs from the one it repeats, and per sentence that is untrue."""
    found = []
    for file, field, repeats in FIELDS:
        value = field_of(root / file, field)
        if not value or '""' in json.dumps(value):
            found.append(f"{file}: {field} is empty")
        elif repeats and value != field_of(root / "pyproject.toml", repeats):
            found.append(f"{file}: {field} differs from {repeats} in pyproject.toml")
    texts = {file: (root / file).read_text("utf-8") for file in UNTRUE}
    return found + [f'{file}: it says "{words}"' for file, words in UNTRUE.items() if words in texts[file]]


def field_of(file: Path, field: str) -> Any:
    text = file.read_text("utf-8")
    content: Any = tomllib.loads(text) if file.suffix == ".toml" else yaml.safe_load(text)
    return reduce(lambda part, name: (part or {}).get(name), field.split("."), content)


if __name__ == "__main__":
    main()
