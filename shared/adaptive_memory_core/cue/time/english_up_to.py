"""Does "up to" before a time say what somebody does ("What was Ben up to last week?"), or "until"?"""

from __future__ import annotations

import re

_OWNER = r"(?:my|your|his|her|our|their|the|[\w-]+'s)"
_CLOSE = (
    r"(?:mum|mom|mother|dad|father|parents|sisters?|brothers?|sons?|daughters?|kids|children|boys|girls|twins|wife"
    r"|husband|partner|girlfriend|boyfriend|family|friends?|aunt|uncle|cousins?|nephews?|nieces?|gran|grandma|grandpa"
    r"|grandparents|team|boss|colleagues?|neighbou?rs?|flatmates?|roommates?|others|guys|cat|dog)"
)
_MEASURED = (  # nouns without an article that are counted until a day
    r"(?:revenues?|sales|turnover|profits?|costs?|spending|expenses|income|losses|attendance|traffic|usage|consumption"
    r"|production|output|progress|inflation|rainfall|prices|rents?|temperatures?|figures|numbers|totals?|results|scores?)"
)
_NOBODY = rf"(?:an?|the|this|that|these|those|my|your|his|her|our|their|it|there|{_MEASURED})\b"
_ONE = rf"(?:{_OWNER} {_CLOSE}|you (?:all|guys|two)|(?!{_NOBODY})[\w-]+(?: (?-i:[A-Z])[\w-]+)?)"
_WHO = rf"{_ONE}(?: (?:and|or|&) {_ONE})?"
_BETWEEN = r"(?:(?:in|on|at|of|from|back|during|over|the|early|mid|late|start|beginning|middle|end) )"
_IS = r"(?:'s|'re| is| are| was| were)"
_DOING = re.compile(
    rf"\b(?:what|whatever)\b(?:.{{1,60}} (?:been|be|get|gets|got|gotten|getting)"
    rf"|(?: else| exactly| all)?(?:{_IS} {_WHO}| {_WHO}{_IS})(?: (?:all|still|both))?) up to {_BETWEEN}*$"
    rf"|\bup to (?:in|on|at|during|over) {_BETWEEN}*$",
    re.IGNORECASE,
)
_LOOKED_AT = 120  # characters before the time


def is_doing(before: str) -> bool:
    """Whether the text right before a time asks what somebody does, so that its "up to" sets no bound.

    >>> [is_doing(one) for one in ("What has Ana been up to ", "what's my sister up to ", "what did we get up to in ")]
    [True, True, True]
    >>> [is_doing(one) for one in ("What did Ana do up to ", "What was the balance up to ", "What were sales up to ")]
    [False, False, False]
    """
    return _DOING.search(before[-_LOOKED_AT:]) is not None
