"""How is a page about a memory made from a shell? `report`: of one user's, of all, or of a comparison of systems."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from adaptive_memory_core.cli.given_text import is_readable, text_of
from adaptive_memory_core.cli.output import show
from adaptive_memory_core.cli.session import Session, session_of
from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.store.page_file import check_page_file, write_page


def add_to(app: typer.Typer) -> None:
    app.command()(report)


def report(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(help="The page: a new file, or an earlier page.", metavar="OUT.html")],
    experiment: Annotated[
        Path | None, typer.Option(help="Draw what `compare --out` wrote; no memory is needed.", metavar="FILE")
    ] = None,
    all_users: Annotated[bool, typer.Option("--all-users", help="Numbers of all users, and nobody's texts.")] = False,
    records: Annotated[int | None, typer.Option(help="Of a user: so many records at most; 500 if not given.")] = None,
    recalls: Annotated[int | None, typer.Option(help="Of a user: so many recalls at most; 50 if not given.")] = None,
    title: Annotated[str | None, typer.Option(help="The page's title.")] = None,
) -> None:
    """A page of HTML to look at: one file that loads nothing from anywhere.

    What is remembered, how strong it is and how it fades, what was asked and why it found what it found, what verdicts
    changed, themes and names. Making it counts as no read. Keep the file as you keep the memory: it holds its texts.
    """
    session = session_of(ctx)
    check_page_file(file)
    limits = {name: given for name, given in (("records", records), ("recalls", recalls)) if given is not None}
    _check_fit(limits, experiment, all_users=all_users, title=title)
    page = (
        _comparison(file, experiment)
        if experiment is not None
        else _memory(session, file, limits, all_users=all_users, title=title)
    )
    show([str(file)], {"path": str(file), "characters": len(page)}, as_json=session.as_json)


def _comparison(file: Path, experiment: Path) -> str:
    from adaptive_memory_core.evaluate.comparison import Comparison

    if not is_readable(experiment):
        raise InvalidInputError(f"There is no file {str(experiment)!r}. Give what compare --out wrote.")
    page = Comparison.from_json(text_of(experiment)).html()
    write_page(file, page)
    return page


def _memory(session: Session, file: Path, limits: dict[str, int], *, all_users: bool, title: str | None) -> str:
    if not all_users:
        with session.scope() as user:
            return user.report(file, title=title, **limits)
    if session.user is not None or session.everyone:
        raise InvalidInputError("--all-users stands for --user NAME or --everyone. Give one of the three.")
    with session.memory() as memory:
        return memory.report(file, title=title)


def _check_fit(limits: dict[str, int], experiment: Path | None, *, all_users: bool, title: str | None) -> None:
    """Refuse what would be left out of account."""
    given = [f"--{name}" for name in limits]
    if experiment is None:
        page = "--all-users" if all_users else ""
    else:
        page = "--experiment"
        given += [*(["--title"] if title is not None else []), *(["--all-users"] if all_users else [])]
    if given and page:
        raise InvalidInputError(f"{' and '.join(given)} cannot be given with {page}. Leave out one or the other.")
