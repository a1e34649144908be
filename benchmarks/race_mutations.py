"""Does a race notice each rule of the exporter, the importer and the write-back? `python -m benchmarks.race_mutations`.

Each rule is taken out of a copy of the code by itself. Then the race that shows it, of the table in
`tests/store/chroma/test_races.py`, is run over the copy, and must fail. Exits with 1 if one does not: a rule that no
race notices needs a race, or is not needed.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
CORE = Path("shared/adaptive_memory_core")
RACES = "tests/store/chroma/test_races.py::test_a_race_ends_as_the_table_says"
EXPORTER, IMPORTER = "store/chroma/exporter.py", "store/chroma/importer.py"
WRITE_BACK, OUTBOX, MIRROR = "store/write_back.py", "store/ledger/outbox.py", "store/ledger/mirror_rows.py"
PATIENCE_SECONDS = 300.0


class Rule(NamedTuple):
    """A rule, the race that shows it with its place, and what the file says instead once the rule is taken out."""

    name: str
    file: str
    race: str
    text: str
    without: str


RULES = (
    Rule(
        "what is written is struck off afterwards",
        EXPORTER,
        "killed before the write (file)",
        "        overwrite(self._collection, rows, gone)\n",
        "        self._ledger.due_records.settle(due)\n        overwrite(self._collection, rows, gone)\n",
    ),
    Rule(
        "what changed since it was read stays pending",
        OUTBOX,
        "an export under way, and forgotten (file)",
        '"DELETE FROM due_records WHERE number = ?", [(one.number,) for one in done]',
        '"DELETE FROM due_records WHERE stored_id = ?", [(one.stored_id,) for one in done]',
    ),
    Rule(
        "a later change gets another number",
        OUTBOX,
        "an export under way, and forgotten (file)",
        "            sql.executemany(_UNMARK, [(own, one) for one in once])\n",
        '            changed = "UPDATE due_records SET gone = ? WHERE collection_key = ? AND stored_id = ?"\n'
        "            sql.executemany(changed, [(int(gone), own, one) for one in once])\n"
        "            once = [one for one in once if one not in due_among(sql, own, once)]\n",
    ),
    Rule(
        "one memory exports at a time",
        EXPORTER,
        "two exports at once (file)",
        "with self._ledger.outbox.alone(PATIENCE_SECONDS):",
        "if True:",
    ),
    Rule(
        "what is about to be written is noted first",
        EXPORTER,
        "killed after the write, which arrives again once the record has changed (server)",
        "if (fields := self._fields) is not None:",
        "if (fields := self._fields) is not None and not rows:",
    ),
    Rule(
        "what is about to be removed is noted first",
        EXPORTER,
        "a removal overtaken by another process (server)",
        "[*digests, *(exported_digest(one, REMOVED, None, fields) for one in gone)]",
        "digests",
    ),
    Rule(
        "reads of what was not there yet are due once it is",
        OUTBOX,
        "read, and written back before it is exported (file)",
        "            state_rows.add_to_outbox(sql, self._keys(sql, [one.stored_id for one in done if not one.gone]))\n",
        "",
    ),
    Rule(
        "versions are read before what is pending",
        IMPORTER,
        "an import under way, and changed before it is read and exported after (file)",
        "        due = self._due.among(page)  #",
        "        due = self._due.among(page)\n        before = self._rows.versions(page)  #",
    ),
    Rule(
        "what is pending is not compared",
        IMPORTER,
        "pending, and deleted elsewhere (file)",
        "page = [one for one in page if one not in due]\n        if not page",
        "if not page",
    ),
    Rule(
        "what is pending is not imported",
        MIRROR,
        "an import under way, and marked by a repair (file)",
        "[row for row in own if row.stored_id not in kept] for scope, own in rows.items()}\n"
        "            self.put(own, [one for one in gone if one not in kept])\n",
        "[row for row in own if row.stored_id not in newer] for scope, own in rows.items()}\n"
        "            self.put(own, [one for one in gone if one not in newer])\n",
    ),
    Rule(
        "what was written meanwhile is not imported over",
        MIRROR,
        "an import under way, and changed and exported (file)",
        "or now.rows.get(one) != before.rows.get(one)}",
        "}",
    ),
    Rule(
        "what was removed meanwhile is not imported again",
        MIRROR,
        "an import under way, and imported, forgotten and removed by another process (file)",
        "now.drops != before.drops or ",
        "",
    ),
    Rule(
        "what was written meanwhile is compared again",
        IMPORTER,
        "an import under way, and its reads written back (file)",
        "newer += self._rows.renew(",
        "self._rows.renew(",
    ),
    Rule(
        "what is pending is exported before others here write",
        IMPORTER,
        "pending, and its metadata changed here (file)",
        "if not self._listens() or not (waiting := self._due.waiting()):",
        "if writes or not self._listens() or not (waiting := self._due.waiting()):",
    ),
    Rule(
        "what others here wrote is theirs, also what we wrote before",
        IMPORTER,
        "written back here to what it was (server)",
        "if not heard and self.is_on_server and",
        "if self.is_on_server and",
    ),
    Rule(
        "a late write of an exporter is not taken for others'",
        IMPORTER,
        "an export overtaken by another process (server)",
        "if not heard and self.is_on_server and (late :=",
        "if False and (late :=",
    ),
    Rule(
        "a late removal of an exporter is not taken for others'",
        IMPORTER,
        "a removal overtaken by another process (server)",
        "        of |= {exported_digest(one, REMOVED, None, fields): one for one in gone}\n",
        "",
    ),
    Rule(
        "what is as the ledger has it is not late",
        IMPORTER,
        "its vector changed elsewhere (server)",
        " if digest != ours[one]}",
        "}",
    ),
    Rule(
        "a removal of most records is refused",
        IMPORTER,
        "most of them deleted elsewhere (file)",
        "if asked or len(gone) <= max(MOST_GONE, len(copied) / 2):",
        "if True:",
    ),
    Rule(
        "what is pending is not counted as removed",
        IMPORTER,
        "most of them pending, and another one added elsewhere (file)",
        "            gone -= self._due.among(gone)\n",
        "            pass\n",
    ),
    Rule(
        "ids are compared if the numbers do not add up",
        IMPORTER,
        "deleted elsewhere (file)",
        "if self._rows.size() + len(new) == written.size:",
        "if True:",
    ),
    Rule(
        "a comparison ends with the state that it began with",
        IMPORTER,
        "an import under way, and changed elsewhere again (file)",
        "complete_at = ON_SERVER if written is None else str(written.last)",
        "written = self._written(-1)\n        complete_at = ON_SERVER if written is None else str(written.last)",
    ),
    Rule(
        "an emptied collection is not followed until somebody asks",
        IMPORTER,
        "most of them deleted elsewhere (file)",
        "(RESTORED,) if asked else (RESTORED, EMPTIED)",
        "(RESTORED,)",
    ),
    Rule(
        "a state that changed since it was written back stays due",
        OUTBOX,
        "a write-back under way, and read again (file)",
        '"AND (SELECT version FROM records WHERE records.record_key = outbox.record_key) = ?"',
        '"AND ? IS NOT NULL"',
    ),
    Rule(
        "a state that a late write covered is due again",
        OUTBOX,
        "a write-back overtaken by another process (server)",
        "return sql.executemany(_DUE_AGAIN, versions).rowcount > 0",
        "return False",
    ),
    Rule(
        "a state is written for its own user's record alone",
        WRITE_BACK,
        "read, and given to another user elsewhere (file)",
        "if one.stored_id in present and self._is_own(one, present)]",
        "if one.stored_id in present]",
    ),
    Rule(
        "no export comes between the steps of a write-back",
        WRITE_BACK,
        "a write-back and an export at once (file)",
        "with self._ledger.outbox.alone(PATIENCE_SECONDS):\n            self._embedder_version.check()",
        "if True:\n            self._embedder_version.check()",
    ),
    Rule(
        "the ledger's copy is compared by itself",
        WRITE_BACK,
        "a write-back of what was stored again, overtaken by another process (server)",
        "        self._copy(own, batch)  #",
        "        self._copy([one for one in own if one.stored_id in changes], batch)  #",
    ),
    Rule(
        "the copy of another record under the id is left alone",
        WRITE_BACK,
        "a write-back under way, and another record under the id (file)",
        "kept = self._unchanged(batch)",
        "kept = set(late)",
    ),
)


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--only", default="", help="the rules whose name contains this")
    given = arguments.parse_args()
    rules = [one for one in RULES if given.only in one.name]
    missed = 0
    for rule in rules:
        with tempfile.TemporaryDirectory() as folder:
            for name in ("shared", "tests"):
                shutil.copytree(ROOT / name, Path(folder) / name, ignore=shutil.ignore_patterns("__pycache__"))
            shutil.copy(ROOT / "pyproject.toml", folder)
            (Path(folder) / CORE / rule.file).write_text(mutated(rule), "utf-8")
            noticed = fails(Path(folder), rule.race)
        missed += not noticed
        print(f"{'noticed' if noticed else 'NOT NOTICED'}: {rule.name} [{rule.race}]", flush=True)
    print(f"{len(rules) - missed} of {len(rules)} rules are noticed")
    return int(missed > 0)


def mutated(rule: Rule) -> str:
    """The text of the file without the rule."""
    text = (ROOT / CORE / rule.file).read_text("utf-8")
    if (found := text.count(rule.text)) != 1:
        raise ValueError(f"{rule.file} has the text of the rule {rule.name!r} {found} times, not once. Update RULES.")
    return text.replace(rule.text, rule.without)


def fails(folder: Path, race: str) -> bool:
    """Whether the race fails over the code in this folder."""
    environment = {**os.environ, "PYTHONPATH": f"{folder / 'shared'}{os.pathsep}{folder}"}
    command = [sys.executable, "-m", "pytest", "-q", "--tb=no", "-p", "no:cacheprovider", f"{RACES}[{race}]"]
    try:
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=PATIENCE_SECONDS
        )
    except subprocess.TimeoutExpired:
        return True
    if done.returncode not in (0, 1):
        raise RuntimeError(f"The race {race!r} cannot be run: {done.stdout[-500:]}{done.stderr[-500:]}")
    return done.returncode == 1


if __name__ == "__main__":
    sys.exit(main())
