"""A process with a memory of its own over the same directory, which does what it is told, line by line."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any

from tests import forked

EMBEDDER = """
def by_letters(texts):
    return [[1.0 + text.lower().count(letter) for letter in "abcdefghijklmnop"] for text in texts]
"""
PROCESS = (
    """
import os, sys, time
from adaptive_memory_core import AdaptiveMemory, Keeping, Policy
"""
    + EMBEDDER
    + """
def holds():
    return memory.ports().records.holds_collection

def soon(what, seconds=60.0):
    until = time.monotonic() + seconds
    while not what() and time.monotonic() < until:
        time.sleep(0.02)
    return what()

options = dict(embedder=by_letters, keeping=Keeping(lag_seconds=0.2), policy=Policy(refresh_floor_seconds=0.0))
{before}
memory = AdaptiveMemory.open(sys.argv[1], **options)
alice = memory.for_user("alice")
print(repr(holds()), flush=True)
for line in sys.stdin:
    try:
        answer = eval(line)
    except Exception as error:
        answer = type(error).__name__ + ": " + str(error)
    print(repr(answer), flush=True)
memory.close()
"""
)
names: dict[str, Any] = {}
exec(EMBEDDER, names)
by_letters = names["by_letters"]


def asked_anew(directory: Path, *expressions: str) -> list[Any]:
    """What becomes of them in a process that has imported nothing but what its memory needed."""
    command = [sys.executable, "-c", PROCESS.replace("{before}", ""), str(directory)]
    given = "".join(f"{one}\n" for one in expressions)
    said = subprocess.run(command, input=given, stdout=subprocess.PIPE, text=True, check=True, timeout=120).stdout
    return [ast.literal_eval(line) for line in said.splitlines()[1:]]


class OtherProcess:
    """It is there once it has opened the memory; `holds` says whether it held the directory then."""

    def __init__(self, directory: Path, before: str = "") -> None:
        self.process = forked.source(PROCESS.replace("{before}", before), directory)
        self.holds = self._answer()

    def do(self, expression: str) -> Any:
        """What comes of it there; of an error, its name and text."""
        self.process.stdin.write(expression + "\n")
        self.process.stdin.flush()
        return self._answer()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(10)

    def end(self) -> None:
        """Let it close its memory."""
        self.process.stdin.close()
        assert self.process.wait(60) == 0

    def _answer(self) -> Any:
        line = self.process.stdout.readline()
        assert line, "the process has ended"
        return ast.literal_eval(line)

    def __enter__(self) -> OtherProcess:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.process.close()
