"""Bytes on disk per record, of plain Chroma and of a memory: python -m benchmarks.disk_per_record"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import chromadb

from adaptive_memory_core import AdaptiveMemory
from adaptive_memory_core.models.local import LocalEmbedder

BATCH = 500
COPIES_WRITTEN = 5.0  # seconds after a recall


def main() -> None:
    parser = argparse.ArgumentParser(description="Bytes on disk per record.")
    parser.add_argument("--records", type=int, default=5000)
    parser.add_argument("--words", type=int, default=30, help="in each record")
    given = parser.parse_args()
    texts = list(drawn(given.records, given.words))
    print(f"{given.records} records, {sum(map(len, texts)) / len(texts):.0f} characters, 256 dimensions")
    for fill in (plain, memory):
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            fill(folder, texts)
            print(f"{fill.__name__}: {', '.join(f'{name} {size / len(texts):.0f}' for name, size in taken(folder))}")


def drawn(records: int, words: int) -> Iterator[str]:
    """Texts of words from a page of this repository."""
    page = Path(__file__).resolve().parents[1] / "docs" / "background" / "performance.md"
    vocabulary = [word for word in page.read_text("utf-8").split() if word.isalpha()]
    chance = random.Random(0)
    return (" ".join(chance.choices(vocabulary, k=words)) for _ in range(records))


def plain(folder: str, texts: list[str]) -> None:
    """A collection of records with a user."""
    embed = LocalEmbedder()
    settings = {"hnsw": {"space": "cosine"}}
    collection = chromadb.PersistentClient(folder).create_collection("plain", configuration=settings)  # type: ignore[arg-type]
    for start in range(0, len(texts), BATCH):
        batch = texts[start : start + BATCH]
        ids = [str(start + place) for place in range(len(batch))]
        collection.add(ids, embed(batch), [{"user_id": "ana"}] * len(batch), batch)


def memory(folder: str, texts: list[str]) -> None:
    """A memory of the same records, asked once so that the copies of its vectors and words are in files."""
    with AdaptiveMemory.open(folder) as opened:
        ana = opened.for_user("ana")
        for start in range(0, len(texts), BATCH):
            ana.remember_many(texts[start : start + BATCH])
        ana.recall(texts[0])
        opened.flush()
        time.sleep(COPIES_WRITTEN)


def taken(folder: str) -> Iterator[tuple[str, int]]:
    """The bytes of all files, then of each file and folder at the top."""
    sizes = {
        one.name: sum(file.stat().st_size for file in [one, *one.rglob("*")] if file.is_file())
        for one in sorted(Path(folder).iterdir())
    }
    yield "all", sum(sizes.values())
    yield from sizes.items()


if __name__ == "__main__":
    main()
