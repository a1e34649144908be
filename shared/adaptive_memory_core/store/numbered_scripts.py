"""Which SQL leads from each version of a schema to the next? The files of a folder `migrations`, by their numbers."""

from __future__ import annotations

from importlib import resources


def numbered_scripts(package: str) -> tuple[str, ...]:
    """The texts of `0001_name.sql` and those after it, in the folder `migrations` of a package.

    >>> numbered_scripts("adaptive_memory_core.store.ledger")[-1].startswith("CREATE TABLE graph_name_vectors")
    True
    """
    folder = resources.files(package) / "migrations"
    files = sorted((one for one in folder.iterdir() if one.name.endswith(".sql")), key=lambda one: one.name)
    return tuple(one.read_text(encoding="utf-8") for one in files)
