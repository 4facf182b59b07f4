"""The verbs that find what goes together when something is erased."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

import apsw

from factbook.store.base_erase import Doomed
from factbook.store.sqlite.ledger import LedgerReads
from factbook.store.sqlite.repeating import folded, loose_pattern, word_pattern
from factbook.store.sqlite.rows import json_list

IN: Final = "(SELECT value FROM json_each(?))"
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+|\n+")


class DoomedVerbs(LedgerReads):
    """The part of the writer that finds what goes together."""

    _db: apsw.Connection

    def _texts(self, episode_ids: Iterable[int]) -> list[tuple[int, str]]:
        return self._all(
            f"SELECT id, text FROM episode_row WHERE id IN {IN}", json_list(sorted(episode_ids))
        )

    def _all(self, sql: str, *bindings: Any) -> list[Any]:
        return self._db.execute(sql, bindings).fetchall()

    def _ids(self, sql: str, *bindings: Any) -> set[int]:
        return {int(row[0]) for row in self._db.execute(sql, bindings)}

    # --- what goes together ---------------------------------------------------------------------

    def lineage(self, fact_ids: Iterable[int]) -> set[int]:
        """Return facts with all that stands behind them."""
        found = set(fact_ids)
        new = set(found)
        while new:
            ids = json_list(sorted(new))
            behind = self._ids(
                f"SELECT id FROM fact_row WHERE merged_into_id IN {IN}"
                f" UNION SELECT id FROM fact_row WHERE superseded_by IN {IN}"
                f" UNION SELECT o.id FROM fact_row f JOIN fact_row o ON o.kind = 'keyed'"
                "  AND o.owner = f.owner AND o.predicate = f.predicate"
                f"  WHERE f.kind = 'keyed' AND f.id IN {IN}",
                ids,
                ids,
                ids,
            )
            # No index has the claims of rows that have retired: one pass over the facts.
            claims = [
                row[0] for row in self._all(f"SELECT claim FROM fact_row WHERE id IN {IN}", ids)
            ]
            behind |= self._ids(
                "SELECT id FROM fact_row WHERE retired_at IS NOT NULL AND claim IN"
                " (SELECT unhex(value) FROM json_each(?))",
                json_list(claim.hex() for claim in claims),
            )
            new = behind - found
            found |= new
        return found

    def beside(self, doomed: Doomed) -> Doomed:
        """Return what cannot stay when these rows go."""
        more = Doomed()
        gone = json_list(sorted(doomed.episodes))
        more.entities = self._without_cause("entity", gone) - doomed.entities
        more.preferences = self._without_cause("preference", gone) - doomed.preferences
        more.prompts = self._ids(f"SELECT id FROM learn_prompt_row WHERE episode_id IN {IN}", gone)
        more.schedules = self._ids(f"SELECT id FROM schedule_row WHERE episode_id IN {IN}", gone)
        prompts = json_list(sorted(doomed.prompts | more.prompts))
        more.tasks = self._ids(
            f"SELECT id FROM search_task WHERE learn_prompt_id IN {IN} OR cause_id IN {IN}",
            prompts,
            gone,
        )
        more.searches = self._ids(
            f"SELECT id FROM search_log_row WHERE learn_prompt_id IN {IN} OR cause_id IN {IN}",
            prompts,
            gone,
        )
        more.rejections = self._ids(
            f"SELECT id FROM rejection_row WHERE episode_id IN {IN}"
            f" UNION SELECT id FROM rejection_row WHERE source_id IN {IN}",
            gone,
            json_list(sorted(doomed.sources)),
        )
        for entity in sorted(more.entities):
            more.add(self.about_entity(entity))
        return more

    def _without_cause(self, target: str, gone: str) -> set[int]:
        """Return what came in by an episode that goes, and that nothing else speaks for."""
        return self._ids(
            f"SELECT id FROM {target}_row n WHERE episode_id IN {IN}"
            f" AND ({self._other_cause(target)}) IS NULL",
            gone,
            gone,
        )

    def _other_cause(self, target: str) -> str:
        """Return the SQL of the first other thing that an owner did about an entity or topic."""
        return (
            "SELECT min(g.episode_id) FROM engagement_row g JOIN episode_row e"
            f" ON e.id = g.episode_id WHERE g.{target}_id = n.id AND e.trust = 'direct'"
            f" AND e.injected = 0 AND e.id NOT IN {IN}"
        )

    def about_entity(self, entity_id: int) -> Doomed:
        """Return everything that is about an entity."""
        found = Doomed()
        ids = self._ids(
            """WITH RECURSIVE same(id) AS (SELECT ? UNION
                 SELECT n.id FROM same JOIN entity_row n ON n.merged_into_id = same.id)
               SELECT id FROM same""",
            entity_id,
        )
        found.entities = ids
        listed = json_list(sorted(ids))
        owner = self._all("SELECT owner FROM entity_row WHERE id = ?", entity_id)[0][0]
        names = self._names(ids)
        found.facts = self.lineage(
            self._ids(
                f"SELECT id FROM fact_row WHERE kind = 'world' AND owner = ? AND subject IN {IN}",
                owner,
                json_list(names),
            )
        )
        found.preferences = self._ids(
            f"SELECT id FROM preference_row WHERE owner = ? AND topic IN {IN}",
            owner,
            json_list(names),
        )
        said = word_pattern(names)
        for table, column, kind in (
            ("learn_prompt_row", "text", found.prompts),
            ("schedule_row", "topic", found.schedules),
            ("search_log_row", "query", found.searches),
            ("search_task", "query", found.tasks),
        ):
            rows = self._all(f"SELECT id, {column} FROM {table} WHERE owner = ?", owner)
            kind.update(one for one, text in rows if said.search(folded(text)))
        found.searches |= self._ids(
            f"SELECT id FROM search_log_row WHERE entity_id IN {IN}", listed
        )
        found.tasks |= self._ids(f"SELECT id FROM search_task WHERE entity_id IN {IN}", listed)
        found.episodes = self._only_found_by(found.searches)
        causes = self._ids(
            f"SELECT episode_id FROM entity_row WHERE id IN {IN}"
            f" UNION SELECT episode_id FROM engagement_row WHERE entity_id IN {IN}"
            "  AND episode_id IS NOT NULL"
            f" UNION SELECT episode_id FROM preference_row WHERE id IN {IN}"
            f" UNION SELECT episode_id FROM learn_prompt_row WHERE id IN {IN}"
            f" UNION SELECT episode_id FROM schedule_row WHERE id IN {IN}"
            f" UNION SELECT episode_id FROM engagement_row WHERE preference_id IN {IN}"
            "  AND episode_id IS NOT NULL",
            listed,
            listed,
            json_list(found.preferences),
            json_list(found.prompts),
            json_list(found.schedules),
            json_list(found.preferences),
        )
        for one, text in self._texts(causes - found.episodes):
            # Every occurrence in what its owner said: the rest of the message stays.
            spans = [match.span() for match in loose_pattern(names).finditer(text)]
            if spans:
                found.masks[one] = spans
        for one, spans in self._named_in_copies(owner, names, found).items():
            found.masks.setdefault(one, []).extend(spans)
        return found

    def _named_in_copies(
        self, owner: str, names: Sequence[str], going: Doomed
    ) -> dict[int, list[tuple[int, int]]]:
        """Return where names stand in what factbook itself wrote or fetched, by episode.

        Of answers in conversations that is each sentence with a name. In pages that stay, for
        another search found them too, it is the name alone, and not where a fact about something
        else stands on the words around it: that fact would go. A page that has a name in its title
        or address only comes without spans. A part of the longer name of something else that stays
        is none: "kef" in "kef ls50 meta".
        """
        sayings = loose_pattern(names)
        longer = loose_pattern(self._longer_names(sayings, going))
        pages: list[tuple[int, str, bool]] = []
        masks: dict[int, list[tuple[int, int]]] = {}
        for one, is_page, text, attributes in self._all(
            "SELECT e.id, e.kind = 'search_result', e.text, e.attributes FROM episode_row e"
            " JOIN source_row s ON s.id = e.source_id WHERE e.owner = ? AND e.text <> ''"
            " AND (e.kind = 'search_result'"
            "  OR (s.kind = 'conversation' AND e.role = 'assistant'))",
            owner,
        ):
            if one in going.episodes:
                continue
            if not is_page:
                masks[one] = _sentences_around(text, _named_in(text, sayings, longer))
                continue
            is_named = bool(_named_in(attributes, sayings, longer))
            if is_named or sayings.search(text):
                pages.append((one, text, is_named))
        needed: dict[int, list[tuple[int, int]]] = {}
        for span in self.evidence(episode_ids=[page[0] for page in pages]):
            if span.fact_id not in going.facts:
                needed.setdefault(span.episode_id, []).append((span.start, span.end))
        masks = {one: spans for one, spans in masks.items() if spans}
        for one, text, is_named in pages:
            spans = [
                (start, end)
                for start, end in _named_in(text, sayings, longer)
                if not any(a < end and start < b for a, b in needed.get(one, ()))
            ]
            if spans or is_named:
                masks[one] = spans
        return masks

    def _longer_names(self, sayings: re.Pattern[str], going: Doomed) -> list[str]:
        """Return the names of things of the same owners that stay, which hold one that goes."""
        rows = self._all(
            "WITH whose AS (SELECT DISTINCT owner FROM entity_row WHERE id IN"
            f" {IN}), there AS (SELECT id, name FROM entity_row WHERE retired_at IS NULL"
            "  AND owner IN (SELECT owner FROM whose))"
            " SELECT id, name FROM there UNION SELECT a.entity_id, a.name FROM entity_alias a"
            " JOIN there ON there.id = a.entity_id",
            json_list(sorted(going.entities)),
        )
        return [name for one, name in rows if one not in going.entities and sayings.search(name)]

    def finder_of_names(self, going: Doomed) -> Callable[[str], bool]:
        """Return what tells whether a text has the name of a thing that goes."""
        sayings = loose_pattern(self._names(going.entities))
        longer = loose_pattern(self._longer_names(sayings, going))
        return lambda text: bool(_named_in(text, sayings, longer))

    def _names(self, entity_ids: Iterable[int]) -> list[str]:
        listed = json_list(sorted(entity_ids))
        rows = self._all(
            f"SELECT name FROM entity_row WHERE id IN {IN}"
            f" UNION SELECT name FROM entity_alias WHERE entity_id IN {IN}",
            listed,
            listed,
        )
        return [row[0] for row in rows]

    def _only_found_by(self, search_ids: Iterable[int]) -> set[int]:
        """Return the results of searches that no other search found."""
        listed = json_list(sorted(search_ids))
        return self._ids(
            f"SELECT episode_id FROM search_result_row r WHERE search_id IN {IN} AND NOT EXISTS"
            " (SELECT 1 FROM search_result_row o WHERE o.episode_id = r.episode_id"
            f" AND o.search_id NOT IN {IN})",
            listed,
            listed,
        )

    def belonging_to(self, owner: str) -> Doomed:
        """Return everything of an owner."""
        tables = {
            "facts": "fact_row",
            "episodes": "episode_row",
            "rejections": "rejection_row",
            "entities": "entity_row",
            "preferences": "preference_row",
            "prompts": "learn_prompt_row",
            "searches": "search_log_row",
            "tasks": "search_task",
            "schedules": "schedule_row",
        }
        found = Doomed()
        for name, table in tables.items():
            mine = self._ids(f"SELECT id FROM {table} WHERE owner = ?", owner)
            setattr(found, name, mine - self._erased(table.removesuffix("_row")))
        found.sources = self._ids(
            "SELECT s.id FROM source_row s WHERE EXISTS"
            " (SELECT 1 FROM episode_row e WHERE e.source_id = s.id AND e.owner = ?1)"
            " AND NOT EXISTS (SELECT 1 FROM episode_row e WHERE e.source_id = s.id"
            "  AND e.owner <> ?1 AND e.owner <> '')",
            owner,
        )
        return found

    def part_of_source(self, source_id: int) -> Doomed:
        """Return everything of a source."""
        return Doomed(
            sources={source_id},
            episodes=self._ids("SELECT id FROM episode_row WHERE source_id = ?", source_id)
            - self._erased("episode"),
        )

    def _erased(self, target: str) -> set[int]:
        return self._ids("SELECT row_id FROM erased_row WHERE target = ?", target)


def _named_in(
    text: str, sayings: re.Pattern[str], longer: re.Pattern[str]
) -> list[tuple[int, int]]:
    """Return the spans of names in a text that are no part of a longer name."""
    found = [match.span() for match in sayings.finditer(text)]
    taken = [match.span() for match in longer.finditer(text)] if found else []
    return [span for span in found if not any(a < span[1] and span[0] < b for a, b in taken)]


def _sentences_around(text: str, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the spans of the sentences of a text in which others lie."""
    if not spans:
        return []
    ends = [match.span() for match in _SENTENCE_END.finditer(text)]
    starts = [0, *(end for _, end in ends)]
    stops = [*(start for start, _ in ends), len(text)]
    return [  # a name may hold the end of a sentence: "dr. dre"
        (max(one for one in starts if one <= start), min(stop for stop in stops if stop >= end))
        for start, end in spans
    ]
