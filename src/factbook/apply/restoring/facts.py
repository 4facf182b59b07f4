"""Put facts back with their evidence, or join them with what is known here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from factbook.apply.fact_rows import awake
from factbook.apply.restoring.part import Part
from factbook.model.confidence import better_trust, value_at
from factbook.model.facts import FactKind, Stance, Status
from factbook.model.restored import FileRow, Pointer
from factbook.store.derived.entities import row_named
from factbook.store.derived.facts import lives_by_id, standing
from factbook.store.derived.ledger import recounted
from factbook.store.rows import EpisodeHead, EvidenceRow, Life, LifeWhere, claim_digest, latest

_POINTERS = {"merged_into_id": Status.MERGED_INTO, "superseded_by": Status.SUPERSEDED}
_LIVING = (Status.PENDING_EMBED, Status.ACTIVE, Status.PROPOSED)


class _Spoken(NamedTuple):
    """A fact of the file and what of its evidence holds, with the ids of episodes here."""

    row: FileRow
    life: Life
    evidence: Sequence[EvidenceRow]  # by episode
    times: Mapping[int, int | None]  # of these episodes
    heir: int | None = None  # the fact here that it gives way to
    ousts: tuple[Life, Life] | None = None  # the fact here that gives way to it: before, and out


class RestoredFacts(Part):
    """Puts facts back."""

    def put_back(self, rows: Sequence[FileRow]) -> None:
        """Put facts back; each is followed by its evidence."""
        told = self._spoken(self._let_in(rows))
        while told:
            told = self._join(told)

    def _spoken(self, rows: Sequence[FileRow]) -> list[_Spoken]:
        """Return the facts that something speaks for."""
        proofs: dict[int, list[FileRow]] = {}
        for row in rows:
            if isinstance(row.row, EvidenceRow):
                proofs.setdefault(row.row.fact_id, []).append(row)
        episodes = {
            here
            for some in proofs.values()
            for row in some
            if isinstance(row.row, EvidenceRow)
            and (here := self._state.here("episode", row.row.episode_id)) is not None
        }
        texts = self._writer.texts("episode", sorted(episodes))
        heads = self._writer.heads(episodes)
        spokens = []
        for row in rows:
            if not isinstance(row.row, Life):
                continue
            evidence = {
                proven.episode_id: proven
                for proof in proofs.pop(row.row.id, ())
                if (proven := self._evidence(proof, texts, heads)) is not None
            }
            times = {id_: heads[id_].occurred_at for id_ in evidence}
            spoken = self._whole(_Spoken(row, row.row, list(evidence.values()), times))
            if spoken is not None:
                spokens.append(spoken)
        for some in proofs.values():
            for proof in some:
                self._lacks(proof, "fact", proof.row.fact_id)  # type: ignore[attr-defined]
        return spokens

    def _evidence(
        self, row: FileRow, texts: Mapping[int, str], heads: Mapping[int, EpisodeHead]
    ) -> EvidenceRow | None:
        """Return evidence whose quote stands in its episode; its place may have moved."""
        evidence = row.row
        assert isinstance(evidence, EvidenceRow)
        here = self._state.here("episode", evidence.episode_id)
        if here is None or here not in texts:
            self._lacks(row, "episode", evidence.episode_id)
            return None
        text = texts[here]
        start, length = evidence.start, evidence.end - evidence.start
        if not text.startswith(evidence.quote, max(start, 0)):
            start = text.find(evidence.quote)
        end = start + max(length, len(evidence.quote))
        if not evidence.quote or not 0 <= start < end <= len(text):
            if evidence.episode_id in self._state.holed:
                self._state.keep_out("evidence", evidence)
            else:
                self._leave(row, f"its quote does not stand in episode {evidence.episode_id}")
            return None
        if heads[here].injected:
            self._leave(row, "its episode is text that factbook itself put there: no evidence")
            return None
        return evidence._replace(episode_id=here, start=start, end=end)

    def _whole(self, spoken: _Spoken) -> _Spoken | None:
        """Return a fact as it can stand here, counted anew; None for one that cannot."""
        life = spoken.life
        supports = [row.episode_id for row in spoken.evidence if row.stance is Stance.SUPPORTS]
        if not supports:
            if life.episode_id in self._state.holed:
                self._state.keep_out("fact", life)
            else:
                why = "nothing that speaks for it is there"
                self._lacks(spoken.row, "episode", life.episode_id, why)
            return None
        why = _wrong(life)
        if why:
            self._leave(spoken.row, why)
            return None
        if life.kind is FactKind.WORLD and life.current:
            entity = row_named(self._writer, life.owner, life.subject)
            if entity is None:
                self._leave(spoken.row, f"{life.subject!r}, which it is about, is not there")
                return None
            life = life._replace(subject=entity.name)
        first = self._state.here("episode", life.episode_id)
        known = {row.episode_id for row in spoken.evidence}
        status = life.status
        if status in (Status.PENDING_EMBED, Status.ACTIVE):  # no vector comes with it
            status = awake(life)
        life = life._replace(
            claim=claim_digest(life.owner, life.subject, life.predicate, life.object),
            episode_id=first if first is not None and first in known else min(supports),
            evidence_count=len(supports),
            occurred_at=latest([spoken.times[id_] for id_ in supports]),
            status=status,
            learned_at=life.learned_at or self._now,
        )
        return spoken._replace(life=life)

    def _let_in(self, rows: Sequence[FileRow]) -> Sequence[FileRow]:
        """Return what was not erased here."""
        lives = [row.row for row in rows if isinstance(row.row, Life)]
        named = [("claim", life.owner, life.subject, life.predicate, life.object) for life in lives]
        for life, gone in zip(lives, self._erased([[parts] for parts in named]), strict=True):
            if gone:
                self._state.keep_out("fact", life)
        out = self._state.gone.get("fact", ())
        return [row for row in rows if _fact_of(row.row) not in out]

    def _join(self, told: Sequence[_Spoken]) -> list[_Spoken]:
        """Put facts back; return those whose claim another of them holds already."""
        new: list[_Spoken] = []
        again: list[_Spoken] = []
        claims: set[bytes] = set()
        here = self._same_claims(told)
        held = self._holders(told)
        stands = standing(self._writer, [claim for claim, lives in here.items() if lives])
        ends = lives_by_id(self._writer, set(stands.values()))
        for spoken in told:
            if spoken.life.current:
                if spoken.life.claim in claims:  # two that differed in what is redacted now
                    again.append(spoken)
                    continue
                claims.add(spoken.life.claim)
            known = here.get(spoken.life.claim, [])
            begun = (spoken.life.learned_at, spoken.life.episode_id)
            same = [life for life in known if (life.learned_at, life.episode_id) == begun]
            if same:
                # Several of one claim, learned at one moment: those that stand alike.
                likest = min(
                    same, key=lambda life: (life.retired_at != spoken.life.retired_at, life.id)
                )
                known.remove(likest)
                self._is_known(spoken, likest)
                continue
            end = ends.get(stands.get(spoken.life.claim, 0))
            if not spoken.life.current or end is None:
                new.append(spoken)
            elif end.current:  # it is known otherwise here, and gains the evidence of the file
                self._state.merged.add(spoken.life.id)
                self._state.is_here("fact", spoken.life.id, end.id, new=False)
                self._support(spoken, end)
            elif max((life.retired_at or 0 for life in known), default=0) >= spoken.life.learned_at:
                self._is_known(spoken, end)  # what was taken back here since does not come back
            else:
                new.append(spoken)
        self._add([self._under_its_key(entry, held) for entry in new])
        return again

    def _same_claims(self, told: Sequence[_Spoken]) -> dict[bytes, list[Life]]:
        """Return the facts of the same claims, less those that stand for another of the file."""
        taken = self._state.taken.get("fact", ())
        lifeses: dict[bytes, list[Life]] = {}
        claims = [spoken.life.claim for spoken in told]
        for current in (True, False):
            for life in self._writer.lives(LifeWhere(claims=claims, current=current)):
                if life.id not in taken:
                    lifeses.setdefault(life.claim, []).append(life)
        return lifeses

    def _is_known(self, spoken: _Spoken, life: Life) -> None:
        self._state.is_here("fact", spoken.life.id, life.id, new=False)
        if life.current and spoken.life.current:
            self._support(spoken, life)  # what it gained there since
        else:
            self._state.known["evidence"] += len(spoken.evidence)
        cut_off = life.status in (spoken.life.status, Status.RETRACTED)
        if cut_off and life.retired_at == spoken.life.retired_at:
            self._await(spoken.life, life)  # an earlier import had not come to what took its place

    def _support(self, spoken: _Spoken, life: Life) -> None:
        have = {row.episode_id: row.stance for row in self._writer.evidence(fact_ids=[life.id])}
        fresh = [
            row._replace(fact_id=life.id) for row in spoken.evidence if row.episode_id not in have
        ]
        self._state.added["evidence"] += len(fresh)
        self._state.known["evidence"] += len(spoken.evidence) - len(fresh)
        if not fresh:
            return
        self._receipt.evidence += self._writer.add_evidence(fresh)
        have |= {row.episode_id: row.stance for row in fresh}
        at = max(life.confidence_at, spoken.life.confidence_at)
        confirmed = life.status is Status.PROPOSED and spoken.life.status is not Status.PROPOSED
        after = life._replace(
            status=spoken.life.status if confirmed else life.status,
            confidence=max(value_at(life, at), value_at(spoken.life, at)),
            confidence_at=at,
            trust=better_trust(life.trust, spoken.life.trust),
            evidence_count=sum(stance is Stance.SUPPORTS for stance in have.values()),
            occurred_at=latest([life.occurred_at, spoken.life.occurred_at]),
            pinned=life.pinned or spoken.life.pinned,
        )
        self._receipt.updated += 1
        added = [row.episode_id for row in fresh]
        self._facts.change("support", life, after, why="import", added=added)

    def _holders(self, told: Sequence[_Spoken]) -> dict[tuple[str, str], Life]:
        """Return what the keys of keyed facts hold here."""
        keys: dict[str, set[str]] = {}
        for spoken in told:
            if spoken.life.kind is FactKind.KEYED and spoken.life.current:
                keys.setdefault(spoken.life.owner, set()).add(spoken.life.predicate)
        return {
            (owner, life.predicate): life
            for owner, names in keys.items()
            for life in self._writer.lives(
                LifeWhere(owner=owner, kinds=[FactKind.KEYED], predicates=names, current=True)
            )
        }

    def _under_its_key(self, spoken: _Spoken, held: dict[tuple[str, str], Life]) -> _Spoken:
        """Return a keyed fact as its key lets it stand: what was said later holds the key."""
        life = spoken.life
        holder = held.get((life.owner, life.predicate)) if life.kind is FactKind.KEYED else None
        if holder is None or not life.current or holder.claim == life.claim:
            return spoken
        if (holder.occurred_at or 0) >= (life.occurred_at or 0):
            gone = life._replace(
                status=Status.SUPERSEDED,
                retired_at=self._now,
                valid_to=holder.occurred_at or self._now,
            )
            return spoken._replace(life=gone, heir=holder.id)
        del held[life.owner, life.predicate]
        at = life.occurred_at or self._now
        # First out, then in: a key has one current row.
        after = holder._replace(status=Status.RETRACTED, retired_at=self._now, valid_to=at)
        self._writer.put_facts([(holder, after)])
        self._writer.drop_vectors("fact", [holder.id])
        return spoken._replace(ousts=(holder, after))

    def _add(self, told: Sequence[_Spoken]) -> None:
        plain = [
            entry.life._replace(
                id=self._state.kept_id(entry.life.id), merged_into_id=None, superseded_by=entry.heir
            )
            for entry in told
        ]
        ids = self._writer.add_facts(plain)
        evidence: list[EvidenceRow] = []
        for n, (spoken, id_) in enumerate(zip(told, ids, strict=True)):
            self._state.is_here("fact", spoken.life.id, id_, new=True)
            self._state.untold.add(id_)
            if spoken.ousts is not None:
                before, out = spoken.ousts
                after = out._replace(status=Status.SUPERSEDED, superseded_by=id_)
                self._facts.change("supersede", before, after, why="import")
            evidence += [row._replace(fact_id=id_) for row in spoken.evidence]
            self._await(spoken.life, plain[n]._replace(id=id_))
        self._receipt.stored += len(ids)
        self._receipt.evidence += self._writer.add_evidence(evidence)
        self._state.added["evidence"] += len(evidence)

    def _await(self, given: Life, here: Life) -> None:
        """Let a fact point to what took its place once that is here."""
        for name in _POINTERS:
            target = getattr(given, name)
            if target is not None and getattr(here, name) is None:
                pointer = Pointer("fact", here.id, name)
                self._state.pointers.setdefault(("fact", target), []).append(pointer)

    def point(self) -> None:
        """Set the pointers to what has come."""
        come = [
            (pointer, here)
            for (kind, old), pointers in self._state.pointers.items()
            if kind == "fact" and (here := self._state.here(kind, old)) is not None
            for pointer in pointers
        ]
        if not come:
            return
        self._state.pointers = {
            target: some
            for target, some in self._state.pointers.items()
            if target[0] != "fact" or self._state.here(*target) is None
        }
        lives = lives_by_id(self._writer, {pointer.id for pointer, _ in come})
        changes = []
        for pointer, here in come:
            before = lives[pointer.id]
            if here != before.id:
                moved: dict[str, Any] = {pointer.field: here, "status": _POINTERS[pointer.field]}
                lives[pointer.id] = before._replace(**moved)
                changes.append((before, lives[pointer.id]))
        self._writer.put_facts(changes)
        self._lend([after for _, after in changes if after.merged_into_id is not None])

    def _lend(self, merged: Sequence[Life]) -> None:
        """Let what facts were merged into have all of their evidence, as it had."""
        winners = {life.id: life.merged_into_id or 0 for life in merged}
        rows = self._writer.evidence(fact_ids={*winners, *winners.values()})
        have = {row[:2] for row in rows}
        lent = {
            (winner, row.episode_id): row._replace(fact_id=winner)
            for row in rows
            if (winner := winners.get(row.fact_id)) and (winner, row.episode_id) not in have
        }
        if lent:
            self._writer.add_evidence(list(lent.values()))
            counted = recounted(self._writer, {winner for winner, _ in lent})
            self._writer.put_facts([both for both in counted if both[1].evidence_count])

    def end(self) -> None:
        """Let those stand alone whose successor has not come."""
        left = [
            pointer
            for (kind, _), some in self._state.pointers.items()
            if kind == "fact"
            for pointer in some
        ]
        lives = lives_by_id(self._writer, {pointer.id for pointer in left})
        self._writer.put_facts(
            [
                (lives[pointer.id], lives[pointer.id]._replace(status=Status.RETRACTED))
                for pointer in left
                if lives[pointer.id].status is _POINTERS[pointer.field]
            ]
        )


def _wrong(life: Life) -> str:
    """Say why a fact can stand nowhere; nothing where it can."""
    if not 0.0 <= life.confidence <= 1.0:
        return f"its confidence {life.confidence} is not between 0 and 1"
    if (life.status in _LIVING) != life.current or life.status is Status.ERASED:
        return f"it is {life.status}, and its retired_at says otherwise"
    if not life.owner.strip():
        return "it names no owner"
    whole = life.predicate and life.object and life.subject == life.owner
    if life.kind is FactKind.KEYED and not whole:
        return "it is keyed, and lacks its key, its value or its owner"
    return ""


def _fact_of(row: object) -> int:
    """Return the id of a fact, or of the one that evidence is of."""
    return row.fact_id if isinstance(row, EvidenceRow) else row.id if isinstance(row, Life) else 0
