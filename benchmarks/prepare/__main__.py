"""Which folder does a benchmark read? This makes it, from the files that a public set publishes itself.

    python -m benchmarks.prepare NAME --from FILES --to DIR     # DIR/NAME, for a benchmark's --data DIR

FILES are the published files, or folders that hold them (a checkout, say). Nothing is fetched: where each set is
published, under which licence and with which checksums stands in benchmarks/README.md. A file that is not the one our
figures were measured on is named, and taken all the same.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from adaptive_memory_core.errors import InvalidInputError
from benchmarks.data import load
from benchmarks.prepare.draw import Draw
from benchmarks.prepare.folder import write
from benchmarks.prepare.public_set import PublicSet, UnusableError
from benchmarks.prepare.published_files import found, other_versions
from benchmarks.prepare.sets import SETS


def main() -> None:
    arguments = parsed()
    name, public = arguments.name, SETS[arguments.name]
    try:
        files = found(public.files, arguments.files)
        rows = public.rows(files, wanted(public, arguments))
    except (UnusableError, InvalidInputError) as problem:
        raise SystemExit(f"{name}: {problem}\nbenchmarks/README.md says where its files are published.") from None
    for note in other_versions(public.files, files):
        print(f"note: {note}", file=sys.stderr)
    sums = write(arguments.to / name, rows)
    print(f"{arguments.to / name}: {len(rows.corpus):,} items, {len(rows.queries):,} questions")
    load(arguments.to, name)  # ends the program where a benchmark could not read it
    for file, checksum in sums.items():
        print(f"  {file}  sha256 {checksum}{agreement(public, file, checksum, drawn=arguments.questions is not None)}")


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.prepare", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("name", choices=sorted(SETS), metavar="NAME", help=f"one of {', '.join(sorted(SETS))}")
    parser.add_argument("--from", dest="files", type=Path, nargs="+", required=True, metavar="FILES")
    parser.add_argument("--to", type=Path, required=True, metavar="DIR")
    parser.add_argument("--questions", type=int, help="draw so many, where the set can be drawn from (omitted: all)")
    parser.add_argument("--seed", type=int, default=0, help="of the draw")
    return parser.parse_args()


def wanted(public: PublicSet, arguments: argparse.Namespace) -> Draw:
    """Which of its questions are taken."""
    if arguments.questions is not None and not public.can_be_drawn:
        raise UnusableError("is taken whole, so --questions cannot be given. Leave it out.")
    if arguments.questions is not None and arguments.questions < 1:
        raise UnusableError(f"--questions is {arguments.questions}. Give a number from 1, or leave it out for all.")
    return Draw(arguments.questions, arguments.seed)


def agreement(public: PublicSet, file: str, checksum: str, *, drawn: bool) -> str:
    """Whether it is the file behind our figures, where there is one and nothing was drawn."""
    known = public.made.get(file)
    if known is None or drawn:
        return ""
    return " (as in our figures)" if known == checksum else " (our figures were measured on another one)"


if __name__ == "__main__":
    main()
