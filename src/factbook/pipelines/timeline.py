"""Tell of what was done only what matters: in one line for each turn, or for each thing.

Of the files that a turn changed all are one line: with how it was mended, or with what its agent
said of them at the end. What is in a commit the commit says itself. Of the checks it is the last.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Final

from factbook import policy
from factbook.extract.reports import masked
from factbook.extract.session_parser import FETCHED
from factbook.language.sentences import markdown_sentences
from factbook.language.words import STOPWORDS, stem, words
from factbook.model.confidence import is_passive
from factbook.model.directives import PREDICATES
from factbook.model.facts import EpisodeKind, Fact, StoredEpisode
from factbook.model.text import file_name, file_names

_CHANGED: Final = "modified_file"
_CHECKED: Final = "verified"
_COMMITTED: Final = "committed"
_MENDED: Final = "provides_solution"
_ACTS: Final = (EpisodeKind.TOOL_CALL, EpisodeKind.TOOL_RESULT)
Turn = Sequence[tuple[int, EpisodeKind]]
Turns = Mapping[int, Turn]


def told_of(facts: Sequence[Fact], turns: Turns, texts: Mapping[int, str]) -> list[Fact]:
    """Return what is told of facts, given and returned the newest first.

    `texts` are those of the prompts and of what was said at the end of turns.
    """
    groups: dict[object, list[Fact]] = {}
    for fact in facts:
        turn = turns.get(fact.episode_id)
        groups.setdefault(turn[0][0] if turn else f"e{fact.episode_id}", []).append(fact)
    kept = {
        one.id: one
        for group in groups.values()
        for one in _of_turn(group, turns.get(group[0].episode_id, ()), texts)
    }
    return [kept[fact.id] for fact in facts if fact.id in kept]


def _of_turn(facts: Sequence[Fact], turn: Turn, texts: Mapping[int, str]) -> Iterable[Fact]:
    """Return what is told of the facts of one turn, the newest first."""
    asked = _beginning(texts.get(turn[0][0], "")) if turn else ""
    found = {fact.predicate: fact for fact in reversed(facts)}  # the newest of each
    changed = [fact.object for fact in facts if fact.predicate == _CHANGED]
    check = found.get(_CHECKED)
    passed = check is not None and check.object == "passed"
    # A commit tells why the files that it names were changed. Others may be no part of it, and what
    # was said at the end is about what was committed.
    held = " ".join(fact.statement for fact in facts if fact.predicate == _COMMITTED)
    changed = [path for path in changed if not _is_named(path, held)]
    why = found.get(_MENDED)
    told: dict[str, Fact] = {}
    for fact in facts:
        said_first = fact.statement
        if fact.predicate in (_CHANGED, _CHECKED) and fact is not found[fact.predicate]:
            continue
        if fact.statement == FETCHED.format(object=fact.object):
            continue  # a page that was read is nothing that was done
        if fact is check and passed and (_CHANGED in found or _COMMITTED in found):
            continue
        if fact.predicate == _CHANGED:
            if why is not None or not changed:
                continue
            checked = ", checks passed" * (passed and not held)
            fact = replace(fact, statement=_files(changed) + checked)
            said = "" if held else _said_at_end(turn, texts)
            if said and not any(said == other.statement for other in facts):
                fact = replace(fact, statement=f"{fact.statement} — {said}")
        elif fact is why and changed:
            fact = replace(fact, statement=f"{fact.statement.rstrip('.')} ({_names(changed)})")
        elif fact.predicate in PREDICATES and fact.statement in asked:
            continue  # the prompt stands beside it
        elif fact.predicate == PREDICATES[0] and not is_passive(fact.confidence):
            continue  # what is only likely to be one tells nothing by itself
        # What is reported both as a fault and as its cause is one thing; one names the files.
        if said_first not in told or fact.statement != said_first:
            told[said_first] = fact
    return told.values()


def _files(paths: Sequence[str]) -> str:
    many = len(set(paths))
    return f"changed {many} files: {_names(paths)}" if many > 1 else f"changed {_names(paths)}"


def _names(paths: Sequence[str]) -> str:
    """Return the names of the first files that were changed, given the newest first."""
    return file_names(reversed(paths), policy.TURN_FILES)


def _is_named(path: str, text: str) -> bool:
    return re.search(rf"[ (]{re.escape(file_name(path))}[,) ]", text) is not None


def closing(turn: Turn) -> int | None:
    """Return the reply that a turn ended with; none where work was still going on."""
    for id_, kind in reversed(turn):
        if kind is EpisodeKind.REPLY:
            return id_
        if kind in _ACTS:
            break
    return None


def _said_at_end(turn: Turn, texts: Mapping[int, str]) -> str:
    """Return of the first sentences of what was said last the one that answers the prompt most."""
    said = list(islice(_sentences(texts.get(closing(turn) or 0, "")), policy.CLOSING_SENTENCES))
    asked = _stems(_beginning(texts.get(turn[0][0], ""))) if turn else set()
    return max(said, key=lambda one: len(asked & _stems(one)), default="")


def _sentences(text: str) -> Iterator[str]:
    """Yield the sentences that say something: no quotes, or leads to what follows."""
    for span in markdown_sentences(text):
        said = " ".join(span.of(text).replace("**", "").split())
        if not said.endswith(":") and len(masked(said).split()) >= policy.CLOSING_WORDS:
            yield said


def _stems(text: str) -> set[str]:
    return {stem(word) for word in words(text) if word not in STOPWORDS}


def _beginning(prompt: str) -> str:
    return " ".join(prompt.split())[: policy.PROMPT_SHOWN]


def worth_telling(
    asked: Sequence[StoredEpisode], facts: Sequence[Fact], turns: Turns
) -> list[StoredEpisode]:
    """Return the prompts that say something, or that something came of ("8", "go on").

    Of a command that was typed to run by itself ("! pytest") what came of it tells.
    """
    came = {turns[fact.episode_id][0][0] for fact in facts if fact.episode_id in turns}
    return [
        one
        for one in asked
        if not one.text.startswith("! ")
        and (len(one.text.split()) >= policy.PROMPT_WORDS or one.id in came)
    ]
