"""How does a script use a memory through the command line? Exit codes to decide by, JSON to read, in any language.

python examples/41_command_line.py
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

COMMAND = [sys.executable, "-m", "adaptive_memory_core.cli"]  # where the package is installed: ["adaptive-memory"]
NOTHING_FOUND = 1
NOTES = [
    {"id": "deploys", "text": "Deploys are done on Tuesdays."},
    {"id": "freeze", "text": "Nothing is deployed in the last week of December.", "kind": "fact"},
]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"ADAPTIVE_MEMORY_PATH": str(Path(folder, "memory")), "ADAPTIVE_MEMORY_USER": "ana"}
        lines = "\n".join(map(json.dumps, NOTES))
        print("stored:", called(["import", "-", "--create"], stdin=lines).stdout.strip())
        print("stored:", called(["import", "--lines", "-"], stdin="The canteen closes at two.\n").stdout.strip())
        found = called(["recall", "when do we deploy?", "--json"])
        for hit in json.loads(found.stdout)["hits"]:
            print(f"ana: {hit['id']}: {hit['text']}")
        nothing = called(["--user", "bob", "recall", "when do we deploy?"])
        print("bob found nothing:", nothing.returncode == NOTHING_FOUND)
        nonsense = called(["recall", "asdkjh qwelkj"])
        print("nor is there anything for nonsense:", nonsense.returncode == NOTHING_FOUND)


def called(arguments: list[str], stdin: str = "") -> subprocess.CompletedProcess[str]:
    """The command, ended; an error that it does not expect is one here."""
    ended = subprocess.run([*COMMAND, *arguments], input=stdin, capture_output=True, text=True, check=False)
    if ended.returncode not in (0, NOTHING_FOUND):
        raise SystemExit(ended.stderr)
    return ended


if __name__ == "__main__":
    main()
