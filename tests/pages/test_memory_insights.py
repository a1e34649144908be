"""What stands first on a page: what helped, what failed, what nobody reads, and which questions are open."""

from __future__ import annotations

import re

import pytest

from adaptive_memory_core import AdaptiveMemory, Policy, UserMemory
from adaptive_memory_core.policy import Decay
from tests.conftest import Clock, Open
from tests.pages.test_memory_page import Parsed

TITLES = ["Most helpful", "Repeatedly unhelpful", "Never read", "Unanswered", "Repeated questions"]


def insights(user: UserMemory) -> dict[str, tuple[list[str], str]]:
    """Of each list its items, and the words below it."""
    found = {}
    section = user.report().split('<section id="insights"')[1].split("</section>")[0]
    for card in section.split('<figure class="card">')[1:]:
        title = re.findall(r"<b>(.*?)</b>", card)[0]
        items = [Parsed(one).text for one in re.findall(r"<li>(.*?)</li>", card, re.DOTALL)]
        found[title] = (items, "".join(re.findall(r'<p class="none">(.*?)</p>', card)))
    return found


def judge(user: UserMemory, question: str, *, helpful: str = "", unhelpful: str = "") -> None:
    recall = user.recall(question, k=10)
    user.feedback(recall, helpful=helpful.split(), unhelpful=unhelpful.split())


@pytest.fixture
def drinks(alice: UserMemory) -> UserMemory:
    alice.remember_many({"text": f"{name} is a drink", "id": name} for name in ("tea", "coffee", "water"))
    return alice


def test_the_lists_are_records_and_questions_in_this_order(drinks: UserMemory) -> None:
    assert list(insights(drinks)) == TITLES[:3]
    drinks.recall("which drink?")
    assert list(insights(drinks)) == TITLES


def test_helpful_records_come_first_by_what_is_left_of_their_verdicts(drinks: UserMemory) -> None:
    judge(drinks, "which drink is hot?", helpful="tea coffee")
    judge(drinks, "which drink is green?", helpful="tea", unhelpful="coffee water")
    judge(drinks, "which drink is warm?", helpful="tea")
    helpful, below = insights(drinks)["Most helpful"]
    assert [one.split()[0] for one in helpful] == ["tea"]
    assert "+3" in helpful[0]
    assert below == ""


def test_one_bad_verdict_or_as_many_good_ones_do_not_make_a_record_repeatedly_unhelpful(drinks: UserMemory) -> None:
    judge(drinks, "which drink is hot?", helpful="coffee", unhelpful="water tea")
    judge(drinks, "which drink is black?", helpful="coffee", unhelpful="tea")
    judge(drinks, "which drink is cold?", unhelpful="coffee")
    judge(drinks, "which drink is strong?", unhelpful="coffee")
    unhelpful, _ = insights(drinks)["Repeatedly unhelpful"]
    assert [one.split()[0] for one in unhelpful] == ["tea"]


def test_a_changed_mind_counts_once(drinks: UserMemory) -> None:
    recall = drinks.recall("which drink?", k=3)
    drinks.feedback(recall, unhelpful=["tea"])
    drinks.feedback(recall, helpful=["tea"])
    found = insights(drinks)
    assert found["Repeatedly unhelpful"][0] == []
    assert ["+1" in one for one in found["Most helpful"][0]] == [True]


def test_records_that_were_never_read_are_listed_from_the_oldest_with_their_number(
    alice: UserMemory, clock: Clock
) -> None:
    for number in range(9):
        clock.pass_days(1)
        alice.remember(f"note number{number}")
    alice.recall("note number3", k=1)
    unread, below = insights(alice)["Never read"]
    assert [one.split()[1][:7] for one in unread] == ["number0", "number1", "number2", "number4", "number5"]
    assert below == "and 3 more"
    assert "8 records of 9" in Parsed(alice.report()).text


def test_a_question_is_unanswered_until_something_is_found(drinks: UserMemory) -> None:
    drinks.recall("who plays chess?", min_similarity=0.99)
    drinks.recall("Which drink?")
    assert [one.split("?")[0] for one in insights(drinks)["Unanswered"][0]] == ["who plays chess"]
    assert "nothing found" in insights(drinks)["Unanswered"][0][0]
    drinks.recall("who plays chess?")
    assert insights(drinks)["Unanswered"][0] == []


def test_a_question_is_unanswered_if_all_its_results_are_unhelpful(drinks: UserMemory) -> None:
    judge(drinks, "which drink is blue?", unhelpful="tea coffee")
    assert insights(drinks)["Unanswered"][0] == []
    judge(drinks, "Which drink is blue", unhelpful="water")
    unanswered, _ = insights(drinks)["Unanswered"]
    assert len(unanswered) == 1
    assert "asked 2 times" in unanswered[0]
    assert "only unhelpful results" in unanswered[0]
    judge(drinks, "which drink is blue?", helpful="tea")
    assert insights(drinks)["Unanswered"][0] == []


def test_repeated_questions_are_one_line_and_one_entry_with_their_recalls_in_it(
    drinks: UserMemory, clock: Clock
) -> None:
    for question in ("which drink?", "Which  drink", "who plays chess?", "WHICH DRINK?!"):
        clock.pass_seconds(90)
        drinks.recall(question)
    repeated, _ = insights(drinks)["Repeated questions"]
    assert len(repeated) == 1
    assert repeated[0].startswith("WHICH DRINK?!asked 3 times")
    page = drinks.report()
    recalls = drinks.recalls()
    drawn = re.findall(r'<details class="(\w+)" id="recall-([^"]+)"', page)
    assert drawn == [
        ("recall", recalls[0].id),
        ("earlier", recalls[2].id),
        ("earlier", recalls[3].id),
        ("recall", recalls[1].id),
    ]


def test_what_the_page_has_no_room_for_is_counted(drinks: UserMemory) -> None:
    for number in range(7):
        drinks.recall(f"question {number}?", min_similarity=0.99)
    for _ in range(4):
        drinks.recall("which drink?")
    assert insights(drinks)["Unanswered"][1] == "and 2 more"
    page = drinks.report(recalls=2)
    assert "asked 4 times" in page
    assert page.count('class="earlier"') == 1
    assert '<p class="none">and 2 more</p></details>' in page


def test_insights_are_of_one_user(memory: AdaptiveMemory) -> None:
    memory.for_everyone().remember("tea is a drink", id="tea")
    ana, ben = (memory.for_user(name, over="everyone") for name in ("ana", "ben"))
    ben.remember("ben hides a key", id="key")
    for _ in range(3):
        judge(ben, "where is the hidden key?", unhelpful="tea", helpful="key")
    ben.recall("who knows the code?", min_similarity=0.99)
    ana.remember("ana likes tea")
    ana.recall("which drink?", k=1)
    page = ana.report()
    for text in ("hidden key", "hides a key", "knows the code", "asked 3 times", "−3", "nothing found"):
        assert text not in page
    assert insights(ana)["Unanswered"][0] == insights(ana)["Repeated questions"][0] == []
    assert insights(ana)["Repeatedly unhelpful"][0] == insights(ana)["Most helpful"][0] == []
    assert len(insights(ben)["Repeatedly unhelpful"][0]) == 1


def drawn(page: str) -> str:
    """What a page shows, without its style and its script."""
    return Parsed(page.split("</style>")[1].split("<script>", maxsplit=1)[0]).text


def test_no_strength_is_drawn_while_decay_is_off(memory: AdaptiveMemory, drinks: UserMemory, clock: Clock) -> None:
    drinks.recall("which drink?")
    clock.pass_days(90)
    for page in (drinks.report(), memory.report()):
        assert re.findall(r"strength|decay|fad\w+", drawn(page), re.IGNORECASE) == []


def fade(alice: UserMemory, clock: Clock) -> None:
    """One record is read, the other one fades."""
    alice.remember_many({"text": f"{name} is a drink", "id": name} for name in ("tea", "coffee"))
    for _ in range(5):
        clock.pass_seconds(120)
        alice.recall("tea is a drink", k=1)


FADING = Policy(decay=Decay(rate=0.5, grace=1))


def test_strengths_and_their_decay_are_drawn_while_decay_is_on(open_memory: Open, clock: Clock) -> None:
    memory = open_memory(policy=FADING)
    fade(memory.for_user("alice"), clock)
    text = drawn(memory.for_user("alice").report())
    for said in ("Decay over recalls without a read", "mean strength", "1 fading", "1 have lost some", "Strength"):
        assert said in text
    assert "Mean strength" in drawn(memory.report())


def test_strength_that_was_lost_is_drawn_after_decay_was_turned_off_but_no_decay(
    open_memory: Open, clock: Clock
) -> None:
    with open_memory(policy=FADING) as memory:
        fade(memory.for_user("alice"), clock)
    text = drawn(open_memory(policy=Policy()).for_user("alice").report())
    assert "1 have lost some" in text
    assert "Decay over" not in text


def test_times_are_shown_to_the_minute(drinks: UserMemory, clock: Clock) -> None:
    clock.pass_seconds(3_600)
    judge(drinks, "which drink?", helpful="tea")
    clock.pass_seconds(60)
    page = drinks.report()
    written, read, now = ("2025-10-09 08:53", "2025-10-09 09:53", "2025-10-09 09:54")
    assert f'As of <time datetime="{now.replace(" ", "T")}Z">{now}</time> UTC' in page
    assert f'1 minute ago<small class="block"><time datetime="{read.replace(" ", "T")}Z">{read}</time>' in page
    assert page.count(f">{written}</time>") >= 3
    assert f'<td class="number" data-label="When" data-key="{clock.now - 60}"' in page
    assert not re.search(r"<time[^>]*>\d{4}-\d\d-\d\d</time>", page)


def test_recalls_are_counted_per_hour_on_the_first_day_and_per_day_later(drinks: UserMemory, clock: Clock) -> None:
    drinks.recall("which drink?")
    clock.pass_seconds(7_200)
    assert "<b>Recalls per hour</b>" in drinks.report()
    clock.pass_days(3)
    assert "<b>Recalls per day</b>" in drinks.report()
