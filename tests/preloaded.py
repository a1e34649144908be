"""How do short programs run without each importing for seconds? As forks of a process that did so once."""

from __future__ import annotations

import gc
import json
import os
import runpy
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]


class Preloaded:
    """A process that has the modules in memory and does nothing else; each program is a fork of it.

    A program has its own arguments, directory, environment and output, and ends as an interpreter ends.
    """

    def __init__(self, modules: Sequence[str], environment: Mapping[str, str], scratch: Path) -> None:
        self._scratch, self._number = scratch, 0
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.preloaded", *modules],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env={**environment, "PYTHONPATH": os.pathsep.join([str(ROOT / "shared"), str(ROOT)])},
        )
        assert self._answer() == "ready"

    def run(
        self, command: Sequence[str], cwd: Path, environment: Mapping[str, str], *, seconds: int
    ) -> subprocess.CompletedProcess[str]:
        """What became of the program, which ends itself after so many seconds."""
        self._number += 1
        out, err = (self._scratch / f"{self._number}.{kind}" for kind in ("out", "err"))
        asked = {
            "command": list(command), "cwd": str(cwd), "environment": dict(environment), "seconds": seconds,
            "out": str(out), "err": str(err),
        }  # fmt: skip
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        code = int(self._answer())
        return subprocess.CompletedProcess(list(command), code, out.read_text("utf-8"), err.read_text("utf-8"))

    def close(self) -> None:
        """The process ends with its standard input."""
        self._process.communicate(timeout=60)

    def _answer(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()


def main() -> None:
    for module in sys.argv[1:]:
        import_module(module)
    gc.freeze()  # what is imported is no garbage: no fork looks through it, at its end or before
    print("ready", flush=True)
    while line := sys.stdin.readline():
        asked = json.loads(line)
        pid = os.fork()
        if pid == 0:
            become(asked)
            runpy.run_path(asked["command"][0], run_name="__main__")
            return
        _, status = os.waitpid(pid, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def become(asked: dict[str, Any]) -> None:
    """From here on this process is the program that was asked for."""
    signal.alarm(asked["seconds"])
    os.chdir(asked["cwd"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    sys.argv[:] = asked["command"]
    sys.path[0] = str(Path(asked["command"][0]).parent)
    for target, name in ((0, os.devnull), (1, asked["out"]), (2, asked["err"])):
        source = os.open(name, os.O_RDWR | os.O_CREAT, 0o600)
        os.dup2(source, target)
        os.close(source)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8")  # type: ignore[union-attr]


if __name__ == "__main__":
    main()
