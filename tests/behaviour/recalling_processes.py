"""How are processes watched that recall while something breaks? Each line that they print is heard at once."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence

from tests.forked import Forked

PATIENCE_SECONDS = 120.0


class RecallingProcesses:
    """Processes whose recalls return until they have made all of theirs, or are killed."""

    def __init__(self, processes: Sequence[Forked]) -> None:
        self.processes = list(processes)
        self.lines: list[str] = []
        self._threads: list[threading.Thread] = []
        for process in self.processes:
            self._hear(process)

    def add(self, process: Forked) -> None:
        self.processes.append(process)
        self._hear(process)

    def acknowledged(self) -> list[str]:
        """The recalls that have returned; a line that a kill has torn is none."""
        return [line.split()[0] for line in self.lines.copy() if line.endswith("\n") and len(line.split()) == 2]

    def have_returned(self, more: int) -> None:
        """Waits until so many more recalls have returned, and all processes are at it."""
        wanted, deadline = len(self.acknowledged()) + more, time.monotonic() + PATIENCE_SECONDS
        while len(self.acknowledged()) < wanted or self.lines.count("ready\n") < len(self.processes):
            assert time.monotonic() < deadline, f"{len(self.acknowledged())} recalls returned"
            time.sleep(0.01)

    def ended(self) -> list[int]:
        """How they ended, once they have."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        codes = [process.wait(max(0.1, deadline - time.monotonic())) for process in self.processes]
        for thread in self._threads:
            thread.join(PATIENCE_SECONDS)
        return codes

    def kill(self) -> None:
        for process in self.processes:
            process.kill()
        self.ended()

    def _hear(self, process: Forked) -> None:
        def hear() -> None:
            for line in process.stdout:
                self.lines.append(line)

        self._threads.append(threading.Thread(target=hear, daemon=True))
        self._threads[-1].start()
