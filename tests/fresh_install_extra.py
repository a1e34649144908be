"""Is one extra enough for what is shown of it? Run in an environment that holds the wheel with just that extra.

`make fresh-langchain` and `make fresh-llama-index` make the environment and run this file in it: with the pages and the
examples whose code is to run.
"""

from __future__ import annotations

import importlib
import os
import re
import runpy
import sys
import tempfile
from pathlib import Path
from typing import Any

FENCE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def run_page(page: Path) -> int:
    """The code of a page, block after block, as a reader would paste it; gives how many blocks there were."""
    names: dict[str, Any] = {"__name__": page.stem}
    blocks = FENCE.findall(page.read_text(encoding="utf-8"))
    for code in blocks:
        exec(compile(code, page.name, "exec", dont_inherit=True), names)
    return len(blocks)


def main(paths: list[str]) -> None:
    home = importlib.import_module("adaptive_memory_core").__file__
    assert "site-packages" in str(home), "adaptive_memory_core was not imported from the wheel"
    for path in [Path(one).resolve() for one in paths]:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory:
            os.chdir(directory)
            if path.suffix == ".md":
                assert run_page(path) > 0, f"{path.name} shows no code"
            else:
                runpy.run_path(str(path), run_name="__main__")
            os.chdir(Path.home())
    print(f"{len(paths)} pages and examples run in this environment")


if __name__ == "__main__":
    main(sys.argv[1:])
