"""How does the reference read the code? Two things of ours that its builder does not know by itself.

Markdown would take the `>>>` of an example for a quote, so examples are fenced. And the verbs of a `UserMemory` are
functions elsewhere, made into methods; they stand in the reference as the methods that a user calls.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import griffe

from adaptive_memory_core import UserMemory

EXAMPLE = re.compile(r"^>>> .*?(?=\n\n|\Z)", re.MULTILINE | re.DOTALL)


class FencedExamples(griffe.Extension):
    """Fences every example of every docstring."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)


class VerbsAsMethods(griffe.Extension):
    """Puts the verbs where they are called. An async twin has the same arguments and is not shown."""

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        if pkg.path != "adaptive_memory_core":
            return
        scope = pkg["user_memory.UserMemory"]
        for name, path in verbs():
            scope.set_member(name, as_method(name, pkg[path]))


def fenced(docstring: str) -> str:
    """The docstring with its examples as blocks of code.

    >>> print(fenced("Says.\\n\\n>>> 1 + 1\\n2\\n\\nMore."))
    Says.
    <BLANKLINE>
    ```pycon
    >>> 1 + 1
    2
    ```
    <BLANKLINE>
    More.
    """
    return EXAMPLE.sub(lambda found: f"```pycon\n{found[0]}\n```", docstring)


def verbs() -> Iterator[tuple[str, str]]:
    """The name of every blocking verb, and where in the package its function is."""
    for name, method in vars(UserMemory).items():
        verb = getattr(method, "__wrapped__", None)
        if verb is not None and verb.__name__ == name:
            yield name, f"{verb.__module__}.{verb.__name__}".removeprefix("adaptive_memory_core.")


def as_method(name: str, verb: griffe.Function) -> griffe.Function:
    """The verb as its user calls it: of a `UserMemory`."""
    own = griffe.Parameter("self", kind=griffe.ParameterKind.positional_or_keyword)
    parameters = griffe.Parameters(own, *list(verb.parameters)[1:])
    method = griffe.Function(
        name, lineno=verb.lineno, endlineno=verb.endlineno, parameters=parameters, returns=verb.returns
    )
    if verb.docstring is not None:
        method.docstring = griffe.Docstring(verb.docstring.value, lineno=verb.docstring.lineno, parent=method)
    return method
