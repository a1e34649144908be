"""Where does the command `adaptive-memory` start? Here; without its extra it says in one line what to install."""

from __future__ import annotations

import sys
from importlib.util import find_spec

NEEDED = 'adaptive-memory needs typer: pip install "adaptive-memory-retrieval[cli]"'
WRONG_USAGE = 2


def main() -> None:
    """Run the command of this process's arguments."""
    if find_spec("typer") is None:
        sys.stderr.write(f"{NEEDED}\n")
        raise SystemExit(WRONG_USAGE)
    from adaptive_memory_core.cli.app import app

    app(prog_name="adaptive-memory")
