"""What does `make docs` do? It gathers the pages, builds the site of them and fails at a link that leads nowhere.

python docs/build_site.py [FOLDER]        # omitted: build/docs; the site is in FOLDER/site
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
from docs.broken_links import broken_links  # noqa: E402  (run as a file, Python knows its own folder alone)
from docs.gather_pages import gather  # noqa: E402  (run as a file, Python knows its own folder alone)


def main() -> None:
    built = build(ROOT, Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build" / "docs"))
    print(f"The site is in {built}. To read it: {Path(sys.executable).name} -m http.server --directory {built}")


def build(root: Path, folder: Path) -> Path:
    """Builds the site of the repository at `root` in `folder`, and gives where it is.

    What the builder complains of (a link or an anchor that is not there, a page of the navigation that is missing) ends
    the program, with the page and the line.
    """
    if sys.version_info < (3, 11):
        raise SystemExit(
            "the documentation is built with zensical, which needs Python 3.11 or later: make docs PYTHON=..."
        )
    shutil.rmtree(folder, ignore_errors=True)
    gather(root, folder / "pages")
    shutil.copy(root / "docs" / "zensical.toml", folder / "zensical.toml")
    run = [sys.executable, "-m", "zensical", "build", "--strict", "--clean"]
    packages = os.pathsep.join([str(root / "shared"), str(root)])
    built = subprocess.run(
        run,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": packages, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    if built.returncode:
        raise SystemExit(f"the documentation was not built:\n{built.stdout}{built.stderr}")
    if broken := broken_links(folder / "site"):
        raise SystemExit("\n".join(["the documentation has links that lead nowhere:", *broken]))
    return folder / "site"


if __name__ == "__main__":
    main()
