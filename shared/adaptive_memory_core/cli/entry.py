"""The start of the command `adaptive-memory`; without its extra it says in one line what to install."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.util import find_spec
from itertools import pairwise

NEEDED = 'adaptive-memory needs typer: pip install "adaptive-memory-retrieval[cli]"'
WRONG_USAGE, INTERRUPTED = 2, 130
HOOKS = ("session-start", "prompt", "stop", "pre-compact")


def main() -> None:
    """Run the command of this process's arguments."""
    try:
        _run()
    except SystemExit:
        if not is_hook(sys.argv[1:]):
            raise


def is_hook(arguments: Sequence[str]) -> bool:
    """Whether a coding agent calls: whatever is wrong, e.g. an option, must not end with a code that refuses a prompt.

    >>> is_hook(["--path", "memory", "hook", "prompt", "--unknown"]), is_hook(["remember", "hook"])
    (True, False)
    """
    return any(name == "hook" and event in HOOKS for name, event in pairwise(arguments))


def _run() -> None:
    if find_spec("typer") is None:
        sys.stderr.write(f"{NEEDED}\n")
        raise SystemExit(WRONG_USAGE)
    try:
        from adaptive_memory_core.cli.app import app
    except KeyboardInterrupt:  # the libraries take a second to load
        sys.stderr.write("adaptive-memory: interrupted\n")
        raise SystemExit(INTERRUPTED) from None
    app(prog_name="adaptive-memory")
