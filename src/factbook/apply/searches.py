"""4 apply: searches, what is to be learned, and schedules."""

from __future__ import annotations

from collections.abc import Sequence

from factbook import policy
from factbook.apply.interest_rows import InterestPart
from factbook.errors import NotAllowed, NotFound, TakenOver, UsageError
from factbook.model import interest_ops
from factbook.model.entities import Schedule, SearchState, SearchTask
from factbook.model.facts import EVERYONE, EpisodeKind, ModelTask, Trigger, Trust
from factbook.model.ops import RetryTasks
from factbook.store.derived.searches import LEFT
from factbook.store.derived.tasks import HEARD
from factbook.store.kinds import (
    LEARN_PROMPT,
    LEASE,
    MODEL_TASK,
    SCHEDULE,
    SEARCH_FIND,
    SEARCH_LOG,
    SEARCH_RESULT,
    SEARCH_TASK,
    FindRow,
    PromptRow,
    ResultRow,
    SearchRow,
)
from factbook.store.leases import lease_of, search_lease, stands
from factbook.store.port import first, one_id


class SearchChanges(InterestPart):
    """The changes of searches of one call of `apply`."""

    def open_prompt(self, op: interest_ops.OpenLearnPrompt) -> None:
        episode_id = self._rows.own_words(op.owner, op.episode)
        row = PromptRow(0, op.owner, op.text, "active", episode_id, self._now, self._now)
        prompt_id = one_id(self._writer.add(LEARN_PROMPT, [row]))
        self._facts.event("store", "learn_prompt", prompt_id)
        if op.queries:
            self.plan(
                interest_ops.PlanLearning(prompt_id=prompt_id, queries=op.queries, planner="rules")
            )

    def plan(self, op: interest_ops.PlanLearning) -> None:
        """Give what is to be learned its searches; once, whoever is faster."""
        low, high = policy.LEARN_QUERIES
        if not low <= len(op.queries) <= high or not all(text.strip() for text in op.queries):
            raise UsageError(
                detail=f"learning takes {low} to {high} searches, not {len(op.queries)}"
            )
        prompt = first(self._writer, LEARN_PROMPT, {"id": op.prompt_id})
        if prompt is None:
            raise NotFound(what="prompt", name=op.prompt_id, hint="`factbook learn` lists them.")
        planned = {"owner": EVERYONE, "learn_prompt_id": prompt.id}
        if self._writer.find(SEARCH_TASK, planned, limit=1):
            self._receipt.unchanged += 1
            return
        for query in op.queries:
            self._queue(
                prompt.owner,
                query,
                Trigger.LEARN_COMMAND,
                learn_prompt_id=prompt.id,
                cause_id=prompt.episode_id,
            )
        self._receipt.searches += len(op.queries)
        detail = {"searches": len(op.queries), "planner": op.planner}
        self._facts.event("plan", "learn_prompt", op.prompt_id, detail)

    def queue_search(self, op: interest_ops.QueueSearch) -> None:
        if op.entity_id is not None and not self._rows.life(op.entity_id).current:
            self._receipt.unchanged += 1
            return
        cause_id = self._rows.own_words(op.owner, op.episode) if op.episode else None
        trigger = self._rows.search_trigger()
        self._queue(op.owner, op.query, trigger, entity_id=op.entity_id, cause_id=cause_id)
        self._receipt.searches += 1

    def record_search(self, op: interest_ops.RecordSearch) -> None:
        trigger = self._rows.search_trigger()
        task = None if op.task_id is None else self._task(op.task_id)
        if task is not None:
            if task.trigger is not trigger or task.owner != op.owner:
                raise NotAllowed(trigger=self._trigger, op=f"RecordSearch of task {task.id}")
            self._own(task, op.claimer)
            if task.state is SearchState.DONE:
                self._receipt.unchanged += 1  # another process was faster
                return
        ids = list(dict.fromkeys(self._rows.episode(uid) for uid in op.results))
        heads = self._writer.heads(ids)
        for id_ in ids:
            external = heads[id_].trust is Trust.EXTERNAL
            if heads[id_].kind is not EpisodeKind.SEARCH_RESULT or not external:
                raise UsageError(
                    detail=f"episode {id_} is no result of a search: results are external text"
                )
            if heads[id_].owner != op.owner:
                raise UsageError(detail=f"episode {id_} is of {heads[id_].owner}")
        cause_id = task.cause_id if task else None
        if op.episode:
            cause_id = self._rows.own_words(op.owner, op.episode)
        row = SearchRow(
            0,
            op.uid,
            op.owner,
            self._now,
            op.query,
            trigger,
            op.provider,
            op.duration_ms,
            extracted=not ids,  # there is nothing to read
            learn_prompt_id=task.learn_prompt_id if task else None,
            entity_id=op.entity_id if task is None else task.entity_id,
            cause_id=cause_id,
        )
        search_id = one_id(self._writer.add(SEARCH_LOG, [row]))
        results = [ResultRow(search_id, n, episode_id) for n, episode_id in enumerate(ids)]
        self._writer.add(SEARCH_RESULT, results)
        self._facts.event("store", "search", search_id, {"results": len(ids)})
        if task is not None:
            self._end(task._replace(state=SearchState.DONE, error=""))
        if task is not None and task.learn_prompt_id is not None:
            self._settle(task.learn_prompt_id)
        self._receipt.searches += 1

    def fail_search(self, op: interest_ops.FailSearch) -> None:
        task = self._task(op.task_id)
        self._own(task, op.claimer)
        if task.state not in (SearchState.QUEUED, SearchState.FAILED):
            self._receipt.unchanged += 1
            return
        attempts = task.attempts + op.tried
        aside = op.aside or attempts >= policy.SEARCH_ATTEMPTS
        self._end(
            task._replace(
                state=SearchState.ASIDE if aside else SearchState.FAILED,
                attempts=attempts,
                error=op.error,
                until=self._now + policy.SEARCH_BACKOFF_MS * 2 ** max(0, attempts - 1),
            )
        )
        self._receipt.updated += 1

    def retry_searches(self, op: interest_ops.RetrySearches) -> None:
        del op
        aside = self._writer.find(SEARCH_TASK, {"owner": EVERYONE, "state": SearchState.ASIDE})
        again = [task._replace(state=SearchState.FAILED, attempts=0, until=0) for task in aside]
        self._writer.put(SEARCH_TASK, again)
        self._receipt.updated += len(again)
        for kind in ("search", "hear"):
            self._facts.retry_tasks(RetryTasks(kind=kind))

    def _own(self, task: SearchTask, claimer: str) -> None:
        """Raise TakenOver where another worker makes a search, or has made it."""
        name = search_lease(task.id)
        lease = lease_of(self._writer, name)
        if claimer != lease.holder and (
            claimer or stands(lease.holder, lease.until, now=self._now)
        ):
            raise TakenOver(what=name)

    def fence(self, op: interest_ops.Fence) -> None:
        """Raise TakenOver where a lease has another holder by now."""
        if lease_of(self._writer, op.lease).token != op.token:
            raise TakenOver(what=op.lease)

    def keep_seen(self, op: interest_ops.KeepSeen) -> None:
        places = [(name.start, name.end) for name in op.names]
        rows = self._results(op.search_id, op.episode_id)
        self._writer.put(SEARCH_RESULT, [row._replace(seen=places) for row in rows])

    def mark_discovered(self, op: interest_ops.MarkDiscovered) -> None:
        row = first(self._writer, SEARCH_LOG, {"id": op.search_id})
        if row is None or row.discovered:
            self._receipt.unchanged += 1
            return
        self._writer.put(SEARCH_LOG, [row._replace(discovered=True)])

    def mark_result_read(self, op: interest_ops.MarkResultRead) -> None:
        log = self._log(op.search_id)
        rows = [row for row in self._results(log.id, op.episode_id) if not row.is_read]
        if not rows:
            self._receipt.unchanged += 1
            return
        self._writer.put(SEARCH_RESULT, [row._replace(is_read=True) for row in rows])
        finds: list[FindRow] = []
        for find in op.finds:
            entity = self._rows.entity(log.owner, find.entity)
            stored = self._rows.made.get((log.owner, entity.name), {}) if entity else {}
            if find.object in stored:
                finds.append(FindRow(log.id, stored[find.object], find.nearest))
        self._writer.add(SEARCH_FIND, finds)

    def fail_result(self, op: interest_ops.FailResult) -> None:
        rows = self._results(op.search_id, op.episode_id)
        self._writer.put(SEARCH_RESULT, [row._replace(failed=row.failed + 1) for row in rows])

    def mark_extracted(self, op: interest_ops.MarkExtracted) -> None:
        log = self._log(op.search_id)
        self._writer.drop(SEARCH_FIND, {"search_id": log.id})
        rows = self._writer.find(SEARCH_RESULT, {"search_id": log.id})
        self._writer.put(SEARCH_RESULT, [row._replace(is_read=True, seen=None) for row in rows])
        if log.extracted:
            self._receipt.unchanged += 1
            return
        self._writer.put(SEARCH_LOG, [log._replace(extracted=True)])
        if log.learn_prompt_id is not None:
            self._settle(log.learn_prompt_id)

    def _log(self, search_id: int) -> SearchRow:
        log = first(self._writer, SEARCH_LOG, {"id": search_id})
        if log is None:
            raise NotFound(what="search", name=search_id, hint="it was never made.")
        return log

    def _results(self, search_id: int, episode_id: int) -> list[ResultRow]:
        where = {"search_id": search_id, "episode_id": episode_id}
        return self._writer.find(SEARCH_RESULT, where)

    def mark_heard(self, op: interest_ops.MarkHeard) -> None:
        task = ModelTask(HEARD, op.episode_id, "done", 0, "", "", 0, self._now)
        if self._writer.add(MODEL_TASK, [task]) == [None]:
            self._receipt.unchanged += 1

    def _settle(self, prompt_id: int) -> None:
        """Complete a prompt whose searches are all made and read."""
        prompt = first(self._writer, LEARN_PROMPT, {"id": prompt_id, "status": "active"})
        of_it = {"owner": EVERYONE, "learn_prompt_id": prompt_id}
        left = self._writer.find(SEARCH_TASK, {**of_it, "state": LEFT}, limit=1)
        unread = self._writer.find(SEARCH_LOG, {**of_it, "extracted": False}, limit=1)
        if prompt is None or left or unread:
            return
        self._writer.put(LEARN_PROMPT, [prompt._replace(status="completed", updated_at=self._now)])
        self._facts.event("complete", "learn_prompt", prompt_id)

    def _queue(
        self,
        owner: str,
        query: str,
        trigger: Trigger,
        *,
        learn_prompt_id: int | None = None,
        entity_id: int | None = None,
        cause_id: int | None = None,
    ) -> None:
        about = (learn_prompt_id, entity_id, cause_id)
        task = SearchTask(0, owner, query, trigger, *about, SearchState.QUEUED, 0, "", 0, self._now)
        self._writer.add(SEARCH_TASK, [task])

    def _task(self, task_id: int) -> SearchTask:
        task = first(self._writer, SEARCH_TASK, {"id": task_id})
        if task is None:
            raise NotFound(what="search", name=task_id, hint="it was never asked for.")
        return task

    def _end(self, task: SearchTask) -> None:
        """Overwrite the state of a search that was asked for; whoever was making it has ended."""
        self._writer.put(SEARCH_TASK, [task])
        self._writer.drop(LEASE, {"name": search_lease(task.id)})

    def set_schedule(self, op: interest_ops.SetSchedule) -> None:
        if op.every_ms <= 0:
            raise UsageError(detail=f"a schedule every {op.every_ms} ms is none")
        episode_id = self._rows.own_words(op.owner, op.episode)
        going = self._writer.find(SCHEDULE, {"owner": op.owner, "retired_at": None})
        of_it = [known for known in going if known.topic.casefold() == op.topic.casefold()]
        if of_it:
            self._set_anew(of_it, op, episode_id)
            return
        row = Schedule(0, op.owner, op.topic, op.every_ms, op.next_at, self._now, episode_id)
        schedule_id = one_id(self._writer.add(SCHEDULE, [row]))
        self._receipt.updated += 1
        self._facts.event("store", "schedule", schedule_id, {"every_ms": op.every_ms})

    def _set_anew(
        self, of_it: Sequence[Schedule], op: interest_ops.SetSchedule, episode_id: int
    ) -> None:
        """Let the schedule that a topic has come as often as is said now, by what says so now.

        Older versions gave a topic several: the first one stays.
        """
        waiting = {"owner": EVERYONE, "cause_id": of_it[0].episode_id, "state": LEFT}
        tasks = self._writer.find(SEARCH_TASK, waiting)
        self._writer.put(SEARCH_TASK, [task._replace(cause_id=episode_id) for task in tasks])
        known = of_it[0]._replace(episode_id=episode_id)
        if [one.every_ms for one in of_it] == [op.every_ms]:
            self._writer.put(SCHEDULE, [known])
            self._receipt.unchanged += 1
            return
        for more in of_it[1:]:
            self.drop_schedule(interest_ops.DropSchedule(schedule_id=more.id))
        self._writer.put(SCHEDULE, [known._replace(every_ms=op.every_ms, next_at=op.next_at)])
        self._receipt.updated += 1
        self._facts.event("update", "schedule", known.id, {"every_ms": op.every_ms})

    def drop_schedule(self, op: interest_ops.DropSchedule) -> None:
        known = first(self._writer, SCHEDULE, {"id": op.schedule_id, "retired_at": None})
        if known is None:
            self._receipt.unchanged += 1
            return
        self._writer.put(SCHEDULE, [known._replace(retired_at=self._now)])
        self._receipt.updated += 1
        self._facts.event("retire", "schedule", known.id)

    def run_schedule(self, op: interest_ops.RunSchedule) -> None:
        known = first(self._writer, SCHEDULE, {"id": op.schedule_id, "retired_at": None})
        if known is None or not known.is_due(self._now):
            self._receipt.unchanged += 1
            return
        missed = (self._now - known.next_at) // known.every_ms
        next_at = known.next_at + (missed + 1) * known.every_ms
        self._writer.put(SCHEDULE, [known._replace(next_at=next_at)])
        cause_id = known.episode_id
        asked = {"owner": EVERYONE, "cause_id": cause_id, "state": LEFT}
        if not self._writer.find(SEARCH_TASK, asked, limit=1):  # what is not made is not piled up
            self._queue(known.owner, known.topic, Trigger.USER_MESSAGE, cause_id=cause_id)
            self._receipt.searches += 1
        self._facts.event("run", "schedule", known.id)
