"""How is a folder written so that the same rows give the same bytes? Without the time and the name of the file."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
from collections.abc import Iterable
from pathlib import Path

from benchmarks.prepare.public_set import Row, Rows


def write(folder: Path, rows: Rows) -> dict[str, str]:
    """Writes corpus.jsonl.gz and queries.jsonl.gz; gives the sha256 of each."""
    folder.mkdir(parents=True, exist_ok=True)
    written = {"corpus.jsonl.gz": packed(rows.corpus), "queries.jsonl.gz": packed(rows.queries)}
    for name, content in written.items():
        (folder / name).write_bytes(content)
    return {name: hashlib.sha256(content).hexdigest() for name, content in written.items()}


def packed(rows: Iterable[Row]) -> bytes:
    """One JSON object a line, compressed.

    >>> packed([{"id": "1"}]) == packed([{"id": "1"}]), gzip.decompress(packed([{"id": "ö"}])).decode()
    (True, '{"id": "ö"}\\n')
    """
    lines = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
    content = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=content, mtime=0) as file:  # gzip.compress differs by version
        file.write(lines.encode())
    return content.getvalue()
