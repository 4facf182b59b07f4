"""Search the full-text indexes: FTS5, whose tokens are folded and stemmed as the schema says.

Any text is a legal term. What reaches FTS5 is a list of quoted strings joined by OR, so none of its
operators (AND, NEAR, `*`, `^`, `:`, `-`, brackets, column names) is ever interpreted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from factbook.store.sqlite.rows import IN, json_list, limited

# Not "ORDER BY rank": FTS5 then sorts every row that matches, with all its positions, which takes
# nearly twice as long as the scores themselves.
_BEST: Final = {
    target: f"SELECT rowid, -bm25({target}_fts) AS score FROM {target}_fts"
    f" WHERE {target}_fts MATCH ? ORDER BY score DESC, rowid"
    for target in ("episode", "fact")
}


def fts_query(terms: Sequence[str]) -> str:
    """Write an FTS5 query that finds rows with any of the terms; empty when there are none."""
    return " OR ".join('"' + term.replace('"', '""') + '"' for term in map(_legal, terms))


def _legal(term: str) -> str:
    # FTS5 ends at a NUL, and half a character cannot be handed to SQLite.
    return term.replace("\0", " ").encode("utf-8", "replace").decode()


def search_text(
    rows: Callable[[str, Sequence[Any]], list[Any]],
    target: str,
    match: str,
    passing: str,
    bindings: Sequence[Any],
    limit: int,
    *,
    wide: bool,
) -> list[tuple[int, float]]:
    """Return (id, BM25 score) of the best rows that match and pass a filter, by what `rows` reads.

    `passing` is what stands behind FROM, with its condition; empty where all pass. A filter that
    most rows pass (`wide`) is asked about twice as many rows as are wanted, and about all that
    match only where these do not do.
    """
    if not passing:
        return rows(limited(_BEST[target], limit), (match,))
    id_column = f"{target[0]}.id"
    if wide:
        hits: list[tuple[int, float]] = rows(limited(_BEST[target], 2 * limit), (match,))
        asked = json_list(id_ for id_, _ in hits)
        kept = rows(
            f"SELECT {id_column} FROM {passing} AND {id_column} IN {IN}", (*bindings, asked)
        )
        good = {row[0] for row in kept}
        if len(good) >= limit or len(hits) < 2 * limit:
            return [(id_, score) for id_, score in hits if id_ in good][:limit]
    sql = (
        f"SELECT {id_column}, -bm25({target}_fts) AS score FROM {target}_fts"
        f" CROSS JOIN {passing} AND {id_column} = {target}_fts.rowid"
        f" AND {target}_fts MATCH ? ORDER BY score DESC, {id_column}"
    )
    return rows(limited(sql, limit), (*bindings, match))
