"""What does a check of a memory report? One finding for each fault, with what to do, and whether it is mended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Part = Literal["database", "index", "ledger", "records", "graph", "hierarchy"]


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is not as it should be, in which part of the memory, and what to do about it.

    "database" is Chroma's SQLite file, "index" its files of vectors, "ledger" the file of reads, "records" what stands
    in them, "graph" what the ledger keeps of the names in them,
    "hierarchy" what it keeps of what was observed. `mended` says that nothing needs to be done any more.
    """

    part: Part
    what: str
    remedy: str = ""
    mended: bool = False

    def __str__(self) -> str:
        return f"{self.part}: {self.what}" + (" Mended." if self.mended else f" {self.remedy}".rstrip())


@dataclass(frozen=True, slots=True)
class CheckReport:
    """What `check` found. Print it for a line a finding.

    >>> report = CheckReport((Finding("index", "header.bin is torn.", "Call repair."),))
    >>> report.ok, len(report), str(report)
    (False, 1, 'index: header.bin is torn. Call repair.')
    >>> str(CheckReport()), CheckReport().ok
    ('Nothing is wrong.', True)
    """

    findings: tuple[Finding, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong, or not any more."""
        return all(one.mended for one in self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    def __str__(self) -> str:
        return "\n".join(map(str, self.findings)) or "Nothing is wrong."
