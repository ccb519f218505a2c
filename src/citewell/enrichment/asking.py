"""Many things for a language model to write, each paid for once: what it wrote before is not asked for again.

A reply is judged by its text alone, so that one that was kept is worth the same in every run. One that is of no use is
asked for once more, and is kept all the same.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Mapping, Sequence, Set
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace

from citewell.enrichment.refusals import Refusals
from citewell.errors import PromptRefused
from citewell.models.llm import LLM, Prompt
from citewell.models.waiting import STEP_S, show_alive
from citewell.types import Entry

ENRICHER_VERSION = "1"
"""Changes with the prompts, or with what entries are made of their replies; all is asked for anew then."""

Keep = Callable[[Mapping[str, str]], None]
"""Called with each reply, by its key, as it comes; by several threads, one at a time."""

# At temperature 0 the same prompt would be answered with the same words.
_AGAIN = "Your last reply could not be used. Keep to what is asked for, with nothing before it and nothing after it."


@dataclass(frozen=True, slots=True)
class Task:
    """What is to be written, and how a reply is read: `entries` gives what is searched of it, None where it is of no
    use. `name` is what a user is told."""

    name: str
    prompt: Prompt
    entries: Callable[[str], tuple[Entry, ...] | None]


@dataclass(frozen=True, slots=True)
class Written:
    """What came of a task: the last reply, word for word, and its entries; None where it is of no use."""

    task: Task
    key: str
    reply: str
    entries: tuple[Entry, ...] | None


def key_of(model: str, prompt: Prompt) -> str:
    """The SHA-256 (hex) of all that a reply depends on; as JSON, so that no two lists of texts are written alike."""
    asked = json.dumps([ENRICHER_VERSION, model, prompt.system, prompt.user])
    return hashlib.sha256(asked.encode("ascii")).hexdigest()


@dataclass(frozen=True, slots=True)
class Asking:
    """A language model, called at most `parallel` times at once. `model` is its name, on which replies depend;
    `refusals` are those of the run that this is part of."""

    llm: LLM
    model: str
    parallel: int
    refusals: Refusals

    def all(self, tasks: Sequence[Task], known: Mapping[str, str], keep: Keep) -> list[Written]:
        """What came of each task, in their order. Tasks with one prompt are one call.

        After Ctrl-C or a failure the calls under way come to their end and are kept, and no others are begun.

        A prompt that the endpoint refuses has an empty reply, which is of no use.

        Raises:
            ServiceError: the model's endpoint failed, or refuses whatever it is asked in this run. What came before has
                been given to `keep`.
        """
        keys = [key_of(self.model, task.prompt) for task in tasks]
        replies = {key: known[key] for key in keys if key in known}
        read = [task.entries(known[key]) if key in known else None for key, task in zip(keys, tasks, strict=True)]
        missing = {key: task for key, task, made in zip(keys, tasks, read, strict=True) if made is None}
        if missing:
            # That a prompt is refused again, or that one is among others which were answered, says nothing new.
            telling = set() if any(replies.values()) else missing.keys() - replies.keys()
            replies |= _Round(self.llm, keep, self.refusals, telling).replies(missing, self.parallel)
        return [
            Written(task, key, replies[key], task.entries(replies[key]) if made is None else made)
            for key, task, made in zip(keys, tasks, read, strict=True)
        ]


@dataclass(frozen=True, slots=True)
class _Round:
    """One round of calls, which stops as a whole. The refusals of those whose keys are `telling` are counted."""

    llm: LLM
    keep: Keep
    refusals: Refusals
    telling: Set[str]
    _stopping: threading.Event = field(default_factory=threading.Event)
    _keeping: threading.Lock = field(default_factory=threading.Lock)

    def replies(self, tasks: Mapping[str, Task], parallel: int) -> dict[str, str]:
        pool = ThreadPoolExecutor(min(parallel, len(tasks)), thread_name_prefix="citewell-enrichment")
        futures: dict[str, Future[str]] = {}
        try:
            for key, task in tasks.items():
                futures[key] = pool.submit(self._reply, key, task)
                futures[key].add_done_callback(self._stop_if_failed)
            pending = set(futures.values())
            while pending and not self._stopping.is_set():
                _, pending = wait(pending, STEP_S, FIRST_EXCEPTION)
                if pending:
                    show_alive()
        finally:
            self._stopping.set()
            pool.shutdown(cancel_futures=True)
        # What failed comes before what was cancelled because of it: tasks are begun in their order.
        return {key: future.result() for key, future in futures.items()}

    def _reply(self, key: str, task: Task) -> str:
        """The first reply that is of use, or the last one."""
        reply = ""
        for prompt in (task.prompt, replace(task.prompt, user=f"{task.prompt.user}\n\n{_AGAIN}")):
            if self._stopping.is_set():
                break
            try:
                reply = self.llm.complete(prompt).text
            except PromptRefused as refusal:
                self._keep(key, reply)
                if key in self.telling:
                    self.refusals.add(refusal)
                break  # the same words would be refused again
            self.refusals.answered()
            self._keep(key, reply)
            if task.entries(reply) is not None:
                break
        return reply

    def _keep(self, key: str, reply: str) -> None:
        with self._keeping:
            self.keep({key: reply})

    def _stop_if_failed(self, future: Future[str]) -> None:
        if not future.cancelled() and future.exception() is not None:
            self._stopping.set()
