"""The size of the project: indicators that are counted from the source and from one default recall.

python -m tests.size            # each indicator, beside the limit in tests/size_limits.txt
"""

from __future__ import annotations

import ast
import dataclasses
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

from tests import prose

ROOT = Path(__file__).parents[1]
CORE = ROOT / "shared" / "adaptive_memory_core"
LIMITS = ROOT / "tests" / "size_limits.txt"
SHORT_LINES = 40


def main() -> None:
    allowed = limits()
    for name, number in measured().items():
        print(f"{name:40} {number:7,}   limit {allowed[name]:7,}")


def limits() -> dict[str, int]:
    """What tests/size_limits.txt allows."""
    lines = [line for line in LIMITS.read_text("utf-8").splitlines() if line and not line.startswith("#")]
    return {name.strip(): int(number.replace(",", "")) for name, _, number in (line.rpartition(" ") for line in lines)}


def measured() -> dict[str, int]:
    return {**in_the_source(), **in_the_interface(), **in_a_recall()}


def in_the_source() -> dict[str, int]:
    sources = {file: file.read_text("utf-8") for file in sorted(CORE.rglob("*.py"))}
    trees = {file: ast.parse(text) for file, text in sources.items()}
    short = [
        file for file, text in sources.items() if len(text.splitlines()) < SHORT_LINES and file.name != "__init__.py"
    ]
    research = lines_of(ROOT / "docs" / "research", "*.md")
    return {
        "files under shared": len(sources),
        f"files under {SHORT_LINES} lines": len(short),
        "statements under shared": sum(statements(tree) for tree in trees.values()),
        "interface methods": sum(interface_methods(tree) for tree in trees.values()),
        "lines of tests": lines_of(ROOT / "tests", "*.py"),
        "lines of docs": lines_of(ROOT / "docs", "*.md") - research + lines_of(ROOT, "README.md", deep=False),
        "lines of research notes": research,
        "messages that break a rule of prose": len(prose.in_messages()),
        "docstrings that break a rule of prose": len(prose.in_docstrings()),
    }


def statements(tree: ast.AST) -> int:
    """Without docstrings; formatting does not change the number."""
    found = [node for node in ast.walk(tree) if isinstance(node, ast.stmt)]
    return sum(not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)) for node in found)


def interface_methods(tree: ast.AST) -> int:
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    protocols = [one for one in classes if any("Protocol" in ast.unparse(base) for base in one.bases)]
    return sum(isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) for one in protocols for node in one.body)


def lines_of(folder: Path, pattern: str, *, deep: bool = True) -> int:
    files = folder.rglob(pattern) if deep else folder.glob(pattern)
    return sum(len(file.read_text("utf-8").splitlines()) for file in files)


def in_the_interface() -> dict[str, int]:
    import adaptive_memory_core as core

    verbs = [name for name in dir(core.UserMemory) if not name.startswith("_")]
    twins = [name for name in verbs if name.startswith("a") and name[1:] in verbs]
    return {
        "public names": len(core.__all__),
        "names on a user": len(verbs),
        "names on a user, without async twins": len(verbs) - len(twins),
        "top-level names in Policy": len(dataclasses.fields(core.Policy)),
        "settings in Policy": settings(core.Policy()),
    }


def settings(value: Any) -> int:
    """The fields that hold a value, at any depth."""
    if not dataclasses.is_dataclass(value):
        return 1
    return sum(settings(getattr(value, field.name)) for field in dataclasses.fields(value))


def in_a_recall() -> dict[str, int]:
    """What a default memory imports, and what a recall of 60 records passes through once it is warm."""
    from adaptive_memory_core import AdaptiveMemory

    with tempfile.TemporaryDirectory() as folder, AdaptiveMemory.open(folder) as memory:
        user = memory.for_user("ana")
        user.remember_many([f"note {one} about topic {one % 7} and place {one % 5}" for one in range(60)])
        for _ in range(5):
            user.recall("topic 3 in place 2")
        files, calls = set[str](), 0

        def watch(frame: FrameType, event: str, _argument: object) -> None:
            nonlocal calls
            if event == "call" and frame.f_code.co_filename.startswith(str(CORE)):
                calls += 1
                files.add(frame.f_code.co_filename)

        sys.setprofile(watch)
        try:
            user.recall("topic 3 in place 2")
        finally:
            sys.setprofile(None)
    imported = list(imported_files())
    return {
        "files on the default path": len(imported),
        "statements on the default path": sum(statements(ast.parse(file.read_text("utf-8"))) for file in imported),
        "files per recall": len(files),
        "calls per recall": calls,
    }


def imported_files() -> Iterator[Path]:
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if file and Path(file).is_relative_to(CORE):
            yield Path(file)


if __name__ == "__main__":
    main()
