"""Are versions of one statement told from statements that only look alike, without knowing what words mean?"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from adaptive_memory_core.cue.time.intent import NO_INTENT
from adaptive_memory_core.records import Hit, Record, Scored
from adaptive_memory_core.score.newest_first import NewestFirstQuery, newest_first

FILLER = "Good that you ask, this is worth a closer look. Let us go through it step by step, and see what helps you. "


def found(cue: str, *texts: str) -> Sequence[Scored]:
    """What comes of these texts, best first and a day apart, when the cue is asked."""
    given = []
    for number, text in enumerate(texts):
        score = 0.9 - 0.1 * number
        hit = Hit(Record(text, text, created_at=float(number)), score, text)
        given.append(Scored(hit, score, {"similarity": score}, {}))
    return newest_first(given, NewestFirstQuery(cue, "speaker"), NO_INTENT, reworded=False)


def newest(cue: str, *texts: str) -> str:
    return found(cue, *texts)[0].text


def untouched(cue: str, *texts: str) -> bool:
    after = found(cue, *texts)
    return [one.text for one in after] == list(texts) and all(one.older_than is None for one in after)


@pytest.mark.parametrize(
    ("cue", "old", "new"),
    [
        ("Who founded the Otter Bank?", "Otter Bank was founded by Ida Moss.", "Otter Bank was founded by Leo Park."),
        (
            "Who is the director of Otter Bank?",
            "The director of Otter Bank is Ida Moss.",
            "The director of Otter Bank is Leo.",
        ),
        (
            "Which city was Ida Moss born in?",
            "Ida Moss was born in the city of Rome.",
            "Ida Moss was born in the city of Oslo.",
        ),
        (
            "Who performed Before Dawn?",
            "Before Dawn was performed by The Kites.",
            "Before Dawn was performed by Ida Moss.",
        ),
        (
            "What is Ida's nationality?",
            "Ida is a citizen of Peru.",
            "Ida is a citizen of the Kingdom of the Netherlands.",
        ),
        ("Who is Ida's child?", "Ida's child is Leo.", "Ida's child is Max, Duke of Kent."),
        ("what is my shoe size?", "My shoe size is 42.", "My shoe size is 43."),
        ("what is my address?", "My address is 5 Elm Street, York.", "My address is 9 Dock Road, Leeds."),
        ("which database does Falcon use?", "Falcon uses the MySQL database.", "Falcon uses the SQLite database."),
        ("which version of Python do we use?", "We use Python 3.10", "We use Python 3.12"),
        ("what is the budget?", "Budget: 500 euros in all", "Budget: 700 euros in all"),
        ("when is the meeting?", "The meeting is on Monday at ten.", "The meeting is on Thursday at nine."),
        ("where do I live?", "I live in Graz.", "I live in Linz now."),
        ("wo wohnt Ilse?", "Ilse wohnt in Oslo.", "Ilse wohnt jetzt in Turin."),
        ("où habite Luc ?", "Luc habite à Rome.", "Luc habite à Oslo."),
        ("¿dónde vive Juan?", "Juan vive en Cádiz.", "Juan vive ahora en Vigo."),
        ("Dove abita Marta?", "Marta abita a Roma.", "Marta abita a Oslo."),
        ("Waar woont Jan?", "Jan woont in Utrecht.", "Jan woont in Leiden."),
        ("Где живёт Анна?", "Анна живёт в Риме.", "Анна живёт в Осло."),
        ("Gdzie mieszka Piotr?", "Piotr mieszka w Rzymie.", "Piotr mieszka w Oslo."),
        ("Quem é o médico de Maria?", "O médico de Maria é o Dr. Souza.", "O médico de Maria é o Dr. Lima."),
        ("Quel est le code de la porte ?", "Le code de la porte est 4711.", "Le code de la porte est 9922."),
        ("小明住在哪里?", "小明住在北京。", "小明住在上海。"),
        ("李雷的牙医是谁?", "李雷的牙医是王医生。", "李雷的牙医是陈医生。"),
        ("太郎はどこに住んでいますか?", "太郎は大阪に住んでいます。", "太郎は京都に住んでいます。"),
        ("지수는 어디에 살아요?", "지수는 서울에 살아요.", "지수는 부산에 살아요."),
    ],
)
def test_what_differs_in_one_span_comes_newest_first(cue: str, old: str, new: str) -> None:
    assert newest(cue, old, new) == new
    if "now" not in new:
        assert newest(cue, new, old) == old  # whichever is the newer one


@pytest.mark.parametrize(
    ("cue", "texts"),
    [
        ("what should I buy?", ("Buy eggs.", "Buy milk.", "Buy a new broom.")),
        ("what is on the list?", ("Buy eggs at the shop.", "Buy milk at the shop.")),
        ("is a ticket closed?", ("Ticket A-4 is closed.", "Ticket A-10 is closed.")),
        ("which tickets are closed?", ("Ticket A-4 is closed.", "Ticket A-10 is closed.")),
        ("how old is my dog?", ("My dog Rex is 3 years old.", "My dog Bello is 4 years old.")),
        ("where does my brother live?", ("My brother Tom lives in Leeds.", "My brother Jim lives in York.")),
        ("when does the library open?", ("The library in Delft opens at nine.", "The library in Gouda opens at ten.")),
        ("what is the wifi password?", ("The wifi password at home is tulip.", "The wifi password at work is maple.")),
        ("who lives in Oslo?", ("Ilse lives in Oslo.", "Kofi lives in Oslo.")),
        ("where does Ilse live?", ("Ilse lives in Oslo.", "Kofi lives in Oslo.")),
        ("does Ilse live in Oslo?", ("Ilse lives in Oslo.", "Ilse lives in Turin.")),
        ("how far did I run?", ("I ran 5 km in the park.", "I ran 8 km in the park.")),
        ("where has Petra been?", ("Petra has visited Lisbon.", "Petra has visited Krakow.")),
        ("what does Ilse like?", ("Ilse likes old maps.", "Ilse likes rainy days.")),
        ("who is a friend of Ilse?", ("Paula is a friend of Ilse.", "Ravi is a friend of Ilse.")),
        ("how do I reset it?", ("To reset the router hold the button.", "To reset the modem hold the plug.")),
        ("where does Ilse live?", ("Ilse lives in Oslo.", "Ilse lives with two cats.")),
        ("where does Ilse live?", ("Ilse lives in Oslo.", "Ilse does not live in Rome.")),
        ("where does Ilse live?", ("Ilse lives in Oslo.", "Ilse wants to live in Rome.")),
        ("where does Ilse live?", ("Ilse lives in Oslo.", "Ilse's brother lives in Rome.")),
        ("where do I live?", ("I live in Graz.", "My brother lives in Linz.")),
        ("how tall is Finn?", ("Finn is 1.81 m tall.", "Finn is 34 years old.", "Finn is 79 kg now.")),
        ("when does Nadia go to bed?", ("Nadia goes to bed at ten.", "Nadia gets up at seven.")),
        ("what engines does Dave like?", ("Hey Dave, that car looks good.", "Hey Dave, this is nice.")),
        ("is auto top up available?", ("top up failed", "top up reverted")),  # labels, not statements
        ("where is Ilse?", ("Ilse is at home today.", "Ilse is at home today?")),
        ("how did Ana like it?", ("Ana: That sounds great.", "Ana: That sounds tiring.")),
        ("wie alt ist mein Hund?", ("Mein Hund Rex ist 3 Jahre alt.", "Mein Hund Bello ist 4 Jahre alt.")),
        ("我的狗几岁了?", ("我的狗旺财三岁了。", "我的狗来福四岁了。")),
    ],
)
def test_what_only_looks_alike_is_left_alone(cue: str, texts: Sequence[str]) -> None:
    assert untouched(cue, *texts)


def test_an_event_that_may_have_happened_besides_is_marked_as_a_guess() -> None:
    """Nothing tells "was founded by" from "went to the beach on" but what words mean."""
    best, second = found(
        "when did we go to the beach?", "We went to the beach on 3 May.", "We went to the beach on 12 June."
    )
    assert (best.text, second.hit.older_perhaps) == ("We went to the beach on 12 June.", True)
    best, second = found("where does Ilse live?", "Ilse lives in Oslo.", "Ilse lives in Turin.")
    assert (second.older_than, second.hit.older_perhaps) == (best.id, False)


@pytest.mark.parametrize("old", ["Ilse lives in Oslo.", FILLER * 2 + "Ilse lives in Oslo. " + FILLER])
def test_a_fact_within_a_long_message_is_found_and_marked_as_a_guess(old: str) -> None:
    new = f"{FILLER * 2}Ilse lives in Turin. {FILLER}"
    best, second = found("where does Ilse live?", old, new)
    assert (best.text, best.older_than) == (new, None)
    assert (second.older_than, second.hit.older_perhaps) == (new, True)


def test_a_long_message_about_others_is_left_alone() -> None:
    assert untouched("where does Ilse live?", "Ilse lives in Oslo.", f"{FILLER * 3}Colm lives in Turin. {FILLER}")
    assert untouched("where does Ilse live?", "Ilse lives in Oslo.", f"{FILLER * 3}Does Ilse live in Turin? {FILLER}")


def test_what_has_less_of_the_question_than_the_first_hit_is_left_alone() -> None:
    texts = ("Nadia's locker number is 114.", "Nadia gets up at seven.", "Nadia gets up at eight.")
    assert untouched("what is Nadia's locker number?", *texts)
    assert newest("when does Nadia get up?", *texts[1:]) == texts[2]


def test_neither_scores_nor_similarities_matter() -> None:
    """Any embedder, and any scale of scores, gives the same order."""
    texts = ("Ilse lives in Oslo.", "Colm lives in Rome.", "Ilse lives in Turin.")
    for similarity, score in ((0.02, 0.001), (0.93, 0.95), (-0.4, 0.5)):
        given = [
            Scored(
                Hit(Record(text, text, created_at=float(day)), similarity, text),
                score - day * 1e-5,
                {"similarity": score},
                {},
            )
            for day, text in enumerate(texts)
        ]
        after = newest_first(given, NewestFirstQuery("where does Ilse live?", "speaker"), NO_INTENT, reworded=False)
        assert [one.text for one in after] == [texts[2], texts[0], texts[1]]
