"""Who says what is over and what took its place gives a newer version, in whatever words."""

from __future__ import annotations

from contextlib import closing

import pytest
from chromadb import Collection

from adaptive_memory_core import AdaptiveMemory, LocalEmbedder
from adaptive_memory_core.score.facts.asked import asked
from adaptive_memory_core.score.facts.names_the_old import names_the_old
from adaptive_memory_core.score.facts.statement import statement

DAY = 86_400.0
START = 1_750_000_000.0
CHANGED = [
    ("Marta works at Siemens.", "Marta left Siemens and joined Bosch.", "where does Marta work?"),
    ("We use MySQL for orders.", "We migrated orders from MySQL to SQLite.", "which database do orders use?"),
    ("Our supplier is Acme.", "We replaced Acme with Globex.", "who is our supplier?"),
    ("Our supplier is Acme.", "Globex took over from Acme.", "who is our supplier?"),
    ("Project Falcon is led by Ingrid.", "Ingrid handed Project Falcon over to Raj.", "who leads Project Falcon?"),
    ("Our CEO is Paula Brandt.", "Paula Brandt retired, and Ken Ito is CEO now.", "who is our CEO?"),
    ("I drive a Honda Civic.", "Traded in the Civic, I drive a Tesla.", "what car do I drive?"),
    ("Nils studies law in Bonn.", "Nils dropped law and studies music.", "what does Nils study?"),
    ("Kai sings in The Owls.", "Kai left The Owls and sings in Long Weekend.", "which choir does Kai sing in?"),
    ("Nora is the treasurer.", "Pia replaced Nora as treasurer in April.", "who is the treasurer?"),
]
UNCHANGED = [
    ("Ilse lives in Oslo.", "Ilse left Oslo for a weekend in Rome.", "where does Ilse live?"),
    ("Ilse lives in Oslo.", "Ilse switched from an Oslo gym to Fit4U.", "where does Ilse live?"),
    ("Ilse lives in Oslo.", "Ilse came from Oslo to see Anna.", "where does Ilse live?"),
    ("Ilse lives in Oslo.", "Ilse went from Oslo to Rome by train.", "where does Ilse live?"),
    ("Ilse lives in Oslo.", "Ilse moved her money from Oslo to Zurich.", "where does Ilse live?"),
    ("Our supplier is Acme.", "Acme resigned itself to Globex prices.", "who is our supplier?"),
    ("The server runs Ubuntu.", "Tom ported the script from Ubuntu to Windows.", "what does the server run?"),
    ("Marta works at Siemens.", "Marta left early and joined Anna.", "where does Marta work?"),
    ("Our supplier is Acme.", "We replaced Acme's old invoice with a new one.", "who is our supplier?"),
    ("Nils studies law in Bonn.", "Nils dropped his umbrella and ran.", "what does Nils study?"),
    ("The boat belongs to the Hubers.", "The Hubers sold the boat trailer to Rita.", "who owns the boat?"),
    ("My phone has 64 GB.", "I replaced the phone with care.", "how many GB has my phone?"),
]


@pytest.mark.parametrize(("old", "new", "cue"), CHANGED)
def test_what_is_over_is_named(old: str, new: str, cue: str) -> None:
    assert names_the_old(statement(old), statement(new), asked(cue))


@pytest.mark.parametrize(("old", "new", "cue"), UNCHANGED)
def test_what_is_over_is_not_what_was_asked_for(old: str, new: str, cue: str) -> None:
    assert not names_the_old(statement(old), statement(new), asked(cue))


@pytest.mark.parametrize(
    ("old", "new", "cue"),
    [
        *CHANGED[:2],
        ("The build box runs Debian 11.", "Upgraded the build box to Debian 12.", "which OS does the build box run?"),
        ("我住在北京。", "我现在住在上海。", "我住在哪里"),
    ],
)
def test_the_newer_version_comes_first(collection: Collection, old: str, new: str, cue: str) -> None:
    with closing(AdaptiveMemory(collection, embedder=LocalEmbedder())) as memory:
        user = memory.for_user("ana")
        user.remember_many(["The weather was nice.", "Anna sent the slides.", "Call the plumber."])
        user.remember(old, id="old", created_at=START)
        user.remember(new, id="new", created_at=START + 90 * DAY)
        answer = user.recall(cue, now=START + 100 * DAY)
        assert answer.ids[:2] == ("new", "old")
        assert answer[1].older_than == "new"


def test_what_only_looks_alike_lifts_nothing(collection: Collection) -> None:
    with closing(AdaptiveMemory(collection, embedder=LocalEmbedder())) as memory:
        user = memory.for_user("ana")
        user.remember("Ilse lives in Oslo.", id="old", created_at=START)
        user.remember("Ilse left Oslo for a weekend in Rome.", id="new", created_at=START + 90 * DAY)
        answer = user.recall("where does Ilse live?", now=START + 100 * DAY)
        assert answer.ids[0] == "old"
        assert all(one.older_than is None for one in answer)
