"""Are the caller's arguments valid? Each value is checked where it enters, before anything is read or written."""

from adaptive_memory_core.arguments.new_records import metadata, new_id, new_record
from adaptive_memory_core.arguments.recalls import (
    channels,
    cue,
    drifted,
    guests,
    policy,
    questions,
    refusals,
    similarities,
    where,
)
from adaptive_memory_core.arguments.scopes import over, shared, user_scope
from adaptive_memory_core.arguments.values import count, distinct, encodable, flag, moment, name, progress, share, words

__all__ = [
    "refusals",
    "channels",
    "count",
    "cue",
    "distinct",
    "drifted",
    "encodable",
    "flag",
    "guests",
    "metadata",
    "moment",
    "name",
    "new_id",
    "new_record",
    "over",
    "policy",
    "progress",
    "questions",
    "share",
    "shared",
    "similarities",
    "user_scope",
    "where",
    "words",
]
