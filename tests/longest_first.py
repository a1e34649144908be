"""Which files of tests does a run on several cores begin with? With the longest: then no core waits long at the end."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TypeVar

ROOT = Path(__file__).parents[1]
SECONDS = {  # about what each takes on two cores; anything else, which takes less, comes after them
    "tests/test_examples.py": 70,
    "tests/store/chroma/test_races.py": 40,
    "tests/behaviour/test_arm.py": 25,
    "tests/mcp_server/test_stdio.py": 22,
    "tests/store/ledger/contract/test_states.py": 22,
    "tests/behaviour/test_nothing_half_done.py": 20,
    "tests/behaviour/test_processes.py": 18,
    "tests/benchmarks/test_processes.py": 18,
    "tests/behaviour/test_postgres.py": 17,
    "tests/behaviour/test_reembed.py": 17,
    "tests/behaviour/test_others_writes.py": 16,
    "tests/behaviour/test_faults.py": 15,
    "tests/behaviour/test_tenancy.py": 14,
    "tests/llama_adaptive_memory/test_two_frameworks.py": 14,
    "tests/store/chroma/test_records.py": 13,
    "tests/store/test_ledger_move.py": 13,
    "tests/cli/test_app.py": 13,
}
T = TypeVar("T")


def longest_first(items: Iterable[tuple[Path, T]]) -> list[T]:
    """The items of files, those of one file together and in their order.

    >>> longest_first([(ROOT / "tests/test_errors.py", "short"), (ROOT / "tests/behaviour/test_arm.py", "long")])
    ['long', 'short']
    """
    return [item for _, item in sorted(items, key=lambda one: -_seconds(one[0]))]


def _seconds(file: Path) -> int:
    return SECONDS.get(file.relative_to(ROOT).as_posix(), 0) if file.is_relative_to(ROOT) else 0
