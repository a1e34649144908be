"""Processes that recall and are killed, one after another: forks of one that has imported what they need."""

from __future__ import annotations

import os
import random
import signal
import sys
import time

from tests.store.reader import open_memory, parsed, recall_and_say_so

KILLS = 20


def main(path: str) -> None:
    chance = random.Random(7)
    for _ in range(KILLS):
        heard, opened = os.pipe()
        pid = os.fork()
        if pid == 0:
            arguments = parsed(["--path", path, "--threads", "2"])
            memory = open_memory(arguments)
            os.write(opened, b"!")
            recall_and_say_so(memory, arguments)
        os.close(opened)
        assert os.read(heard, 1)  # nothing comes of one that has failed
        time.sleep(chance.uniform(0.05, 0.4))
        os.kill(pid, signal.SIGKILL)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGKILL
        os.close(heard)


if __name__ == "__main__":
    main(sys.argv[1])
