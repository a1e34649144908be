"""Has this process run out of file descriptors? SQLite says only "unable to open database file"."""

from __future__ import annotations

import errno
import os

try:
    import resource
except ImportError:  # Windows, which has other limits
    resource = None  # type: ignore[assignment]

HINT = (
    "This process has run out of file descriptors{limit}. Close what is no longer used: one memory and one Chroma "
    "client will do for all requests (docs/operations.md). Or allow more: ulimit -n 4096."
)


def none_left() -> str | None:
    """What to do, if none can be opened any more; else None."""
    try:
        os.close(os.open(os.devnull, os.O_RDONLY))
    except OSError as error:
        if error.errno in (errno.EMFILE, errno.ENFILE):
            limit = "" if resource is None else f" (it may have {resource.getrlimit(resource.RLIMIT_NOFILE)[0]})"
            return HINT.format(limit=limit)
    return None
