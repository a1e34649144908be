"""The entry point of `adaptive-memory` and of `python -m adaptive_memory_core.cli`."""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence
from itertools import pairwise

INTERRUPTED = 130
HOOKS = ("session-start", "prompt", "stop", "pre-compact")


def main() -> None:
    """Run the command given by this process's arguments."""
    try:
        _run()
    except SystemExit:
        if not is_hook(sys.argv[1:]):
            raise


def is_hook(arguments: Sequence[str]) -> bool:
    """Whether a coding agent is calling, so that an error must not end with an exit code that rejects a prompt.

    >>> is_hook(["--path", "memory", "hook", "prompt", "--unknown"]), is_hook(["remember", "hook"])
    (True, False)
    """
    return any(name == "hook" and event in HOOKS for name, event in pairwise(arguments))


def _run() -> None:
    gc.disable()  # imported objects stay, and collecting garbage among them takes a tenth of the import time
    try:
        from adaptive_memory_core.cli.app import app
    except KeyboardInterrupt:
        sys.stderr.write("adaptive-memory: interrupted\n")
        raise SystemExit(INTERRUPTED) from None
    gc.freeze()
    gc.enable()
    app(prog_name="adaptive-memory")


if __name__ == "__main__":
    main()
