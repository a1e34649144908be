"""Of whose mother, dog or bike does a question or a statement speak? Told by form: "X's N", "the N of X", "my N".

In German, French, Spanish, Italian, Portuguese and Dutch "la mère de X" is known, of the commonest relatives.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

Words = Sequence[str]

_ENDS = ("'s", "\N{RIGHT SINGLE QUOTATION MARK}s")
_SHORTENED = frozenset("what who where when how which why it that this there here he she let everyone".split())
_THEIRS = frozenset("my our your his her their".split())
_ARTICLES = frozenset("the a an this that la le les el los las il lo die der das o os as de het".split()) | _THEIRS
_OF, _OF_SHORTENED = frozenset("of de da do di von van".split()), ("d'", "d\N{RIGHT SINGLE QUOTATION MARK}")
_BE, _TO_DO = frozenset("is are was were am be".split()), frozenset("do does did can could will has have".split())
_ASK_FOR_IT = frozenset("who what when which whose much many".split())  # "who is X's N" asks for N itself
_ASK = _ASK_FOR_IT | frozenset("where how why whom".split())
_NO_NOUNS = frozenset("old new little big older younger elder eldest youngest best former late favourite own".split())
_PARTS = frozenset("kind kinds type types sort sorts part rest name number lot end list most some one out all".split())
_PERSONS = frozenset(
    "sister brother sibling twin mother father mum mom mam dad daddy parent wife husband spouse ex partner girlfriend"
    " boyfriend fiancé fiancée son daughter child children kid baby boy girl aunt uncle cousin niece nephew gran"
    " grandma grandpa granny family friend buddy mate pal neighbour neighbor colleague coworker boss employer employee"
    " manager assistant secretary landlord landlady tenant lodger roommate teacher tutor coach pupil student mentor"
    " dentist doctor therapist nurse lawyer client customer nanny babysitter cleaner guest people in-laws"
    " mutter vater bruder schwester sohn tochter freundin mère père frère soeur sœur mari fils fille ami amie madre"
    " padre hermano hermana marido esposa hijo hija amigo amiga fratello sorella figlio figlia marito moglie mãe pai"
    " irmão irmã filho filha moeder vader broer zus zoon dochter".split()
)
_OF_PERSONS = re.compile(r"(?:ex-|step|grand|god)\w+|\w+(?:-in-law|mates?|mother|father|daughter|woman|wom[ae]n)")


class Owned(NamedTuple):
    """What stands before, what is owned (of "Ana's wife's old bike": wife, bike), and what stands behind."""

    before: Words
    chain: tuple[str, ...]
    behind: Words


def owned_in(said: Words) -> Iterator[Owned]:
    """Each thing or person of somebody in these words, given in lower case.

    >>> [one.chain for one in owned_in("where does ana's mother live".split())]
    [('mother',)]
    >>> [one.chain for one in owned_in("the mother of ana lives with my old wife's boss".split())]
    [('mother',), ('wife', 'boss')]
    >>> [one.chain for one in owned_in("what's the job of ana's mother".split())]
    [('mother', 'job')]
    """
    place = 0
    while place < len(said):
        found = _by_owner(said, place) or _by_of(said, place)
        if found is None:
            place += 1
        else:
            yield found
            place = len(said) - len(found.behind)


def is_person(word: str) -> bool:
    """
    >>> [is_person(word) for word in ("mother", "sisters", "flatmate", "stepson", "bike")]
    [True, True, True, True, False]
    """
    return word in _PERSONS or word.removesuffix("s") in _PERSONS or _OF_PERSONS.fullmatch(word) is not None


def asked_of(said: Words) -> tuple[frozenset[str], ...]:
    """Whose fact a question asks for, besides the one it names: a version of the answer holds a word of each. Who asks
    "who is Ana's boss?" asks for the boss, and an answer need not hold that word.

    >>> asks = ("where does ana's mother live", "how old is the mother of ana", "who is ana's boss", "ana's dentist")
    >>> [[sorted(one) for one in asked_of(text.split())] for text in asks]
    [[['mother']], [['mother']], [], []]
    >>> asked_of("what is ana's wife's email".split()), asked_of("who fixes ana's bike".split())
    ((frozenset({'wife'}),), ())
    """
    found: list[frozenset[str]] = []
    if not _may_own(said):
        return ()
    for before, (*owners, last), behind in owned_in(_spelt_out(said)):
        found += [frozenset([one]) for one in owners]
        if _of_the_last(before, last, behind):
            two = not is_person(last) and len(behind) > 1 and behind[0] not in _ASK
            found.append(frozenset([last, behind[0]] if two else [last]))
    return tuple(found)


def _may_own(said: Words) -> bool:
    """Whether there is a word that makes something somebody's; most questions have none."""
    if not _THEIRS.isdisjoint(said) or not _OF.isdisjoint(said):
        return True
    return any(word.endswith(_ENDS) or word.startswith(_OF_SHORTENED) for word in said)


def _of_the_last(before: Words, last: str, behind: Words) -> bool:
    """Whether something is asked of it, and not who or what it is."""
    if not before:
        return is_person(last) and bool(behind)
    if before[-1] in _BE and (before[-2:-1] and before[-2] in _ASK_FOR_IT):
        return bool(behind) and (is_person(last) or behind[-1].endswith(("ing", "ed")))
    return before[-1] in _BE or before[-1] in _TO_DO or before[-1] in _ASK or is_person(last)


def _by_owner(said: Words, place: int) -> Owned | None:
    """Of "Ana's wife's bike" or "my bike" at this place; "the bike of Ana's wife" is told by its "of"."""
    if not _owns(said[place]) and said[place] not in _THEIRS:
        return None
    chain: list[str] = []
    for step in range(place + 1, len(said)):
        if said[step] in _NO_NOUNS:
            continue
        chain.append(_without_mark(said[step]))
        if not _owns(said[step]):
            return Owned(said[:place], tuple(chain), said[step + 1 :])
    return None


def _by_of(said: Words, place: int) -> Owned | None:
    """Of "the mother of Ana" at this place."""
    if said[place] not in _ARTICLES and not is_person(said[place]):
        return None
    of = next((step for step in range(place + 1, min(place + 4, len(said))) if _is_of(said[step])), None)
    if of is None or not (is_person(said[of - 1]) or (said[of] == "of" and _may_be_owned(said[of - 1]))):
        return None
    start = of + (said[of] in _OF)
    if start == len(said):
        return None
    inner = _by_owner(said, start)
    if inner is not None:
        return Owned(said[:place], (*inner.chain, said[of - 1]), inner.behind)
    while start < len(said) - 1 and said[start] in _ARTICLES:
        start += 1
    return Owned(said[:place], (said[of - 1],), said[start + 1 :])


def _may_be_owned(word: str) -> bool:
    return word not in _PARTS and word not in _ARTICLES


def _is_of(word: str) -> bool:
    return word in _OF or word.startswith(_OF_SHORTENED)


def _owns(word: str) -> bool:
    return word.endswith(_ENDS) and word[:-2] not in _SHORTENED


def _without_mark(word: str) -> str:
    return word[:-2] if _owns(word) else word


def _spelt_out(said: Words) -> list[str]:
    """With "is" apart: "where's" is "where is"."""
    found: list[str] = []
    for word in said:
        found += [word[:-2], "is"] if word.endswith(_ENDS) and not _owns(word) else [word]
    return found
