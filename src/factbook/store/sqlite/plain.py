"""Answer a query in plain SQL, which reads and can do nothing else.

The query gets a connection of its own, for reading only. What it may do is listed and the rest is
refused, whoever wrote the query; how long it runs and how much it gives is bounded. (One function
over one very long text, such as `instr`, is a single step, and nothing ends it before it is done.)
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Final

import apsw

from factbook.errors import UsageError
from factbook.model.facts import SQLValue

_READS: Final = {apsw.SQLITE_SELECT, apsw.SQLITE_READ, apsw.SQLITE_FUNCTION, apsw.SQLITE_RECURSIVE}
_TELLS_OF: Final = {  # pragmas whose argument names what is asked about
    "foreign_key_check", "foreign_key_list", "index_info", "index_list", "index_xinfo",
    "integrity_check", "quick_check", "table_info", "table_list", "table_xinfo"
}  # fmt: skip
_TELLS: Final = {  # pragmas that change something when they have an argument
    "application_id", "data_version", "encoding", "freelist_count", "journal_mode", "page_count",
    "page_size", "schema_version", "user_version"
}  # fmt: skip
_OF_A_VIEW: Final = "cannot modify"  # how SQLite begins: it asks no authorizer about a view
_STEPS: Final = 1_000  # of SQLite's machine between two looks at the clock: below a millisecond
_LONGEST: Final = 64_000_000  # bytes of one value, and of what a function joins to one
_MOST: Final = 256_000_000  # characters and bytes of an answer: what is still held in memory easily


def select(
    connection: apsw.Connection,
    query: str,
    params: Sequence[SQLValue] | Mapping[str, SQLValue],
    *,
    limit: int | None,
    seconds: float,
) -> list[dict[str, SQLValue]]:
    """Return the rows of one statement, by the names of its columns.

    A name that comes twice gets a number: `id`, `id_2`. Raises UsageError for what is no single
    statement that reads, is wrong, takes longer or gives more rows than allowed.
    """
    end = time.monotonic() + seconds
    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
    connection.limit(apsw.SQLITE_LIMIT_LENGTH, _LONGEST)
    connection.limit(apsw.SQLITE_LIMIT_ATTACHED, 0)
    connection.execute("PRAGMA query_only=ON; PRAGMA trusted_schema=OFF").fetchall()
    connection.authorizer = _allowed
    connection.set_progress_handler(lambda: time.monotonic() > end, _STEPS)
    statements = 0

    def counted(cursor: apsw.Cursor, sql: str, bindings: object) -> bool:
        nonlocal statements
        statements += cursor.has_vdbe  # a comment is none
        return statements <= 1

    cursor = connection.cursor()
    cursor.exec_trace = counted
    rows: list[dict[str, SQLValue]] = []
    size = 0
    try:
        names: list[str] | None = None
        for row in cursor.execute(query, params):
            if names is None:
                names = _distinct([column[0] for column in cursor.get_description()])
            if limit is not None and len(rows) == limit:
                raise UsageError(
                    detail=f"the query gives more than {limit} rows; narrow it with WHERE or LIMIT,"
                    " or allow more with `--limit` (in Python `limit`)"
                )
            size += sum(len(value) for value in row if isinstance(value, str | bytes))
            if size > _MOST:
                raise UsageError(
                    detail=f"the query gives more than {_MOST // 1_000_000} MB; ask for fewer rows,"
                    " or for parts of them with substr()"
                )
            if time.monotonic() > end:  # rows of few steps that take long each
                raise apsw.InterruptError
            rows.append(dict(zip(names, row, strict=True)))
    except apsw.InterruptError:
        raise UsageError(
            detail=f"the query did not end within {seconds:g} seconds; narrow it, or allow more"
            " with `--timeout` (in Python `seconds`)"
        ) from None
    except (apsw.AuthError, apsw.ReadOnlyError, apsw.ExecTraceAbort) as error:
        raise _refused("it is more than one statement" if statements > 1 else str(error)) from error
    except apsw.BindingsError as error:
        raise UsageError(
            detail=f"the query has other places for values than values were given ({error}); give"
            " `--param VALUE` once for each ? (in Python `params`)"
        ) from error
    except (
        apsw.SQLError,
        apsw.TooBigError,
        apsw.MismatchError,
        apsw.RangeError,
        apsw.ConstraintError,
        TypeError,
        ValueError,
    ) as error:
        if isinstance(error, UnicodeDecodeError):
            raise UsageError(
                detail=f"a text of the answer is none ({error}); ask for bytes as they are, or with"
                " hex(). If it is stored as a text, the file is damaged: factbook doctor says so"
            ) from error
        if _OF_A_VIEW in str(error):
            raise _refused(str(error)) from error
        raise UsageError(detail=f"the query cannot be answered ({error})") from error
    if not statements:
        raise UsageError(detail="the query is empty; give one SELECT")
    return rows


def _refused(why: str) -> UsageError:
    return UsageError(
        detail=f"the query was refused ({why}): it may only read, by one SELECT, VALUES, EXPLAIN or"
        " PRAGMA that only tells something"
    )


def _allowed(
    action: int, first: str | None, second: str | None, database: str | None, cause: str | None
) -> int:
    """Allow reading, and refuse all that is not known to be that."""
    if action in _READS and second != "load_extension":
        return apsw.SQLITE_OK
    if action == apsw.SQLITE_PRAGMA and (
        first in _TELLS_OF or (first in _TELLS and second is None)
    ):
        return apsw.SQLITE_OK
    return apsw.SQLITE_DENY


def _distinct(names: Sequence[str]) -> list[str]:
    taken: list[str] = []
    for name in names:
        number, label = 1, name
        while label in taken:
            number += 1
            label = f"{name}_{number}"
        taken.append(label)
    return taken
