"""What has every memory, whether its process holds the collection or not? Options, ledger, background, ports."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from adaptive_memory_core import arguments as check
from adaptive_memory_core.fields import Fields
from adaptive_memory_core.flow.calls.foreign_calls import Theirs, Unanswered
from adaptive_memory_core.flow.ports import Ledger
from adaptive_memory_core.flow.ports.ledger_copies import FileKind
from adaptive_memory_core.models.callbacks import as_extract, as_reader, as_reranker, as_rule, sources_of
from adaptive_memory_core.models.embedder import Embedder, as_embedder
from adaptive_memory_core.models.hierarchy_roles import as_roles
from adaptive_memory_core.models.judges import as_judge
from adaptive_memory_core.options import Options, checked
from adaptive_memory_core.policy.keeping import Keeping
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.policy_in_force import PolicyInForce
from adaptive_memory_core.sources.ask import Stages, channels_of, stages_with
from adaptive_memory_core.store.background import Background
from adaptive_memory_core.store.locations import check_ledger, is_in_postgres
from adaptive_memory_core.store.postgres.postgres_ledger import reach
from adaptive_memory_core.store.restored_backups import is_beside
from adaptive_memory_core.store.user_copies import UserCopies, UserFilesKeeper
from adaptive_memory_core.wiring.given_telemetry import as_telemetry


class Asked:
    """What was asked for, checked before anything is opened."""

    def __init__(self, options: Options) -> None:
        self.options = options
        check_ledger(options.get("ledger"))
        if is_in_postgres(in_postgres := options.get("ledger")):
            reach(in_postgres)
        if (embedder := options.get("embedder")) is not None:
            as_embedder(embedder)
        self.unanswered: defaultdict[str, Unanswered] = defaultdict(Unanswered)
        given = sources_of(options.get("channels"))
        self.channels = {name: Theirs(one, self.unanswered[name]) for name, one in given.items()}
        if (reranker := options.get("reranker")) is not None:
            as_reranker(reranker)
        rule = as_rule(options.get("same_fact"))
        self.same_fact = None if rule is None else Theirs(rule, self.unanswered["same_fact"])
        read = as_reader(options.get("reader"))
        self.reader = None if read is None else Theirs(read, self.unanswered["reader"])
        self.judge = as_judge(options.get("judge"))
        self.entities, self.roles = as_extract(options.get("entities")), as_roles(options.get("roles"))
        self.telemetry = as_telemetry(options.get("telemetry"))
        self.stages: Stages = self.telemetry.sources(stages_with(self.channels))
        policy = options["policy"] or Policy()
        self.in_force = PolicyInForce(policy, options["clock"], channels_of(self.stages))
        self.keeping, self.fields = options["keeping"] or Keeping(), options["fields"] or Fields()


def check_options(options: Options) -> None:
    """Refuse what no memory can be opened with, before anything is made."""
    given = checked(options, usual_clock=float)  # no clock is read
    Asked(given)
    check.shared(given["shared"])


@dataclass(frozen=True)
class Common:
    """What was asked for, the embedder and the ledger, and the thread that does the chores."""

    asked: Asked
    name: str  # of the collection
    embedder: Embedder
    ledger: Ledger
    directory: Path | None
    background: Background = field(default_factory=Background)
    files: UserFilesKeeper = field(default_factory=UserFilesKeeper)

    def __post_init__(self) -> None:
        self.files.wake = self.background.wake

    @property
    def keeps_copies(self) -> bool:
        """Whether the ledger is to have all records."""
        return not self.ledger.read_only and self.asked.keeping.copy_limit > 0

    @property
    def is_shared(self) -> bool:
        """Whether other processes can do without the collection: the ledger beside it has all that they need."""
        beside = is_beside(self.directory, self.asked.options.get("ledger"))
        return beside and self.ledger.outlives_process and self.keeps_copies

    def copies_in_files(self, kind: FileKind) -> UserCopies:
        """Copies of users' rows in files beside the ledger."""
        return UserCopies(kind, self.ledger.user_files, self.files, self.asked.keeping.file_records)
