"""How does a test look at a page? In a process of its own, for a browser leaves threads behind."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).with_name("look_at_page.py")
SECONDS = 90
LAYOUT = Path(__file__).with_name("layout.js").read_text(encoding="utf-8")


@lru_cache(maxsize=1)
def why_there_is_none() -> str:
    """Why no browser starts here; nothing where one does. `make test` installs one, where there is a wheel of it."""
    try:
        if importlib.util.find_spec("PySide6.QtWebEngineCore") is None:
            return "no PySide6-WebEngine: there is no wheel for this machine"
    except ModuleNotFoundError:
        return "no PySide6-WebEngine: there is no wheel for this machine"
    loaded = subprocess.run(
        [sys.executable, "-c", "import PySide6.QtWebEngineWidgets"], capture_output=True, text=True, check=False
    )
    return "" if loaded.returncode == 0 else f"the system lacks what Qt needs: {loaded.stderr.splitlines()[-1]}"


needs_browser = pytest.mark.skipif(bool(why_there_is_none()), reason=why_there_is_none())


@dataclass(frozen=True)
class Seen:
    """What came of a look: what each script gave, what the console said, and what was asked of anybody."""

    results: list[Any]
    console: list[str]
    asked: list[str]
    corner: tuple[int, int, int]
    picture: Path


def look(
    page: Path, picture: Path, *steps: dict[str, str], width: int = 1280, height: int = 900, dark: bool = False
) -> Seen:
    """Load the page, take the steps, and take a picture of it."""
    told = {"file": str(page), "picture": str(picture), "steps": steps, "width": width, "height": height, "dark": dark}
    done = subprocess.run(
        [sys.executable, str(SCRIPT)],
        input=json.dumps(told),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2_000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["saved"]
    return Seen(found["results"], found["console"], found["asked"], tuple(found["corner"]), picture)


def run(script: str) -> dict[str, str]:
    """A step: what this expression gives."""
    return {"script": script}


def layout() -> dict[str, str]:
    """A step: everything is opened, and what is wrong with the layout is listed (`layout.js`)."""
    return run(LAYOUT)


def press(key: str) -> dict[str, str]:
    """A step: a key as Qt calls it."""
    return {"key": key}
