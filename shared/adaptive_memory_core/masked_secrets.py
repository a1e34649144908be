"""Masking of secrets in well-known formats in texts before they are stored.

A format is a name and a pattern. A pattern may begin with a group `before` that stays: the name of a variable, or the
start of an address. Masking a masked text again leaves it unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from adaptive_memory_core.late import late_pattern
from adaptive_memory_core.records import Cue, NewRecord, Record

_ASCII = r"(?a)"  # a letter of a script without spaces next to a secret is not part of it
_START = rf"{_ASCII}(?<![\w-])"  # not within a longer word, but allowed after slashes in an address
_OUTSIDE_BASE64, _END = rf"{_ASCII}(?<![\w+/-])", r"(?![\w+/=-])"  # of letters and digits alone
_WORD = r"(?<![a-zA-Z0-9_])"
_QUOTE = r"(?:\\?[\"'])"  # or one within JSON within JSON
_NAMES = r"(?:passwo?r?d|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key)\d{0,3}"
_VALUE = r"[^\s\"'`,;&(){}\[\]<>$*]"  # a character of a secret, which excludes code and placeholders

FORMATS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (name, late_pattern(pattern))
    for name, pattern in (
        (
            "private key",
            r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
            r"(?:(?:[^-]|-(?!----)){0,10000}-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
            r"|(?:(?:\s|\\n){0,8}[A-Za-z0-9+/=]{16,})+)",
        ),
        ("aws key id", rf"{_OUTSIDE_BASE64}(?:AKIA|ASIA)[A-Z0-9]{{16}}{_END}"),
        ("github token", rf"{_START}(?:gh[pousr]_[A-Za-z0-9]{{36,255}}|github_pat_\w{{40,255}})"),
        ("gitlab token", rf"{_START}glpat-[\w-]{{20,}}"),
        ("anthropic key", rf"{_START}sk-ant-[\w-]{{20,}}"),
        (
            "openai key",
            rf"{_START}(?:sk-(?:proj|svcacct|admin)-[\w-]{{20,}}|sk-or-v1-[0-9a-f]{{64}}|sk-[A-Za-z0-9]{{32,}}{_END})",
        ),
        ("slack token", rf"{_START}(?:xox[abeoprs]-[A-Za-z0-9-]{{10,}}|xapp-\d-[A-Za-z0-9-]{{10,}})"),
        ("slack webhook", rf"{_ASCII}https://hooks\.slack\.com/services/T\w+/B\w+/\w{{16,}}"),
        ("google key", rf"{_OUTSIDE_BASE64}AIza[\w-]{{35}}{_END}"),
        ("google token", rf"{_START}ya29\.[\w-]{{20,}}"),
        ("stripe key", rf"{_START}(?:[sr]k_(?:live|test)|whsec)_[A-Za-z0-9]{{16,}}"),
        ("npm token", rf"{_START}npm_[A-Za-z0-9]{{36}}{_END}"),
        ("pypi token", rf"{_START}pypi-AgE[\w-]{{50,}}"),
        ("hugging face token", rf"{_START}hf_[A-Za-z0-9]{{30,}}{_END}"),
        ("sendgrid key", rf"{_START}SG\.[\w-]{{16,}}\.[\w-]{{32,}}"),
        ("json web token", rf"{_START}eyJ[\w-]{{8,}}\.eyJ[\w-]{{8,}}\.[\w-]{{8,}}"),
        (
            "bearer token",
            rf"(?i)(?P<before>{_WORD}authorization{_QUOTE}?\s{{0,3}}[:=]\s{{0,3}}{_QUOTE}?(?:bearer|basic|token)\s{{1,3}})"
            r"[\w.~+/=-]{8,}",
        ),
        ("bearer token", rf"(?i)(?P<before>{_WORD}bearer\s{{1,3}})(?=[\w.~+/=-]{{0,200}}\d)[\w.~+/=-]{{20,}}"),
        ("password", rf"(?P<before>{_WORD}[a-zA-Z][a-zA-Z0-9+.-]{{1,20}}://[^\s:/@]{{1,200}}:)[^\s@/\[]{{3,200}}(?=@)"),
        (
            "password",
            rf"(?i)(?P<before>{_NAMES}{_QUOTE}?\s{{0,3}}[:=]\s{{0,3}}({_QUOTE}))(?!\[masked)[^\s\"']{{6,200}}(?=\2)",
        ),
        ("password", rf"(?i)(?P<before>{_NAMES}=)(?=\S{{0,200}}[a-z]){_VALUE}{{6,200}}(?![\w(\[{{])"),
        (
            "password",
            rf"(?i)(?P<before>{_NAMES}\s?[:=]\s)(?=\S{{0,200}}\d)(?=\S{{0,200}}[a-z]){_VALUE}{{6,200}}(?![\w(\[{{])",
        ),
    )
)


def mask(text: str) -> str:
    """The text with each secret replaced by the kind of secret.

    >>> mask("push with ghp_" + "a1B2" * 9 + ", then export PGPASSWORD=tiger-77")
    'push with [masked: github token], then export PGPASSWORD=[masked: password]'
    >>> mask("the commit is 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b")
    'the commit is 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b'
    """
    before = None
    while text != before:  # a secret right after another may match only once the first is masked
        before = text
        for name, pattern in FORMATS:
            kept = r"\g<before>" if "before" in pattern.groupindex else ""
            text = pattern.sub(f"{kept}[masked: {name}]", text)
    return text


def masked_cue(cue: Cue) -> Cue:
    """The query with its texts masked."""
    return replace(cue, text=mask(cue.text), words=None if cue.words is None else mask(cue.words))


def masked_item(item: Any) -> Any:
    """An item to store, with its text and the texts in its metadata masked. Other values stay unchanged.

    >>> masked_item({"text": "export TOKEN=abc123def", "metadata": {"line": "PGPASSWORD=abc123def", "page": 3}})
    {'text': 'export TOKEN=[masked: password]', 'metadata': {'line': 'PGPASSWORD=[masked: password]', 'page': 3}}
    """
    if isinstance(item, Mapping):
        return {key: _masked(value) if key in ("text", "content", "metadata") else value for key, value in item.items()}
    if isinstance(item, Record | NewRecord):
        return replace(item, text=_masked(item.text), metadata=_masked(item.metadata))
    return _masked(item)


def _masked(value: Any, key: str = "") -> Any:
    """The value with each text in it masked as if it followed its key in JSON.

    >>> _masked({"db_password": "tiger-77", "line": "tiger-77"})
    {'db_password': '[masked: password]', 'line': 'tiger-77'}
    """
    if isinstance(value, str):
        before = f'{key}="'
        line = mask(f'{before}{value}"')
        return line[len(before) : -1] if key and line.startswith(before) else mask(value)
    if isinstance(value, Mapping):
        return {name: _masked(one, str(name)) for name, one in value.items()}
    return [_masked(one, key) for one in value] if isinstance(value, list) else value
