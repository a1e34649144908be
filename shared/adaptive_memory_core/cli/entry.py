"""The start of the command `adaptive-memory`; without its extra it says in one line what to install."""

from __future__ import annotations

import sys
from importlib.util import find_spec

NEEDED = 'adaptive-memory needs typer: pip install "adaptive-memory-retrieval[cli]"'
WRONG_USAGE, INTERRUPTED = 2, 130


def main() -> None:
    """Run the command of this process's arguments."""
    if find_spec("typer") is None:
        sys.stderr.write(f"{NEEDED}\n")
        raise SystemExit(WRONG_USAGE)
    try:
        from adaptive_memory_core.cli.app import app
    except KeyboardInterrupt:  # the libraries take a second to load
        sys.stderr.write("adaptive-memory: interrupted\n")
        raise SystemExit(INTERRUPTED) from None
    app(prog_name="adaptive-memory")
