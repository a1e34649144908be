"""Loading on first use, for fast imports: names of packages, and patterns."""

from __future__ import annotations

import gc
import re
from importlib import import_module
from typing import Any, cast


def loaded(module: str, name: str) -> Any:
    """Import a module and return the object with this name. Garbage collection is off during the import: a framework's
    objects all stay, and one collection through them takes up to a tenth of a second.

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
    """The result of `late_pattern`, with the methods of the pattern, which are direct from the first use on."""

    def __init__(self, source: str, flags: int) -> None:
        self._source, self._flags = source, flags

    def __getattr__(self, name: str) -> Any:
        made = re.compile(self._source, self._flags)
        vars(self).update({each: getattr(made, each) for each in PATTERN_METHODS})
        return getattr(made, name)


def late_pattern(source: str, flags: int = 0) -> re.Pattern[str]:
    """A pattern that is compiled on first use. Compiling hundreds on import took a tenth of a second.

    >>> late_pattern(r"\\d+").findall("3 of 12")
    ['3', '12']
    """
    return cast("re.Pattern[str]", _LatePattern(source, flags))
