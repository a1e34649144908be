"""Are versions of one fact told from facts that only look alike, in short texts, long messages and other languages?"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from adaptive_memory_core.cue.time.intent import NO_INTENT
from adaptive_memory_core.policy import Updates
from adaptive_memory_core.records import Hit, Record, Scored
from adaptive_memory_core.score.newest_first import newest_first

FILLER = "Good that you ask, this is worth a closer look. Let us go through it step by step, and see what helps you. "


def found(cue: str, *texts: str, similarity: Sequence[float] = ()) -> Sequence[Scored]:
    """What comes of these texts, best first and a day apart, when the cue is asked."""
    given = []
    for number, text in enumerate(texts):
        close = similarity[number] if similarity else 0.9 - 0.1 * number
        hit = Hit(Record(text, text, created_at=float(number)), close, text)
        given.append(Scored(hit, 0.9 - 0.1 * number, {"similarity": 0.9 - 0.1 * number}, {}))
    return newest_first(given, cue, Updates(), NO_INTENT, speaker="speaker")


def newest(cue: str, *texts: str) -> str:
    return found(cue, *texts)[0].text


def untouched(cue: str, *texts: str) -> bool:
    after = found(cue, *texts)
    return [one.text for one in after] == list(texts) and all(one.older_than is None for one in after)


@pytest.mark.parametrize(
    ("cue", "texts"),
    [
        ("what should I buy?", ("Buy eggs.", "Buy milk.", "Buy a new broom.")),
        ("what is on the list?", ("Buy eggs at the shop.", "Buy milk at the shop.")),
        ("is a ticket closed?", ("Ticket A-4 is closed.", "Ticket A-10 is closed.")),
        ("which tickets are closed?", ("Ticket A-4 is closed.", "Ticket A-10 is closed.")),
        ("how old is my dog?", ("My dog Rex is 3 years old.", "My dog Bello is 4 years old.")),
        ("how old is Ilse's dog?", ("Ilse's dog Rex is 3 years old.", "Ilse's dog Bello is 4 years old.")),
        ("where does my brother live?", ("My brother Tom lives in Leeds.", "My brother Jim lives in York.")),
        ("when does the library open?", ("The library in Delft opens at nine.", "The library in Gouda opens at ten.")),
        ("what is the wifi password?", ("The wifi password at home is tulip.", "The wifi password at work is maple.")),
        ("how far did I run?", ("I ran 5 km in the park.", "I ran 8 km in the park.")),
        ("where has Petra been?", ("Petra has visited Lisbon.", "Petra has visited Krakow.")),
        ("what does Ilse like?", ("Ilse likes old maps.", "Ilse likes rainy days.")),
        ("who is a friend of Ilse?", ("Paula is a friend of Ilse.", "Ravi is a friend of Ilse.")),
        ("how do I reset it?", ("To reset the router hold the button.", "To reset the modem hold the plug.")),
        ("where does Ilse live?", ("Ilse lives in Oslo.", "Ilse lives with two cats.")),
        ("where does Ilse live?", ("Ilse lives in Oslo.", "Ilse does not live in Rome.")),
        ("where does Ilse live?", ("Ilse lives in Oslo.", "Ilse wants to live in Rome.")),
        ("where does Ilse live?", ("Ilse lives in Oslo.", "Ilse has a new boss in Rome.")),
        ("where does Ilse live?", ("Ilse lives in Oslo.", "Ilse has moved her desk to the window.")),
        ("where do I live?", ("I live in Graz.", "My brother has moved to Linz.")),
        ("what is the lamp's price?", ("The lamp costs 40 euros.", "The lamp shade costs 15 euros.")),
        ("what is Ana's car?", ("Ana's car is a Fiat.", "Ana's car is dirty.")),
        ("who is Ilse's barber?", ("Ilse's barber is Kofi.", "Ilse paid the barber twenty euros.")),
        ("who is my barber?", ("My barber is Kofi.", "I forgot the appointment at the barber.")),
        ("what is Ilse's wifi password?", ("Ilse's wifi password is tulip.", "Ilse forgot the wifi password.")),
        ("what is my wifi password?", ("My wifi password is tulip.", "I gave the wifi password to Ravi.")),
        ("what pet does Ana have?", ("Ana has a cat.", "Ana's neighbour has adopted a dog.", "Ana is afraid of dogs.")),
        ("where does Ben work?", ("Ben works at Acme.", "Ben works on a novel.", "Ben has started to work out.")),
        ("how did Ana like it?", ("Ana: That sounds great.", "Ana: That sounds tiring.")),
        ("wie alt ist mein Hund?", ("Mein Hund Rex ist 3 Jahre alt.", "Mein Hund Bello ist 4 Jahre alt.")),
        ("我的狗几岁了?", ("我的狗旺财三岁了。", "我的狗来福四岁了。")),
    ],
)
def test_what_only_looks_alike_is_left_alone(cue: str, texts: Sequence[str]) -> None:
    assert untouched(cue, *texts)


@pytest.mark.parametrize(
    ("cue", "old", "new"),
    [
        ("what is my shoe size?", "My shoe size is 42.", "My shoe size is 43."),
        ("what is my address?", "My address is 5 Elm Street, York.", "My address is 9 Dock Road, Leeds."),
        ("is the pool open?", "The pool is open.", "The pool is closed."),
        ("which database does Falcon use?", "Falcon uses the MySQL database.", "Falcon uses the SQLite database."),
        ("what is the budget?", "Budget: 500 euros in all", "Budget: 700 euros in all"),
        ("who is Ilse's dentist?", "Dr. Weber is Ilse's dentist.", "Dr. Yoon is Ilse's dentist."),
        ("where does Ilse work?", "Ilse works at Acme.", "Globex hired Ilse last week."),
        ("where do I work?", "I work at Acme.", "I have started a new job at Globex."),
        ("who is my dentist?", "My dentist is Dr. Weber.", "I now go to Dr. Yoon for my teeth."),
        ("when is the mail relay due?", "The mail relay is due on 3 May.", "The mail relay was postponed to 9 May."),
        ("wo wohnt Ilse?", "Ilse wohnt in Oslo.", "Ilse ist nach Turin gezogen."),
        ("où habite Jean ?", "Jean habite à Lille.", "Jean a déménagé à Nantes."),
        ("¿dónde vive Juan?", "Juan vive en Cádiz.", "Juan vive ahora en Vigo."),
        ("小明住在哪里?", "小明住在北京。", "小明住在上海。"),
        ("李雷的牙医是谁?", "李雷的牙医是王医生。", "李雷的牙医是陈医生。"),
        ("太郎はどこに住んでいますか?", "太郎は大阪に住んでいます。", "太郎は京都に住んでいます。"),
        ("지수는 어디에 살아요?", "지수는 서울에 살아요.", "지수는 부산에 살아요."),
    ],
)  # fmt: skip
def test_what_changed_comes_first(cue: str, old: str, new: str) -> None:
    assert newest(cue, old, new) == new
    assert newest(cue, new, old) == old  # whichever is the newer one


@pytest.mark.parametrize(
    ("cue", "old", "event"),
    [
        ("is Omar single?", "Omar is single.", "Omar got engaged to Lena."),
        ("what car does Ilse drive?", "Ilse drives a Volvo car.", "Ilse traded the old vehicle for a Fiat."),
        ("what pet does Ilse have?", "Ilse has a pet cat.", "Ilse bought a beagle from the animal shelter."),
    ],
)
def test_an_event_that_gives_something_in_the_place_of_the_old_one_comes_first(cue: str, old: str, event: str) -> None:
    assert newest(cue, old, event) == event


@pytest.mark.parametrize("old", ["Ilse lives in Oslo.", FILLER * 2 + "Ilse lives in Oslo. " + FILLER])
def test_a_fact_within_a_long_message_is_found_and_marked_as_a_guess(old: str) -> None:
    new = f"{FILLER * 2}Ilse lives in Turin. {FILLER}"
    best, second = found("where does Ilse live?", old, new)
    assert (best.text, best.older_than) == (new, None)
    assert (second.older_than, second.hit.older_perhaps) == (new, True)


def test_a_long_message_about_others_is_left_alone() -> None:
    assert untouched("where does Ilse live?", "Ilse lives in Oslo.", f"{FILLER * 3}Colm lives in Turin. {FILLER}")
    assert untouched("where does Ilse live?", "Ilse lives in Oslo.", f"{FILLER * 3}Does Ilse live in Turin? {FILLER}")
    assert (
        newest("where do I live?", "I live in Graz.", f"{FILLER * 99}I live in Linz.") == "I live in Graz."
    )  # too long


def test_where_the_relation_is_unknown_only_what_is_about_as_close_passes() -> None:
    texts = (
        "Falcon flies on kerosene.",
        "Falcon is painted red.",
        "Falcon is made of wood.",
        "Falcon has gone electric.",
    )
    close = found("what propels Falcon?", *texts, similarity=(0.8, 0.2, 0.2, 0.78))
    assert close[0].text == texts[0]  # it asks for several things
    close = found("which fuel does Falcon fly on?", *texts, similarity=(0.8, 0.2, 0.2, 0.78))
    far = found("which fuel does Falcon fly on?", *texts, similarity=(0.8, 0.2, 0.2, 0.4))
    assert (close[0].text, far[0].text) == (texts[3], texts[0])
