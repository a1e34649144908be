"""What does a page about a memory hold? What there is, escaped, bounded, in one file; and making it changes nothing."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from adaptive_memory_core import AdaptiveMemory, InvalidInputError, UserMemory
from adaptive_memory_core.pages.markup import resource, script_digest
from tests.conftest import Clock, ledger_rows
from tests.pages.conftest import HOSTILE

MOST_CHARACTERS = 5_000_000


class Parsed(HTMLParser):
    """The elements of a page with their attributes, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def named(self, *tags: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.elements if tag in tags]


def test_it_shows_what_there_is(page: str) -> None:
    text = Parsed(page).text
    for said in ("Ana lives in Rome.", "Where does live", "Open all", "pinned", "helpful", "beyond k", "puppy"):
        assert said in text
    assert re.findall(r'<section id="(\w+)"', page) == [
        "insights", "overview", "reading", "records", "recalls", "verdicts", "themes", "names"
    ]  # fmt: skip


def test_no_text_becomes_markup(page: str) -> None:
    parsed = Parsed(page)
    assert len(parsed.named("script")) == len(parsed.named("style")) == 1
    assert not parsed.named("img", "iframe", "object", "form", "b onclick", "link", "base")
    attributes = {name for _, own in parsed.elements for name in own}
    assert not [name for name in attributes if name.startswith("on") or name in ("style", "src", "srcdoc", "action")]
    assert HOSTILE not in page
    assert HOSTILE in parsed.text
    assert not set("\u202e\u2066\u200b\x00") & set(page)


def test_it_asks_nothing_of_anybody(page: str) -> None:
    parsed = Parsed(page)
    assert [own["href"] for own in parsed.named("a") if not str(own["href"]).startswith("#")] == []
    assert not re.search(r"https?:|url\(|@import", page)


def test_every_link_leads_somewhere_and_no_name_is_given_twice(page: str) -> None:
    parsed = Parsed(page)
    names = [own["id"] for _, own in parsed.elements if "id" in own]
    assert len(names) == len(set(names))
    assert {str(own["href"])[1:] for own in parsed.named("a")} <= set(names)


def test_it_may_run_its_own_script_and_nothing_else(page: str) -> None:
    policy = next(own["content"] for own in Parsed(page).named("meta") if own.get("http-equiv"))
    assert policy is not None
    assert f"script-src 'sha256-{script_digest(resource('page.js'))}'" in policy
    assert f"style-src 'sha256-{script_digest(resource('page.css'))}'" in policy
    assert f"<script>{resource('page.js')}</script>" in page
    assert f"<style>{resource('page.css')}</style>" in page
    assert "unsafe" not in policy


def test_making_it_changes_nothing(full: UserMemory, tmp_path: Path) -> None:
    memory: Any = full.memory
    before = ledger_rows(memory)
    full.report(tmp_path / "page.html")
    assert ledger_rows(memory) == before


async def test_its_async_twin_gives_the_same(full: UserMemory, page: str) -> None:
    assert await full.areport() == page


def test_it_says_what_it_leaves_out(alice: UserMemory) -> None:
    alice.remember_many(f"note {number} {'x' * 5_000}" for number in range(30))
    for number in range(4):
        alice.recall(f"note {number}")
    text = Parsed(alice.report(records=10, recalls=1)).text
    assert "10 of 30 records, the other 20 are left out" in text
    assert "3 older ones are left out" in text
    assert "(5,0" in text
    assert "characters in all)" in text


def test_what_is_shown_first_is_what_matters_most(alice: UserMemory) -> None:
    alice.remember_many([{"text": f"note {number}", "id": f"n{number}"} for number in range(20)])
    alice.pin("n7")
    alice.recall("note 11", k=1)
    shown = re.findall(r"<code>(n\d+)</code>", alice.report(records=2, recalls=1))[:2]
    assert shown[0] == "n7"
    assert shown[1] in alice.recalls()[0].kept[0].id


def test_it_is_of_bounded_size(alice: UserMemory) -> None:
    """However long the texts are and whatever stands in them; each of these signs takes five characters in a page."""
    alice.remember_many(f"{number} {'&' * 2_000}" for number in range(700))
    for number in range(60):
        alice.recall(f"{number}", k=20)
    assert len(alice.report()) < MOST_CHARACTERS


def test_an_empty_memory_has_a_page(alice: UserMemory) -> None:
    text = Parsed(alice.report()).text
    assert "Nothing is remembered yet." in text
    assert "No recall is in the log." in text
    assert "Nobody has judged a memory yet" in text
    assert "There are no records or questions yet." in text


def test_what_is_gone_is_said_to_be_gone(alice: UserMemory) -> None:
    alice.remember_many([{"text": "green tea", "id": "tea"}, {"text": "black coffee", "id": "coffee"}])
    alice.recall("tea")
    alice.forget("coffee")
    page = alice.report()
    assert "black coffee" not in page


def test_a_page_is_written_over_and_nothing_else_is(alice: UserMemory, tmp_path: Path) -> None:
    page, theirs = tmp_path / "page.html", tmp_path / "notes.html"
    assert alice.report(page) == page.read_text(encoding="utf-8")
    alice.remember("tea")
    assert alice.report(page, title="Mine & yours") == page.read_text(encoding="utf-8")
    assert "<h1>Mine &amp; yours</h1>" in page.read_text(encoding="utf-8")
    theirs.write_text("<html>somebody's</html>")
    for wrong in (theirs, tmp_path, tmp_path / "none" / "page.html", "", 3):
        with pytest.raises(InvalidInputError, match=r"Give|Name a new file"):
            alice.report(wrong)  # type: ignore[arg-type]
    assert theirs.read_text() == "<html>somebody's</html>"
    assert sorted(one.name for one in tmp_path.iterdir()) == ["notes.html", "page.html"]


@pytest.mark.parametrize("wrong", [{"records": 0}, {"records": 5_001}, {"recalls": "many"}, {"title": ""}])
def test_wrong_arguments_are_refused(alice: UserMemory, wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError):
        alice.report(**wrong)


def test_nobody_elses_records_are_in_it(memory: AdaptiveMemory) -> None:
    memory.for_user("bob").remember("bobs secret")
    memory.for_user("alice").remember("tea")
    assert "secret" not in memory.for_user("alice").report()


def test_records_of_everyones_are_marked(memory: AdaptiveMemory, clock: Clock) -> None:
    memory.for_everyone().remember("the handbook says tea")
    ana = memory.for_user("ana", over="everyone")
    ana.remember("mine")
    ana.recall("tea")
    clock.pass_days(1)
    text = Parsed(ana.report()).text
    assert "the handbook says tea" in text
    assert "mine" in text


async def test_a_page_of_the_whole_memory_names_users_and_no_texts(memory: AdaptiveMemory, tmp_path: Path) -> None:
    for name in ("alice", HOSTILE[:40], "carol"):
        memory.for_user(name).remember(f"secret of {name}")
        memory.for_user(name).recall("secret")
    page = memory.report(tmp_path / "all.html", users=2)
    parsed = Parsed(page)
    assert "secret" not in page
    assert len(parsed.named("script")) == 1
    assert "1 are left out" in parsed.text
    assert (tmp_path / "all.html").read_text(encoding="utf-8") == page
    assert "carol" in await memory.areport()
