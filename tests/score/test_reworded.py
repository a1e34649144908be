"""Does the lexicon find what has changed in other words, and nothing that is about somebody or something else?"""

from __future__ import annotations

import pytest

from adaptive_memory_core.score.reworded_facts import says_otherwise_now

CHANGED = [
    ("where does Ilse live?", "Ilse lives in Oslo.", "Ilse has moved to Turin."),
    ("where does Ilse work?", "Ilse works at Acme.", "Globex hired Ilse last week."),
    ("where do I work?", "I work at Acme.", "I have started a new job at Globex."),
    ("who is my dentist?", "My dentist is Dr. Weber.", "I now go to Dr. Yoon for my teeth."),
    ("who is Ilse's manager?", "Ilse's manager is Priya.", "Ilse reports to Lena now."),
    ("when is the mail relay due?", "The mail relay is due on 3 May.", "The mail relay was postponed to 9 May."),
    ("how much is my rent?", "My rent is 700 euros.", "My rent was raised to 780 euros."),
    ("what car does Ilse drive?", "Ilse drives a Volvo car.", "Ilse traded the old vehicle for a Fiat."),
]
NOT_CHANGED = [
    ("where does Ilse live?", "Ilse lives in Oslo.", "Ilse has a new boss in Rome."),
    ("where does Ilse live?", "Ilse lives in Oslo.", "Ilse has gone vegan."),
    ("where does Ilse live?", "Ilse lives in Oslo.", "Colm has moved to Turin."),
    ("where does Ilse live?", "Ilse lives in Oslo.", "Ilse's brother has moved to Turin."),
    ("where does Ilse live?", "Ilse lives in Oslo.", "Ilse might have moved to Turin."),
    ("where does Ilse live?", "Ilse lives in Oslo.", "Has Ilse moved to Turin?"),
    ("where do I live?", "I live in Graz.", "My brother has moved to Linz."),
    ("where does Ana's mother live?", "Ana's mum lives in Oslo.", "Ana has moved to Rome."),
    ("what is Ana's boss's phone number?", "Ana's boss's phone number is 12.", "Ana's phone number is 34 now."),
    ("which instrument does Ana's neighbour play?", "Ana's neighbour plays the harp.", "Ana plays the cello now."),
    ("who founded Acme?", "Acme was founded by Ida.", "Acme has a new founder, Leo."),  # a relation that it hasn't
]


@pytest.mark.parametrize(("cue", "old", "new"), CHANGED)
def test_a_change_in_other_words_is_found(cue: str, old: str, new: str) -> None:
    assert says_otherwise_now(old, new, cue)


@pytest.mark.parametrize(("cue", "old", "new"), NOT_CHANGED)
def test_what_is_of_something_else_is_not(cue: str, old: str, new: str) -> None:
    assert not says_otherwise_now(old, new, cue)
