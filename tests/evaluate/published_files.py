"""Which made-up files stand for what LongMemEval and LoCoMo publish? Small ones, in every oddity of their formats."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
LONGMEMEVAL: list[dict[str, Any]] = json.loads((HERE / "longmemeval.json").read_text("utf-8"))
LOCOMO: list[dict[str, Any]] = json.loads((HERE / "locomo.json").read_text("utf-8"))


def written(folder: Path, name: str, content: object) -> Path:
    path = folder / name
    path.write_text(json.dumps(content), encoding="utf-8")
    return path
