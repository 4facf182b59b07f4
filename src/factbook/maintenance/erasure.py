"""What takes things out of a memory for good, and shows that they are gone.

It composes the Ops of erasing with what the store says of its file, and holds no rule.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final
from unicodedata import normalize

from factbook import policy
from factbook.apply.facts import Changes
from factbook.apply.tombstones import is_erased
from factbook.context import part
from factbook.errors import NotFound, UsageError
from factbook.extract.identifying import Gone, How, Telltales
from factbook.model import ops
from factbook.model.facts import EVERYONE, ME, Everyone, Receipt, Sighting, Trigger, whose
from factbook.model.keys import entity_name
from factbook.model.ops import AllowAgain, EraseEntity, EraseFact, EraseOwner
from factbook.sources.spool import Spool, folder_of
from factbook.store.derived.counts import row_owners
from factbook.store.derived.entities import entities_of, entity_named
from factbook.store.kinds import BOUND, CALLED, ERASURE, RECORDED
from factbook.store.overtaken import again_if_overtaken
from factbook.store.port import Reads, first

if TYPE_CHECKING:
    from factbook.context import Context
    from factbook.model.facts import ErasureAct as PastErasure
    from factbook.model.facts import Scoured
    from factbook.model.ops import Op
    from factbook.store.rows import Wiped


@dataclass(frozen=True, slots=True, kw_only=True)
class Stands:
    """A row that was kept and still tells of what was erased."""

    row: str  # e34, f12, ...: `factbook erase` takes it by that name
    what: str  # a "name", a "value", "words" in a row; "beside": it stood beside, and speaks of it
    excerpt: str  # what stands around it, redacted, with a sign in its place
    owners: frozenset[str] = frozenset()  # whose row it is


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What of something erased still stands in what was kept, as far as it was looked for."""

    rows: Sequence[Stands]  # at most policy.STANDING_SHOWN
    more: int  # how many other rows there are
    others: int  # and how many that are not all its owner's: nothing is shown of these
    names: int  # how many of its names were looked for, in every text of every row
    values: int  # of its numbers, codes and addresses
    words: int  # of its runs of words
    common: int  # of all these, how many so many rows have that they tell nothing here


@dataclass(frozen=True, slots=True, kw_only=True)
class Erased:
    """What one act of erasing took."""

    receipt: Receipt  # `erased` counts the rows by what they were
    file: Scoured | None  # what became of the file's bytes; None without one, or nothing written
    standing: Standing | None = None  # None where nothing was written
    gone: Wiped | None = field(default=None, repr=False, compare=False)  # as long as it is sought
    owner: str | Everyone = ME  # for whom it was erased, and who is shown where it stands
    record: str = ""  # another store that it was taken out of, too; empty for none

    @property
    def nothing_left(self) -> bool:
        """Tell whether the file is clean of it, and neither a row nor another file tells of it."""
        return (
            (self.file is None or (self.file.clean and not self.file.copies))
            and self.standing is not None
            and not self.standing.rows
            and not self.standing.others
            and not self.standing.common
        )


ROW_NAMES: Final = (
    "give f12 a fact, e34 an episode, s5 a source, r7 a refusal, n2 a thing cared about, p3 a"
    " preference, l4 what was to be learned, c5 a schedule, q6 a search, t7 one that waits, o8 a"
    " proposal"
)
# What a row is called by -> what it is.
_TARGETS: Final = {letter: kind for kind, (letter, key) in CALLED.items() if key == "id"}
_SHOWN: Final = 20  # rows that `find_residues` names


def _holding(texts: Iterable[tuple[str, str]], text: str) -> list[str]:
    """Return the rows that hold a text, in any case and however its words are spaced."""
    said = _spaced(text.casefold())
    longest = max(said.split(), key=len)
    holding = []
    for row, other in texts:
        folded = other.casefold()
        if longest in folded and said in _spaced(folded):
            holding.append(row)
    return list(dict.fromkeys(holding))


def _spaced(folded: str) -> str:
    """Return a text with one space wherever words of a name may be joined."""
    return " ".join(folded.replace("-", " ").replace("_", " ").split())


def _is_gone(moment: Reads, row: str) -> bool:
    """Tell whether a row was erased: what is left of it says whose it was and of what kind."""
    number = row[1:]
    return number.isdigit() and is_erased(moment, _TARGETS[row[0]], int(number))


class _Rehearsed(Exception):
    """Take back a transaction that was only to show what it would do."""


@part
class Erasure:
    """What erases for good; `Memory.erasure`.

    Everything else in a memory keeps what it changes. What is erased is gone from every row, index
    and vector, from the history and from the bytes of the file, and a tombstone without content
    keeps it from coming back. With `dry_run` nothing is written: the receipt says what would go.
    A row that is not all the owner's is not there; with EVERYONE it is erased whosever it is.
    """

    def __init__(
        self, context: Context, *, let_go: Callable[[], None], record: Callable[[], str]
    ) -> None:
        """Compose; `let_go` makes this process forget what it holds of the memory's texts.

        `record` names the store that typed memories have their record in, where it is another one.
        """
        self._record = record
        self._context = context
        self._store = context.store
        self._let_go = let_go

    def erase_fact(
        self,
        fact_id: int,
        *,
        owner: str | Everyone = ME,
        whole_episodes: bool = False,
        dry_run: bool = False,
    ) -> Erased:
        """Erase a fact with all that stands behind it, and its words in what it was read from.

        That is what was merged into it or superseded by it, and all that its key has held. The rest
        of the episodes stays unless `whole_episodes` erases them too. Raises NotFound.
        """
        self._check_row("fact", fact_id, owner)
        op = EraseFact(fact_id=fact_id, whole_episodes=whole_episodes)
        return self._erase(op, dry_run, owner)

    def erase_episode(
        self, episode_id: int, *, owner: str | Everyone = ME, dry_run: bool = False
    ) -> Erased:
        """Erase an episode, and the facts that stand on nothing else; raises NotFound."""
        return self.erase_row(f"e{episode_id}", owner=owner, dry_run=dry_run)

    def erase_source(
        self, source: int | str, *, owner: str | Everyone = ME, dry_run: bool = False
    ) -> Erased:
        """Erase a log, a chat or a note, by its number, its path or its key.

        What the same file holds from before this moment is not read again. Raises NotFound, and
        UsageError where several sources have that path.
        """
        whose(owner)
        return self.erase_row(f"s{self._source_id(source)}", owner=owner, dry_run=dry_run)

    def erase_rejection(
        self, rejection_id: int, *, owner: str | Everyone = ME, dry_run: bool = False
    ) -> Erased:
        """Erase one entry of the log of what was refused; raises NotFound."""
        return self.erase_row(f"r{rejection_id}", owner=owner, dry_run=dry_run)

    def erase_entity(self, name: str, *, owner: str = ME, dry_run: bool = False) -> Erased:
        """Erase a thing that its owner cares about, and everything about it.

        Its facts, engagements, notices and searches go, its name in what its owner said of it and
        in pages that stay, and each sentence of an answer that names it. Where its name still
        stands is in `Erased.standing`. Raises NotFound.
        """
        wanted = entity_name(name)
        entity = entity_named(self._store, owner, wanted)
        if entity is None:  # one that was forgotten before can be erased too
            forgotten = [
                known
                for known in entities_of(self._store, owner, include_retired=True)
                if known.name == wanted
            ]
            if not forgotten:
                raise NotFound(what="entity", name=name, hint=f"{owner} has none of that name.")
            entity = forgotten[-1]
        return self._erase(EraseEntity(entity_id=entity.id), dry_run, owner)

    def erase_owner(self, owner: str, *, dry_run: bool = False) -> Erased:
        """Erase everything of an owner; raises NotFound where there is nothing."""
        return self._erase(EraseOwner(owner=owner), dry_run, owner)

    def erase_row(
        self,
        name: str,
        *,
        owner: str | Everyone = ME,
        whole_episodes: bool = False,
        dry_run: bool = False,
    ) -> Erased:
        """Erase a row by what it is called: f12, e34, s5, r7, and what `Standing` names besides.

        That is n12 a thing cared about, p3 a preference, l4 what was to be learned, c5 a schedule,
        q6 a search that was made, t7 one that waits, o8 a proposal. Raises NotFound, and UsageError
        for what is no such name.
        """
        letter, digits = name[:1], name[1:]
        number = int(digits[:20]) if digits.isascii() and digits.isdigit() else -1
        if not 0 <= number < 1 << 63 or letter not in _TARGETS:
            raise UsageError(detail=f"{name!r} is no id; {ROW_NAMES}")
        if letter == "f":
            return self.erase_fact(
                number, owner=owner, whole_episodes=whole_episodes, dry_run=dry_run
            )
        self._check_row(_TARGETS[letter], number, owner)

        op: Op
        match letter:
            case "e":
                op = ops.EraseEpisode(episode_id=number)
            case "s":
                op = ops.EraseSource(source_id=number)
            case "r":
                op = ops.EraseRejection(rejection_id=number)
            case "n":
                op = ops.EraseEntity(entity_id=number)
            case _:
                op = ops.EraseNoted(target=_TARGETS[letter], row_id=number)
        return self._erase(op, dry_run, owner)

    def erasures(self, *, limit: int = 100) -> list[PastErasure]:
        """Return what was erased, newest first: how much and when, never what it said."""
        return self._store.find(ERASURE, limit=limit, newest_first=True)

    def allow_again(self, erasure_id: int) -> Receipt:
        """Let what one erasure took be kept again, where it is met again; raises NotFound."""
        return self._context.write([AllowAgain(erasure_id=erasure_id)], Trigger.COMMAND)

    def finish_erasing(self) -> Scoured | None:
        """Clean the file where an erasure could not, for somebody was reading it; None if none."""
        files = self._store.files
        return None if files is None else files.scour()

    def find_residues(self, text: str) -> Sighting:
        """Say where a text stands: in rows, in the bytes of the file, in copies of it."""
        if not text.strip():
            raise UsageError(detail="there is nothing to look for: the text is empty")
        with self._store.snapshot() as moment:
            rows = _holding(moment.each_text(), text)[:_SHOWN]
        files = self._store.files
        if files is None:
            return Sighting(rows=rows, in_file=None, pieces=0, copies=())
        return replace(files.find_residues(text), rows=rows)

    def standing(self, done: Sequence[Erased]) -> Standing:
        """Look for what several acts of erasing took in everything that is kept now.

        Its names, values and runs of words are looked for in every text of every row, and that it
        is spoken of in the episodes right beside; not ordinary words on their own, and not what
        nearly every row has. Of rows that are not all theirs who erased is told how many there are.
        """
        wiped = [act.gone for act in done if act.gone is not None]
        tells = Telltales(Gone(text, How(how)) for gone in wiped for text, how in gone.taken)
        beside = frozenset(f"e{number}" for gone in wiped for number in gone.beside)
        with self._store.snapshot() as moment:
            residues = tells.look(moment.each_text(), beside=beside) if tells else []
            residues = [residue for residue in residues if not _is_gone(moment, residue.key)]
            redact = self._context.redact
            whose_rows = [
                (residue, frozenset(self._owners_of(residue.key))) for residue in residues
            ]
            asking = {act.owner for act in done}
            if EVERYONE not in asking:
                whose_rows = [(residue, whom) for residue, whom in whose_rows if whom <= asking]
            shown = [
                (tells.again(residue, redact(residue.text)), whom)
                for residue, whom in whose_rows[: policy.STANDING_SHOWN]
            ]
        counts = Counter(tell.what for tell in tells.tells)
        return Standing(
            rows=[
                Stands(row=residue.key, what=residue.what, excerpt=residue.shown(), owners=whom)
                for residue, whom in shown
            ],
            more=len(whose_rows) - len(shown),
            others=len(residues) - len(whose_rows),
            names=counts["name"],
            values=counts["value"],
            words=counts["words"],
            common=len(tells.common),
        )

    def _owners_of(self, row: str) -> set[str]:
        """Return whose a row is, by what it is called; what has no number belongs to none."""
        if not row[1:].isdigit():
            return set()
        return row_owners(self._store, _TARGETS[row[0]], int(row[1:]))

    def _check_row(self, target: str, row_id: int, owner: str | Everyone) -> None:
        """Raise NotFound where a row is, or is partly, another's."""
        if whose(owner) is not EVERYONE and row_owners(self._store, target, row_id) - {owner}:
            raise NotFound(
                what=target,
                name=row_id,
                hint=f"{owner!r} has none of that number; name whose it is, or all owners.",
            )

    def _forget_hooks(self, op: Op, *, dry_run: bool) -> int:
        """Remove what hooks keep beside the file of an owner, or of a log; return of how much."""
        if self._store.files is None or not isinstance(op, EraseOwner | ops.EraseSource):
            return 0
        spool = Spool(folder_of(self._store.files.path))
        if isinstance(op, EraseOwner):
            name = normalize("NFC", op.owner)
            return spool.forget(
                lambda state: normalize("NFC", state.get("owner", "")) == name, dry_run=dry_run
            )
        read = {state.source.uri for state in self._store.sources(ids=[op.source_id])}
        return spool.forget(
            lambda state: not read.isdisjoint(state.get("transcripts", ())), dry_run=dry_run
        )

    def _erase(self, op: Op, dry_run: bool, owner: str | Everyone) -> Erased:
        # First: what is erased again after a kill is found here no more where its rows are gone.
        hooks = self._forget_hooks(op, dry_run=dry_run)
        try:
            return self._erase_rows(op, dry_run, owner)
        except NotFound:
            if not hooks:
                raise
            return Erased(receipt=Receipt(erased={"hooks": hooks}), file=None, owner=owner)

    def _erase_rows(self, op: Op, dry_run: bool, owner: str | Everyone) -> Erased:
        if dry_run:
            return Erased(receipt=self._rehearsed([op]), file=None, owner=owner)
        if not self._record() and first(self._store, RECORDED, BOUND) is not None:
            raise UsageError(
                detail="typed memories of this file have their record in MongoDB, which would keep"
                " what is erased here alone; name it in FACTBOOK_TYPED_STORE and erase again, or"
                " `factbook export` and `import` into a new file and erase there"
            )
        wiped: list[Wiped] = []
        self._let_go()  # what waits to be written must not come behind it
        receipt = self._context.write([op], Trigger.COMMAND, on_wiped=wiped.append)
        self._let_go()
        if not wiped:
            return Erased(receipt=receipt, file=None, owner=owner)
        [gone] = wiped
        done = Erased(
            receipt=receipt, file=gone.file, owner=owner, gone=gone, record=self._record()
        )
        return replace(done, standing=self.standing([done]))

    def _rehearsed(self, ops: Sequence[Op]) -> Receipt:
        """Return what ops of erasing would do, by doing it and taking it back."""
        actor, trigger, now = self._context.actor, Trigger.COMMAND, self._context.clock()

        def rehearse() -> Receipt:
            receipt = Receipt()
            try:
                with self._store.writing(now=now) as writer:
                    Changes(writer, receipt, now=now, trigger=trigger, actor=actor).run(ops)
                    raise _Rehearsed
            except _Rehearsed:
                return receipt

        return again_if_overtaken(rehearse)

    def _source_id(self, source: int | str) -> int:
        if isinstance(source, int):
            return source
        states = self._store.sources()
        for state in states:
            if state.source.key == source:
                return state.id
        same = {source, str(Path(source).expanduser()), str(Path(source).expanduser().absolute())}
        ids = [state.id for state in states if state.source.uri in same]
        if len(ids) > 1:
            raise UsageError(
                detail=f"{source} is the path of {len(ids)} sources; erase one by its name, or"
                f" all: `factbook erase {' '.join(f's{id_}' for id_ in ids)}`"
            )
        if not ids:
            raise NotFound(
                what="source", name=source, hint="`factbook sessions` lists the sources."
            )
        return ids[0]
