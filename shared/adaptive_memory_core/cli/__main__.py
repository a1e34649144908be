"""The start of the command `adaptive-memory`, which `python -m adaptive_memory_core.cli` is as well."""

from __future__ import annotations

import gc
import sys

INTERRUPTED = 130


def main() -> None:
    """Run the command of this process's arguments."""
    gc.disable()  # while what is imported stays: looking through it for garbage takes as long as a tenth of the imports
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
