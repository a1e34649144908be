"""The rules of plain English that a machine can see, over pages, messages and docstrings.

python -m tests.prose               # what breaks a rule in pages and messages; with --docstrings, there as well

A rule is a pattern of words, and what to write instead. Code, examples, addresses and quotations are left out.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
PACKAGES = [ROOT / one for one in ("shared/adaptive_memory_core", "langchain_adaptive_memory", "llama_adaptive_memory")]
GENERATED = {ROOT / "docs" / "reference" / "policy.md"}  # from docstrings
_UNITS = "second|minute|hour|day|week|month|year|user|recall|question|query|record|reader|process|machine|read"
_NOT_COUNTED = (
    "after|and|are|as|at|before|by|for|from|has|if|in|is|of|on|or|over|per|than|that|to|was|were|when|where|while|with"
    "|within|such|until|next|about|only"
)
FORMAT = r"\.\d+[a-z]?"  # of a value in a message
_NOUN = rf"(?!(?:{_NOT_COUNTED})\b)[a-z]+"
RULES = {
    "0.5, not .5": r"(?<![\w.)\]/*])\.\d+(?![\w.]*\w)",
    "per: 60 reads per user": rf"\d[\d,.]* (?:{_NOUN} ){{1,2}}an? (?:{_UNITS})\b",
    "is not a, has no": r"(?<![Tt]here )\b(?:is|are|was|were) no (?!(?:longer|more|less|fewer|better|worse|one)\b)",
    "again, rebuild": r"\banew\b",
    "depends on": r"\bh[au]ngs? on\b",
    "release, remove": r"\blet(?:s|ting)? go of\b",
    "is calculated, happens": r"\b(?:comes?|came|coming) about\b",
    "finds": r"\b(?:comes?|came|coming) upon\b",
    "your own": r"\bof (?:one's|their|its|your|our) own\b",
    "instead of": r"\bin (?:the )?place of\b",
    "is in, is stored in": r"\bstands? (?:in|under)\b",
    "anyone who, or the subject itself": r"\b[Ww]hoever\b",
    "anywhere, or if": r"\b[Ww]herever\b",
    "next to, in addition to, against": r"\b[Bb]eside\b",
    "available": r"\bat hand\b",
    "reports, warns, stores: software does not tell or know": (
        r"\b(?:memory|library|ledger|recall|command|policy|program|software|process) (?:tells|knows|believes|thinks)\b"
    ),
    "the usual word": r"\b(?:nought|lest|thereof|whereof|hitherto|heretofore|betimes|amid)\b",
    "If or when, at the start of a sentence": r"(?:^|[.:!?] )Where [^.?!,;:]*, ",
    "no nested parentheses": r"(?<!\w)\([^()]*(?<!\w)\([^()]* [^()]*\)",
}


class Passage(NamedTuple):
    line: int
    text: str


class Finding(NamedTuple):
    file: Path
    line: int
    rule: str
    words: str

    def __str__(self) -> str:
        return f"{self.file.relative_to(ROOT)}:{self.line}: write {self.rule}: ...{self.words}..."


def main() -> int:
    found = [*in_pages(), *in_messages(), *(in_docstrings() if "--docstrings" in sys.argv else ())]
    print("\n".join(str(one) for one in found) or "nothing to mend")
    return 1 if found else 0


def in_pages() -> list[Finding]:
    files = sorted({*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")} - GENERATED)
    return [one for file in files for one in findings(file, paragraphs(file.read_text("utf-8")))]


def in_messages() -> list[Finding]:
    """In errors, warnings, and the help of commands."""
    return [one for file, tree in _sources() for one in findings(file, messages(tree))]


def in_docstrings() -> list[Finding]:
    return [one for file, tree in _sources() for one in findings(file, docstrings(tree))]


def findings(file: Path, passages: Iterator[Passage]) -> Iterator[Finding]:
    for passage in passages:
        text = prose(passage.text)
        for rule, pattern in RULES.items():
            for match in re.finditer(pattern, text):
                words = text[max(0, match.start() - 30) : match.end() + 30].replace("\n", " ")
                yield Finding(file, passage.line + text.count("\n", 0, match.start()), rule, words)


def prose(text: str) -> str:
    """The text without code, quotations, comments and the addresses of links; a line stays a line.

    >>> prose('see `a.b()` and [the page](x.md#y), not "anew"')
    'see `` and [the page], not ""'
    """
    text = re.sub(r"<!--.*?-->", "", text)
    text = re.sub(r"\]\([^)\n]*\)", "]", text)
    return re.sub(r'"[^"\n]{1,60}"', '""', re.sub(r"``.+?``|`[^`\n]*`", "``", text))


def paragraphs(page: str) -> Iterator[Passage]:
    """Those of a Markdown page, without blocks of code: lines joined, since a rule may be broken across two."""
    fenced, start, lines = False, 0, list[str]()
    for number, line in enumerate([*page.splitlines(), ""], 1):
        fence = line.startswith("```")
        if (fence or fenced or not line.strip() or line.lstrip().startswith(("- ", "|", "#"))) and lines:
            yield Passage(start, " ".join(lines))
            lines = []
        fenced = fenced != fence
        if not fenced and not fence and line.strip():
            start = start if lines else number
            lines.append(line.strip())


def docstrings(tree: ast.AST) -> Iterator[Passage]:
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) and node.body:
            first = node.body[0]
            text = ast.get_docstring(node)
            if text is not None:
                yield Passage(first.lineno, " ".join(re.sub(r"^ *>>> .*\n(.+\n?)*", "", text, flags=re.M).splitlines()))


def messages(tree: ast.AST) -> Iterator[Passage]:
    for node in ast.walk(tree):
        raised = node.exc if isinstance(node, ast.Raise) else None
        shown = isinstance(node, ast.Call) and ast.unparse(node.func).endswith(
            ("warn", "warning", "Option", "Argument")
        )
        for one in ast.walk(node) if shown else ast.walk(raised) if raised is not None else ():
            if isinstance(one, ast.Constant) and isinstance(one.value, str) and not re.fullmatch(FORMAT, one.value):
                yield Passage(one.lineno, one.value)


def _sources() -> Iterator[tuple[Path, ast.AST]]:
    for package in PACKAGES:
        for file in sorted(package.rglob("*.py")):
            yield file, ast.parse(file.read_text("utf-8"))


if __name__ == "__main__":
    sys.exit(main())
