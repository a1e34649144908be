"""What is made when it is first used, so that an import is quick: names of packages, and patterns."""

from __future__ import annotations

import gc
import re
from importlib import import_module
from typing import Any, cast


def loaded(module: str, name: str) -> Any:
    """What a module has under a name. While it is imported nothing is looked through for garbage: there is none in what
    stays, and a look through all that a framework has loaded takes up to a tenth of a second.

    >>> loaded("math", "tau") > 6.28
    True
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        return getattr(import_module(module), name)
    finally:
        if collects:
            gc.enable()


PATTERN_METHODS = ("search", "match", "fullmatch", "finditer", "findall", "sub", "split", "groupindex")


class _LatePattern:
    """What `late_pattern` gives: its methods are those of the pattern, from the first use on without a detour."""

    def __init__(self, source: str, flags: int) -> None:
        self._source, self._flags = source, flags

    def __getattr__(self, name: str) -> Any:
        made = re.compile(self._source, self._flags)
        vars(self).update({each: getattr(made, each) for each in PATTERN_METHODS})
        return getattr(made, name)


def late_pattern(source: str, flags: int = 0) -> re.Pattern[str]:
    """The pattern, compiled when it is first used: hundreds of them compiled on import took a tenth of a second.

    >>> late_pattern(r"\\d+").findall("3 of 12")
    ['3', '12']
    """
    return cast("re.Pattern[str]", _LatePattern(source, flags))
