"""Do imports point down, and do the pure folders stay pure? Read from the source, not from what is loaded."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CORE = ROOT / "shared" / "adaptive_memory_core"
PACKAGES = [CORE, ROOT / "langchain_adaptive_memory", ROOT / "llama_adaptive_memory"]
PURE = {
    "where",
    "metadata_columns",
    "masked_secrets",
    "pages",
    "cue",
    "channels",
    "score",
    "learn",
    "graph",
    "hierarchy",
    "context",
}
LAYERS = [  # lowest first; a lower one never imports a higher one
    {"error_messages", "errors", "frozen", "late", "ranges", "whole_file"},
    {"fields", "records", "reports", "identity"},
    {"policy"},
    PURE | {"metadata_values", "record_metadata"},
    {"arguments", "languages", "length_limits"},
    {"flow", "sources"},
    {
        "entities",
        "in_force",
        "judges",
        "memory",
        "model_tools",
        "options",
        "opened",
        "wiring",
        "shared_memories",
        "dynamic_rag",
        "user_memory",
        "users_together",
        "verbs",
        "telemetry",
        "store",
        "models",
        "evaluate",
    },
    {"__init__", "__main__", "cli", "mcp_server", "langchain_adaptive_memory", "llama_adaptive_memory"},
]
IMPURE = {"time", "random", "logging", "os", "sqlite3", "chromadb", "asyncio", "secrets", "uuid", "threading", "socket"}
FILES = [file for package in PACKAGES for file in sorted(package.rglob("*.py"))]


def part(file: Path) -> str:
    """The folder or file of the core, or the name of the other package, that a file is in."""
    inside = file.relative_to(CORE) if file.is_relative_to(CORE) else file.relative_to(ROOT)
    return inside.parts[0].removesuffix(".py")


def level(name: str) -> int:
    found = [number for number, names in enumerate(LAYERS) if name in names]
    assert found, f"{name} is in no layer of tests/test_layers.py: say where it belongs"
    return found[0]


@cache
def imports(file: Path, *, types: bool = False) -> Sequence[str]:
    """The dotted names a file imports; those under `if TYPE_CHECKING` only where asked for."""
    return tuple(_imports(file, types))


def _imports(file: Path, types: bool) -> Iterator[str]:
    pending: list[ast.AST] = [ast.parse(file.read_text(encoding="utf-8"))]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test) and not types:
            pending.extend(node.orelse)
        elif isinstance(node, ast.Import):
            yield from (one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file} imports relatively"
            yield from (f"{node.module}.{one.name}" for one in node.names)
        else:
            pending.extend(ast.iter_child_nodes(node))


def ours(name: str) -> str | None:
    """The part of our packages a dotted name belongs to, if any."""
    parts = name.split(".")
    if parts[0] == "adaptive_memory_core":
        inside = parts[1] if len(parts) > 1 else "__init__"
        return inside if (CORE / inside).is_dir() or (CORE / f"{inside}.py").exists() else "__init__"
    return parts[0] if parts[0] in LAYERS[-1] else None


def test_there_is_something_to_check() -> None:
    assert len(FILES) > 30
    assert {"flow", "score", "store", "memory"} <= {part(file) for file in FILES}


def test_imports_point_down() -> None:
    upwards = [
        (str(file.relative_to(ROOT)), name)
        for file in FILES
        for name in imports(file)
        if (target := ours(name)) is not None and level(target) > level(part(file))
    ]
    assert upwards == []


def test_pure_folders_reach_for_no_clock_no_chance_and_no_outside() -> None:
    pure = [file for file in FILES if part(file) in PURE]
    reached = {file.name: {name.split(".")[0] for name in imports(file)} & IMPURE for file in pure}
    assert {file: names for file, names in reached.items() if names} == {}


def test_nobody_imports_the_core_under_a_second_name() -> None:
    importing = [file for file in FILES for name in imports(file, types=True) if name.split(".")[0] == "shared"]
    assert importing == []


def test_shared_is_a_folder_and_no_package() -> None:
    assert not (ROOT / "shared" / "__init__.py").exists()


@pytest.mark.parametrize("framework", ["langchain", "langchain_core", "langgraph", "llama_index"])
def test_the_core_knows_no_framework(framework: str) -> None:
    core = [file for file in FILES if file.is_relative_to(CORE)]
    assert not [file.name for file in core for name in imports(file, types=True) if name.split(".")[0] == framework]


def test_only_the_front_door_reads_the_clock() -> None:
    """`time.time` is named nowhere else; waiting with `time.monotonic` is no reading of the clock."""
    readers = {
        str(file.relative_to(CORE))
        for file in FILES
        if file.is_relative_to(CORE)
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and ast.unparse(node) in {"time.time", "datetime.now", "datetime.utcnow"}
    }
    assert readers <= {"memory.py", "cli.py"}


def test_no_two_public_classes_of_the_core_share_a_name() -> None:
    """Any that must needs an exception here, with its reason. There is none."""
    homes: dict[str, list[str]] = {}
    for file in (file for file in FILES if file.is_relative_to(CORE)):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, []).append(str(file.relative_to(CORE)))
    assert {name: files for name, files in homes.items() if len(files) > 1} == {}
