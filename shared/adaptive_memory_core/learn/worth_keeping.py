"""Whether a message is worth storing: not a greeting, a thank-you, a bare yes, or a pasted wall of text."""

from __future__ import annotations

import re

LONGEST_SAID = 2_000  # characters; guess: nobody types more, and what is pasted is a document, not a memory
MOST_WORDS = 6  # of a greeting; guess: "good morning, how are you today?" has six
_POLITE_WORDS = """
hi hello hey hiya howdy hallo hola bonjour salut ciao ahoj servus moin namaste yo greetings welcome good morning
afternoon evening night day bye goodbye cheers thanks thank thx ty danke merci gracias grazie obrigado very much so you
u a lot and again there all everyone how are is it going doing today whats what's up nice to meet see later please sorry
np lol haha 你好 谢谢 再见 こんにちは ありがとう 안녕하세요 привет спасибо
"""
_BARE_WORDS = """
yes no yeah yep yup nope nah ok okay k kk sure fine right alright correct great cool perfect awesome nice good wow hm
hmm mhm continue go on ahead next more stop wait do it that works sounds got done exactly agreed ja nein si oui non
maybe 好 是 はい да нет
"""
_POLITE = frozenset(_POLITE_WORDS.split())
_SAYS_NOTHING = _POLITE | frozenset(_BARE_WORDS.split())
_WORDS = re.compile(r"[\w']+")


def worth_keeping(said: str, answer: str = "") -> bool:
    """Whether a turn has anything to remember. A bare "yes" has, if the answer that it led to is kept with it.

    >>> worth_keeping("I am allergic to peanuts."), worth_keeping("Hi there!"), worth_keeping("thanks a lot")
    (True, False, False)
    >>> worth_keeping("yes, go ahead"), worth_keeping("yes, go ahead", "Booked: Vienna, 9 May.")
    (False, True)
    >>> worth_keeping("x" * 5_000), worth_keeping("?!")
    (False, False)
    """
    if len(said) > LONGEST_SAID:
        return False
    words = _WORDS.findall(said.lower().replace("\u2019", "'"))
    if not words or (len(words) <= MOST_WORDS and _POLITE.issuperset(words)):
        return False
    return bool(answer) or len(words) > MOST_WORDS or not _SAYS_NOTHING.issuperset(words)
