"""Are a large user's vectors and words in files as they are in the ledger, and is what was forgotten gone there?"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest

from adaptive_memory_core import AdaptiveMemory, Keeping, Policy, UserMemory
from adaptive_memory_core.store import user_copies
from adaptive_memory_core.store.locations import LEDGER_NAME
from tests.behaviour.conftest import eventually
from tests.behaviour.other_process import OtherProcess, by_letters

WORDS = ["tea", "coffee", "water", "wine", "milk", "juice", "beer", "cocoa", "cider", "lemonade", "soda", "rum"]
NOW = 1_760_000_000.0
FOLDER = f"{LEDGER_NAME}.copies"
BOTH = Policy(channels=("dense", "lexical"), refresh_floor_seconds=0.0)
IN_FILES, IN_ROWS = Keeping(file_records=20, lag_seconds=0.2), Keeping(file_records=0, lag_seconds=0.2)


def opened(directory: Path, keeping: Keeping = IN_FILES) -> Any:
    given: Any = {"embedder": by_letters, "keeping": keeping, "policy": BOTH, "clock": lambda: NOW}
    return closing(AdaptiveMemory.open(directory, **given))


def text_of(number: int) -> str:
    return " ".join(Random(number).choices(WORDS, k=6)) + f" number{number}"


def files(directory: Path) -> dict[str, Path]:
    """The finished files by what they hold."""
    there = (directory / FOLDER).glob("*") if (directory / FOLDER).exists() else ()
    return {one.name.split("-")[1]: one for one in there if not one.suffix}


def holding(directory: Path, said: bytes) -> list[Path]:
    """The files, finished or not, in which this stands."""
    found = list[Path]()
    for one in (directory / FOLDER).iterdir():
        with suppress(FileNotFoundError):  # it goes just now
            found += [one] if said in one.read_bytes() else []
    return found


def filled(directory: Path, records: int = 40) -> dict[str, Path]:
    """A directory with one user's records, whose files are written."""
    with opened(directory) as memory:
        alice = memory.for_user("alice")
        alice.remember_many([{"text": text_of(number), "id": f"m{number}"} for number in range(records)])
        return written(directory, alice)


def written(directory: Path, alice: UserMemory) -> dict[str, Path]:
    before = set(files(directory).values())
    alice.recall("tea", k=3)
    assert eventually(lambda: len(files(directory)) == 2 and not set(files(directory).values()) & before)
    return files(directory)


def found(directory: Path, keeping: Keeping, cues: Sequence[str] = WORDS) -> list[Any]:
    """All that recalls by a memory opened anew say."""
    with opened(directory, keeping) as memory:
        alice = memory.for_user("alice")
        recalls = [alice.recall(cue, k=8, reinforce=False) for cue in cues]
        return [[(hit.id, round(hit.score, 6)) for hit in one] for one in recalls]


def are_gone(before: dict[str, Path], said: bytes) -> bool:
    """Whether these files are no more; what the background has made since does not say this."""
    assert not [one for one in before.values() if one.exists()]
    return not [one for one in holding(next(iter(before.values())).parents[1], said) if not one.suffix]


def read_from(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the files that are read whole from now on."""
    names, read = list[str](), user_copies.load

    def noted(place: Path) -> Any:
        arrays = read(place)
        names.extend([place.name] if arrays is not None else [])
        return arrays

    monkeypatch.setattr(user_copies, "load", noted)
    return names


def test_a_user_is_found_in_files_as_in_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there = filled(tmp_path)
    expected = found(tmp_path, IN_ROWS)
    names = read_from(monkeypatch)
    assert found(tmp_path, IN_FILES) == expected
    assert set(names) == {one.name for one in there.values()}


def test_small_users_have_no_files(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        bob = memory.for_user("bob")
        bob.remember_many([text_of(number) for number in range(19)])
        bob.recall("tea")
        memory.flush()
        assert files(tmp_path) == {}


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.hard("random run")
def test_whatever_is_written_and_forgotten_afterwards_files_and_rows_say_the_same(tmp_path: Path, seed: int) -> None:
    filled(tmp_path)
    chance = Random(seed)
    for _ in range(3):
        with opened(tmp_path, IN_FILES) as memory:
            alice = memory.for_user("alice")
            for _ in range(chance.randrange(1, 5)):
                change(alice, chance)
                if chance.random() < 0.5:
                    alice.recall(chance.choice(WORDS), k=3)
        assert found(tmp_path, IN_FILES) == found(tmp_path, IN_ROWS)


def change(alice: UserMemory, chance: Random) -> None:
    number = chance.randrange(60)
    if chance.random() < 0.3 and (ids := alice.recall("tea", k=1, reinforce=False).ids):
        alice.forget(ids[0])
    elif chance.random() < 0.3:
        alice.remember_many([{"text": text_of(100 + one), "id": f"n{one}"} for one in range(number)])
    else:
        alice.remember(text_of(chance.randrange(1_000)), id=f"m{number}")


def test_what_is_forgotten_is_in_no_file_any_more(tmp_path: Path) -> None:
    filled(tmp_path)
    with opened(tmp_path) as memory:
        alice = memory.for_user("alice")
        vector = memory.ports().ledger.mirror.vectors(["m7"])["m7"]
        before = files(tmp_path)
        assert any(b'"m7"' in one.read_bytes() for one in before.values())
        alice.forget("m7")
        assert are_gone(before, b'"m7"')
        for one in written(tmp_path, alice).values():
            assert b'"m7"' not in one.read_bytes()
            assert vector not in one.read_bytes()


def test_what_was_forgotten_by_a_process_that_died_at_once_goes_with_the_next_opening(tmp_path: Path) -> None:
    before = filled(tmp_path)
    with closing(sqlite3.connect(tmp_path / LEDGER_NAME)) as sql, sql:
        sql.execute("DELETE FROM mirror WHERE stored_id = 'm7'")
        sql.execute("DELETE FROM words WHERE stored_id = 'm7'")
    assert set(files(tmp_path).values()) == set(before.values())
    with opened(tmp_path):
        assert are_gone(before, b'"m7"')


def test_what_is_forgotten_while_a_file_is_written_keeps_it_from_being_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = user_copies.write
    with opened(tmp_path) as memory:
        alice = memory.for_user("alice")

        receipts = []

        def forgotten(place: Path, *rest: Any) -> None:
            write(place, *rest)
            monkeypatch.setattr(user_copies, "write", write)
            receipts.append(alice.forget("m7"))

        monkeypatch.setattr(user_copies, "write", forgotten)
        alice.remember_many([{"text": text_of(number), "id": f"m{number}"} for number in range(40)])
        alice.recall("tea")
        assert eventually(lambda: len(receipts) == 1)
        assert eventually(lambda: not holding(tmp_path, b'"m7"'))


def torn(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-5_000])


def flipped(file: Path) -> None:
    """A bit of what it holds is another: of the vectors, or of the words."""
    whole = bytearray(file.read_bytes())
    whole[next(at for at in range(4_096, len(whole)) if whole[at])] ^= 1
    file.write_bytes(whole)


@pytest.mark.parametrize("damage", [torn, flipped, Path.unlink, lambda one: one.write_bytes(b"of another program")])
def test_a_file_that_is_torn_gone_or_foreign_is_made_anew(tmp_path: Path, damage: Callable[[Path], object]) -> None:
    before = filled(tmp_path)
    expected = found(tmp_path, IN_ROWS)
    for one in before.values():
        damage(one)
    assert found(tmp_path, IN_FILES) == expected
    with opened(tmp_path) as memory:
        memory.for_user("alice").recall("tea", k=3, reinforce=False)
        assert eventually(lambda: len(files(tmp_path)) == 2 and all(map(user_copies.load, files(tmp_path).values())))
    assert found(tmp_path, IN_FILES) == expected


def test_a_copied_directory_is_as_good_and_each_goes_its_own_way(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    filled(one)
    shutil.copytree(one, other)
    with opened(other) as memory:
        memory.for_user("alice").forget("m7")
    assert files(one)
    assert files(other) == {}
    for each in (one, other):
        assert found(each, IN_FILES) == found(each, IN_ROWS)


def test_an_older_ledger_does_not_take_the_files_of_a_later_one(tmp_path: Path) -> None:
    filled(tmp_path / "memory")
    shutil.copytree(tmp_path / "memory", tmp_path / "older")
    with opened(tmp_path / "memory") as memory:
        alice = memory.for_user("alice")
        alice.remember(text_of(500), id="m3")
        written(tmp_path / "memory", alice)
    shutil.rmtree(tmp_path / "older" / FOLDER)
    shutil.copytree(tmp_path / "memory" / FOLDER, tmp_path / "older" / FOLDER)
    assert found(tmp_path / "older", IN_FILES) == found(tmp_path / "older", IN_ROWS)


def test_a_backup_has_no_files(tmp_path: Path) -> None:
    filled(tmp_path / "memory")
    with opened(tmp_path / "memory") as memory:
        memory.backup(tmp_path / "copy")
        assert files(tmp_path / "memory")
    assert not (tmp_path / "copy" / FOLDER).exists()
    assert found(tmp_path / "copy", IN_FILES) == found(tmp_path / "memory", IN_ROWS)


def test_other_vectors_are_not_looked_for_in_the_files_of_the_earlier_ones(tmp_path: Path) -> None:
    def reversed_letters(texts: list[str]) -> list[list[float]]:
        return [one[::-1] for one in by_letters(texts)]

    filled(tmp_path)
    with opened(tmp_path) as memory:
        memory.reembed(reversed_letters)
        memory.for_user("alice").recall("tea")
    with closing(AdaptiveMemory.open(tmp_path, embedder=reversed_letters, keeping=IN_FILES, policy=BOTH)) as memory:
        rows = memory.ports().ledger.mirror.vectors(["m3"])
        assert memory.for_user("alice").recall("tea", k=8).ids
        assert rows


@pytest.mark.hard("processes")
def test_processes_share_the_files(tmp_path: Path) -> None:
    filled(tmp_path)
    keeping = "options['keeping'] = Keeping(file_records=20, lag_seconds=0.2)"
    with opened(tmp_path) as memory, OtherProcess(tmp_path, keeping) as other:
        alice = memory.for_user("alice")
        assert (
            other.do("alice.recall('tea', k=3, reinforce=False).ids")
            == alice.recall("tea", k=3, reinforce=False, policy=Policy(refresh_floor_seconds=0.0)).ids
        )
        before = files(tmp_path)
        assert other.do("alice.forget('m7').collection") is True
        assert are_gone(before, b'"m7"')
        assert "m7" not in alice.recall(text_of(7), k=8).ids
        other.do("alice.recall('tea', k=3).ids")
        assert eventually(lambda: len(files(tmp_path)) == 2)
