"""Where do two statements in the same words differ: in what is said of the subject, or in the subject itself?

"Ilse lives in Oslo" and "Ilse lives in Turin" differ behind the verb, so one may replace the other. "Ticket A-4 is closed"
and "ticket A-10 is closed" differ before it, "buy eggs" and "buy milk" have no subject: these are different things.
"""

from __future__ import annotations

from collections.abc import Sequence

from adaptive_memory_core.channels.words.words_of_text import words
from adaptive_memory_core.score.asked import Asked
from adaptive_memory_core.score.statement import Statement
from adaptive_memory_core.score.unsettled import VERBS

_MODIFIERS = frozenset(
    "now new newly latest current currently actually instead recently just today nowadays already still again the a an"
    " jetzt nun neue neuer neues inzwischen maintenant désormais ahora".split()
)
_FORE = frozenset("现 已 经")
_CHARACTERS = frozenset("是在住叫姓有用为は") | frozenset(VERBS)
_TOPIC = ("는", "은")
_BESIDE = frozenset("with without because like about next near by".split())
_SHORT = {"s": "is", "m": "am", "re": "are"}
_AFTER_IS = frozenset("the a an in at on not now".split())
_PRONOUNS = frozenset("i it he she that this there we my our ich wir mein meine mi je yo nous mon ma 我 私".split())
_ONE_OF_SEVERAL = frozenset("one another some also todo to-do reminder task idea note step day".split())
_MANY_VALUED = frozenset(
    "like likes love loves hate hates enjoy enjoys know knows speak speaks read reads visit visits watch watches want wants"
    " see sees meet meets recommend recommends collect collects suggest suggests bring brings learn learns support supports"
    " borders needs need take takes contains holds includes fixes likes".split()
)


def says_otherwise(old: Statement, new: Statement, about: Asked) -> bool:
    """Whether they have one subject and one verb, and differ in one place behind them.

    >>> from adaptive_memory_core.score.asked import asked
    >>> from adaptive_memory_core.score.statement import statement
    >>> def otherwise(cue, old, new):
    ...     return says_otherwise(statement(old), statement(new), asked(cue))
    >>> otherwise("where does Ilse live?", "Ilse lives in Oslo.", "Ilse now lives in Turin.")
    True
    >>> otherwise("what is closed?", "Ticket A-4 is closed.", "Ticket A-10 is closed.")
    False
    >>> otherwise("how old is my dog?", "My dog Rex is 3.", "My dog Bello is 4."), otherwise("buy?", "Buy eggs", "Buy milk")
    (False, False)
    """
    one, other = _bare(old.in_order), _bare(new.in_order)
    before = _alike(one, other)
    if not before or old.opening in _ONE_OF_SEVERAL or not _MANY_VALUED.isdisjoint(one[:before]):
        return before == 0 and _of_the_owner(one, other, about)
    if old.titled and old.titled == new.titled and before >= old.titled:
        return True
    verb, others = _verb(one, about), _verb(other, about)
    if verb is None and others is None:
        return before > 1 and (one[0] in about.said or one[0] in _PRONOUNS)
    if max(verb or 0, others or 0) > before:
        return False
    behind = _alike(one[before:][::-1], other[before:][::-1])
    gone, come = one[before : len(one) - behind], other[before : len(other) - behind]
    if not gone and not come:
        return False
    if (gone[:1] and gone[0] in _BESIDE) != (come[:1] and come[0] in _BESIDE):
        return False
    return not _in_two_places(gone, come) or about.stems & old.stems <= frozenset(words(" ".join(one[:before])))


def _bare(said: Sequence[str]) -> list[str]:
    """Without what only says that it is new, and with "is" where it is cut short."""
    found: list[str] = []
    for word, after in zip(said, [*said[1:], ""], strict=True):
        base, mark, end = word.replace("\u2019", "'").rpartition("'")
        short = _SHORT.get(end) if mark and (end != "s" or base in _PRONOUNS or after in _AFTER_IS) else None
        found += [base, short] if short else [word]
    return [word for word in found if word not in _MODIFIERS and word not in _FORE]


def _alike(one: Sequence[str], other: Sequence[str]) -> int:
    """How many words both begin with."""
    count = 0
    for mine, theirs in zip(one, other, strict=False):
        if mine != theirs:
            break
        count += 1
    return count


def _verb(said: Sequence[str], about: Asked) -> int | None:
    """The place of the verb, as far as it is known: a common one, or the one of the cue."""
    for place, word in enumerate(said):
        if place and (word in _CHARACTERS or not about.verbs.isdisjoint(words(word)) or word.endswith(_TOPIC)):
            return place
    return None


def _of_the_owner(one: Sequence[str], other: Sequence[str], about: Asked) -> bool:
    """Whether "Dr. Weber is Ilse's dentist" is asked for by "who is Ilse's dentist?"."""
    behind = _alike(one[::-1], other[::-1])
    return bool(about.owners) and behind > 0 and about.said_owners <= frozenset(one[len(one) - behind :])


def _in_two_places(gone: Sequence[str], come: Sequence[str]) -> bool:
    return not frozenset(gone).isdisjoint(come)
