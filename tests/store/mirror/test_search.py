"""Does the mirror find what Chroma finds, with the same similarities, and what brute force finds?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from chromadb import Collection

from adaptive_memory_core import SQLiteLedger
from adaptive_memory_core.cue.time.intent import Window
from adaptive_memory_core.errors import FilterError, StoreError
from adaptive_memory_core.fields import Fields
from adaptive_memory_core.flow.ports.ledger_values import MirrorRow
from adaptive_memory_core.flow.ports.source import Found
from adaptive_memory_core.record_metadata import windows_filter
from adaptive_memory_core.records import Scope
from adaptive_memory_core.store.chroma.chroma_calls import both_filters
from adaptive_memory_core.store.chroma.chroma_search import ChromaSearch
from adaptive_memory_core.store.mirror.record_search import MirrorSearch

ALICE, BOB, ALL, NOBODY = Scope("alice"), Scope("bob"), Scope(None), Scope("nobody")
SCOPES = (ALICE, BOB, ALL, NOBODY, Scope("alice", over="everyone"))
COUNT, DIMENSION = 300, 12
FILTERS: list[Any] = [
    None,
    {"kind": "fact"},
    {"$and": [{"kind": "fact"}, {"n": {"$gte": 40}}]},
    {"$or": [{"n": {"$lt": 20}}, {"kind": {"$nin": ["fact", "event"]}}]},
    {"kind": "none of these"},
    {"kind": "fact", "n": {"$lt": 90}},
]
Both = tuple[ChromaSearch, MirrorSearch, Any]


@pytest.fixture(params=["cosine", "ip", "l2"])
def both(request: pytest.FixtureRequest, new_collection: Callable[..., Collection], tmp_path: Path) -> Iterator[Both]:
    """The same records in Chroma and in a mirror; with their vectors."""
    rng = np.random.default_rng(7)
    vectors = rng.normal(size=(COUNT, DIMENSION)).astype(np.float32)
    ids = [f"m{number}" for number in range(COUNT)]
    texts = [f"text {number}" for number in range(COUNT)]
    metadatas = [a_record(number) for number in range(COUNT)]
    collection = new_collection(request.param)
    collection.add(ids=ids, embeddings=vectors, documents=texts, metadatas=metadatas)  # type: ignore[arg-type]
    ledger = SQLiteLedger(str(tmp_path / "ledger.sqlite3"))
    ledger.attach("uuid", "memories")
    rows: dict[Scope | None, list[MirrorRow]] = {}
    for row in zip(ids, texts, metadatas, vectors, strict=True):
        rows.setdefault(Scope(row[2].get("user_id")), []).append(MirrorRow(*row[:3], row[3].tobytes()))
    ledger.mirror.put(rows)
    mirror = MirrorSearch(ledger, Fields(), request.param, 10_000_000)
    yield ChromaSearch(collection, Fields()), mirror, dict(zip(ids, vectors, strict=True))
    ledger.close()


def a_record(number: int) -> dict[str, Any]:
    owner = ("alice", "bob", None)[number % 3]
    kind = ("fact", "event", "other", None)[number % 4]
    found = {"n": number, "created_at": 100.0 * number, "user_id": owner, "kind": kind}
    return {key: value for key, value in found.items() if value is not None}


def alike(found: list[Found], expected: list[Found]) -> None:
    assert [one.stored_id for one in found] == [one.stored_id for one in expected]
    for one, other in zip(found, expected, strict=True):
        assert one[:3] == other[:3]
        assert one.similarity == pytest.approx(other.similarity, abs=2e-5)


def test_the_nearest_are_chromas(both: Both) -> None:
    chroma, mirror, _ = both
    rng = np.random.default_rng(8)
    for scope in SCOPES:
        for where in FILTERS:
            vector = rng.normal(size=DIMENSION).astype(np.float32)
            alike(mirror.nearest(scope, vector, 7, where), chroma.nearest(scope, vector, 7, where))


def test_more_than_there_are_brings_all(both: Both) -> None:
    chroma, mirror, vectors = both
    alike(mirror.nearest(BOB, vectors["m1"], 1_000, None), chroma.nearest(BOB, vectors["m1"], 1_000, None))


def test_named_records_are_compared_as_chroma_does(both: Both) -> None:
    chroma, mirror, vectors = both
    named = ["m0", "m1", "m2", "m3", "m6", "gone", "m9"]
    for where in FILTERS:
        alike(mirror.among(ALICE, vectors["m3"], named, where), chroma.among(ALICE, vectors["m3"], named, where))


def test_the_nearest_and_the_named_ones_come_in_one_look(both: Both) -> None:
    chroma, mirror, vectors = both
    named = [*(f"m{number}" for number in range(0, COUNT, 7)), "gone"]
    for scope in SCOPES:
        for where in FILTERS:
            found = mirror.compare(scope, vectors["m3"], 7, where, named)
            nearest = chroma.nearest(scope, vectors["m3"], 7, where)
            alike(list(found.nearest), nearest)
            here = {one.stored_id for one in nearest}
            others = [one for one in chroma.among(scope, vectors["m3"], named, where) if one.stored_id not in here]
            alike(list(found.named or ()), others)


def test_windows_of_time_and_filters_go_together(both: Both) -> None:
    chroma, mirror, vectors = both
    windows = [Window(2_000.0, 4_000.0), Window(None, 700.0)]
    for where in FILTERS:
        within = both_filters(where, windows_filter(windows, Fields()))
        alike(mirror.nearest(ALICE, vectors["m5"], 9, within), chroma.nearest(ALICE, vectors["m5"], 9, within))


def test_what_passes_a_filter_is_what_chroma_says(both: Both) -> None:
    chroma, mirror, _ = both
    for scope in (ALICE, BOB):
        for where in FILTERS[1:]:
            assert mirror.passing(scope, where) == chroma.passing(scope, where)


def test_a_filter_sees_metadata_that_changed(both: Both) -> None:
    _, mirror, vectors = both
    before = mirror.passing(ALICE, {"kind": "fact"})
    mirror._rows.annotate({"m3": {"kind": "fact"}, "m0": {"kind": None}})
    assert mirror.passing(ALICE, {"kind": "fact"}) == before - {"m0"} | {"m3"}
    mirror._rows.drop(["m3"])
    assert mirror.passing(ALICE, {"kind": "fact"}) == before - {"m0"}
    assert "m3" not in [one.stored_id for one in mirror.nearest(ALICE, vectors["m3"], 100, {"n": {"$gte": 0}})]


def test_records_and_vectors_are_given_to_their_scope_alone(both: Both) -> None:
    chroma, mirror, _ = both
    named = ["m0", "m1", "m2", "gone"]
    for scope in SCOPES:
        assert sorted(mirror.stored(scope, named)) == sorted(chroma.stored(scope, named))
        assert mirror.vectors(scope, named).keys() == chroma.vectors(scope, ["m0", "m1", "m2"]).keys()


@pytest.mark.parametrize(
    "where",
    [
        {"#document": {"$contains": "text"}},
        {"#document": {"$contains": "1"}},
        {"#document": {"$not_contains": "1"}},
        {"$and": [{"n": {"$gte": 1}}, {"#document": {"$contains": "3"}}]},
        {"$or": [{"kind": "fact"}, {"#document": {"$contains": "0"}}]},
    ],
)
def test_a_filter_of_texts_passes_what_chroma_passes(both: Both, where: dict[str, Any]) -> None:
    chroma, mirror, vectors = both
    for scope in SCOPES:
        passing = {one for part in scope.parts for one in chroma.passing(part, where) if chroma.stored(part, [one])}
        assert mirror.passing(scope, where) == passing
        alike(mirror.nearest(scope, vectors["m0"], 9, where), chroma.nearest(scope, vectors["m0"], 9, where))


def test_a_text_that_was_written_over_is_filtered_by_what_it_says_now(both: Both) -> None:
    _, mirror, _ = both
    asked = {"#document": {"$contains": "a heron"}}
    assert mirror.passing(ALICE, asked) == set()
    for number in range(60):  # former texts do not pile up
        rows = mirror._rows.rows(["m0"])
        vector = mirror._rows.vectors(["m0"])["m0"]
        metadata = dict(rows[0][2] or {})
        mirror._rows.put({ALICE: [MirrorRow("m0", f"a heron, {number} times", metadata, vector)]})
        assert mirror.passing(ALICE, asked) == {"m0"}
        assert mirror.passing(ALICE, {"#document": {"$contains": f" {number} times"}}) == {"m0"}
    mirror._rows.drop(["m0"])
    assert mirror.passing(ALICE, asked) == set()


def test_a_vector_that_no_record_could_have_is_refused(both: Both) -> None:
    _, mirror, _ = both
    for wrong in (np.zeros(DIMENSION + 1), np.full(DIMENSION, np.nan)):
        with pytest.raises(StoreError, match=f"has {len(wrong)} numbers, and those of the collection have {DIMENSION}"):
            mirror.nearest(ALICE, wrong, 3, None)


def test_a_filter_that_chroma_refuses_is_refused(both: Both) -> None:
    chroma, mirror, vectors = both
    for search in (chroma, mirror):
        with pytest.raises(FilterError):
            search.nearest(ALICE, vectors["m0"], 3, {"n": {"$near": 3}})


def test_users_in_ram_stay_within_their_bound(both: Both, tmp_path: Path) -> None:
    _, _, vectors = both
    ledger = SQLiteLedger(str(tmp_path / "ledger.sqlite3"))
    ledger.attach("uuid", "memories")
    small = MirrorSearch(ledger, Fields(), "cosine", 30_000)
    for scope in (ALICE, BOB, ALL, ALICE):
        assert small.nearest(scope, vectors["m0"], 1, None)
        assert len(small.residents.users) == 1  # each needs more than half of it
    both_fit = MirrorSearch(ledger, Fields(), "cosine", 1_000_000)
    for scope in (ALICE, BOB, ALL):
        both_fit.nearest(scope, vectors["m0"], 1, None)
    assert len(both_fit.residents.users) == 3
    assert 0 < both_fit.residents.nbytes <= 1_000_000
    ledger.close()


def test_another_threads_ledger_is_seen_at_once(both: Both, tmp_path: Path) -> None:
    """What another connection writes, as another process would."""
    _, mirror, vectors = both
    before = {one.stored_id for one in mirror.nearest(ALICE, vectors["m0"], COUNT, None)}
    other = SQLiteLedger(str(tmp_path / "ledger.sqlite3"))
    other.attach("uuid", "memories")
    other.mirror.put({ALICE: [MirrorRow("new", "t", {"user_id": "alice"}, vectors["m0"].tobytes())]}, gone=["m0"])
    other.close()
    after = {one.stored_id for one in mirror.nearest(ALICE, vectors["m0"], COUNT, None)}
    assert after == before - {"m0"} | {"new"}


def test_an_id_that_becomes_another_users_meanwhile_is_not_shown(both: Both, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the comparison of vectors and the reading of texts."""
    _, mirror, vectors = both
    rows = mirror._rows

    def read_later(ids: Any) -> Any:
        monkeypatch.undo()
        rows.put({BOB: [MirrorRow("m0", "a secret of Bob's", {"user_id": "bob"}, vectors["m0"].tobytes())]})
        return rows.rows(ids)

    finds: list[Callable[[], list[Found]]] = [
        lambda: mirror.nearest(ALICE, vectors["m0"], 3, None),
        lambda: mirror.among(ALICE, vectors["m3"], ["m0", "m3"], None),
    ]
    for find in finds:
        rows.put({ALICE: [MirrorRow("m0", "tea", {"user_id": "alice"}, vectors["m0"].tobytes())]})
        monkeypatch.setattr(rows, "rows", read_later)
        found = find()
        assert found
        assert "m0" not in [one.stored_id for one in found]


@pytest.mark.parametrize("count", [1, 3, 90])
def test_of_many_that_go_at_once_the_others_stay(both: Both, count: int) -> None:
    _, mirror, vectors = both
    own = sorted(one.stored_id for one in mirror.nearest(ALICE, vectors["m0"], COUNT, None))
    mirror._rows.drop(own[:count])
    mirror._rows.put({ALICE: [MirrorRow("m1000", "t", {"user_id": "alice"}, vectors["m0"].tobytes())]})
    left = [*own[count:], "m1000"]
    assert sorted(one.stored_id for one in mirror.nearest(ALICE, vectors["m0"], COUNT, None)) == sorted(left)
    for one, vector in mirror.vectors(ALICE, own[count:]).items():
        assert np.dot(vector, vectors[one]) == pytest.approx(np.linalg.norm(vector) * np.linalg.norm(vectors[one]))
