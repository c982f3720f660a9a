"""Continuous batching: requests join and leave between steps, and a step computes tokens of all texts in one pass.

    engine = Engine(model, tokenizer)
    request = Request(tokenizer.encode("Once upon a time"), tokens=100, choice=Choice(0.7), seeds=[0])
    engine.submit(request)
    while engine.busy: engine.step()
    tokenizer.decode(request.written[0])

A text is drawn as generation.generate draws it with the same seed, so its tokens do not depend on who else is served, up to
rounding (paged_model.py). When pages run out, the youngest text gives its own back and is computed again later: its reader waits,
its tokens stay. The engine knows no threads and no clock.

With a draft (drafts.py) each text that is being written gets some tokens proposed, as far as the step's budget and the free pages
go, and the pass verifies them (speculative.py). Greedy texts stay the same, drawn ones have the same distribution; for a seed
they are others, since other random numbers decide, and how many depends on who else is served.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from course_lib import sampling
from course_lib.generation import Choice
from course_lib.model import GPT
from course_lib.serving import scheduling, speculative
from course_lib.serving.drafts import Draft, Proposal, Wish
from course_lib.serving.paged_model import FLOAT, ROWS, Addition, PagedModel
from course_lib.serving.pages import OutOfPages
from course_lib.serving.texts import CANCELLED, LENGTH, STOP, Request, Text
from course_lib.tokenizer import Tokenizer


class Engine:
    """A model that writes up to `batch` texts at once, `budget` tokens in a step, over `pages` pages.

    pages: as many as the texts can fill, if not given. cache: "float", or "int8" for a quarter of the memory (paged_model.py).
    draft: proposes up to `drafts` tokens for a text and step.
    """

    def __init__(
        self,
        model: GPT,
        tokenizer: Tokenizer,
        batch: int = 16,
        budget: int = 128,
        pages: int | None = None,
        rows: int = ROWS,
        cache: str = FLOAT,
        draft: Draft | None = None,
        drafts: int = 4,
    ):
        if not 1 <= batch <= budget:
            raise ValueError(
                f"An engine writes 1 text or more at once and computes at least a token of each: batch is {batch}, and budget "
                f"{budget}."
            )
        self.context = model.config.context
        self.paged = PagedModel(model, pages or batch * -(-self.context // rows), rows, cache)
        self.pool, self.end = self.paged.pool, tokenizer.end_id
        self.known = min(tokenizer.vocab_size, model.config.vocab_size)
        self.batch, self.budget, self.draft, self.drafts = batch, budget, draft, drafts
        self.waiting: deque[Text] = deque()
        self.running: list[Text] = []  # the oldest first
        self.steps = self.computed = self.shared = self.preempted = 0  # counted for metrics
        self.drafted = self.accepted = 0

    @property
    def busy(self) -> bool:
        return bool(self.waiting or self.running)

    def check(self, request: Request) -> None:
        """Raises ValueError for a request that can never be served."""
        length, texts = len(request.ids) + 1, len(request.seeds)
        if length >= self.context:
            raise ValueError(
                f"The prompt has {length} tokens, and this model reads {self.context} at most, those that it writes among them: "
                "send a shorter one."
            )
        if request.tokens < 1 or not 1 <= texts <= self.batch:
            raise ValueError(
                f"A request is for 1 token or more of 1 to {self.batch} texts, not for {request.tokens} of {texts}."
            )
        if any(not 0 <= token < self.known for token in request.ids):
            raise ValueError(f"A token of the prompt is not one of 0 .. {self.known - 1}, those that this model knows.")
        rows = min(length + request.tokens, self.context)
        if -(-rows // self.pool.rows) > self.pool.count:
            raise ValueError(
                f"A text of {rows} tokens needs more than the {self.pool.count} pages of the cache: ask for fewer tokens."
            )

    def submit(self, request: Request) -> None:
        """Put a request into the queue. Raises ValueError for one that can never be served."""
        self.check(request)
        first, *twins = (
            Text(request, i, [self.end, *request.ids], np.random.default_rng(seed))
            for i, seed in enumerate(request.seeds)
        )
        first.twins = twins
        self.waiting.append(first)

    def abort(self, why: str) -> None:
        """End every text, as after a step that failed."""
        for text in (*self.running, *self.waiting):
            for one in (text, *text.twins):
                one.computed = 0  # whatever is in its pages is not to be trusted
                self._end(one, None, why)
        self.waiting.clear()

    def step(self) -> None:
        """One pass of the model over the next tokens of every running text."""
        self._drop_cancelled()
        self._admit()
        additions = self._plan()
        if not additions:
            return
        proposals = self._propose(additions)
        found = self.paged.logits([addition for _, addition in additions])
        self.steps += 1
        ready = []  # texts whose next token can be drawn, and its logits
        for (text, addition), logits in zip(additions, found, strict=True):
            self.computed += len(addition.ids)
            if text in proposals:
                self._accept(text, logits, *proposals[text])
                continue
            text.computed += len(addition.ids)
            if text.computed == len(text.ids):
                self.pool.remember(text.table, text.ids[: text.computed])
                ready += [(one, logits[-1, : self.known]) for one in (text, *self._fork(text))]
        self._draw(ready)

    def _drop_cancelled(self) -> None:
        """End the texts that nobody wants; one whose twins are wanted goes on until they can go on alone."""
        for queue in (self.running, self.waiting):
            for text in [text for text in queue if text.index in text.request.stopped]:
                if all(twin.index in text.request.stopped for twin in text.twins):
                    for one in (*text.twins, text):
                        self._end(one, None, CANCELLED)
                    if text in self.waiting:
                        self.waiting.remove(text)

    def _admit(self) -> None:
        while self.waiting:
            clients = [text.request.client for text in self.waiting]
            at = scheduling.next_in_line(clients, [text.request.client for text in self.running])
            text = self.waiting[at]
            if sum(one.count for one in self.running) + text.count > self.batch:
                return
            table = self.pool.find(text.ids)
            needed = -(-len(text.ids) // self.pool.rows) - len(table)
            if self.running and needed + len(self.running) > self.pool.available:  # a page for each other's next row
                self.pool.release(table)
                return
            del self.waiting[at]
            text.table, text.computed = table, len(table) * self.pool.rows
            self.shared += text.computed
            self.running.append(text)

    def _plan(self) -> list[tuple[Text, Addition]]:
        """What each running text adds in this step, with pages for it."""
        needed = [len(text.ids) - text.computed for text in self.running]
        given = dict(zip(self.running, scheduling.share_budget(needed, self.budget), strict=True))
        additions = []
        for text in list(self.running):
            if text not in self.running or not given[text]:  # it gave its pages to an older one
                continue
            start, count = text.computed, given[text]
            while text in self.running:
                try:
                    self.paged.make_room(text.table, start, count)
                except OutOfPages:
                    self._preempt(self.running[-1])
                else:
                    additions.append((text, Addition(text.table, text.ids[start : start + count], start)))
                    break
        return additions

    def _propose(self, additions: list[tuple[Text, Addition]]) -> dict[Text, Proposal]:
        """Drafted tokens of the texts that are being written, which are put behind their additions."""
        if self.draft is None:
            return {}
        writing = [i for i, (text, addition) in enumerate(additions) if len(addition.ids) == 1 and not text.twins]
        left = self.budget - sum(len(addition.ids) for _, addition in additions)
        wishes = []
        for i in writing:
            text, request = additions[i][0], additions[i][0].request
            wanted = min(request.tokens - len(request.written[text.index]) - 1, self.context - len(text.ids))
            count = min(self.drafts, left // len(writing), wanted)
            wishes.append(Wish(text, text.ids, max(count, 0), request.choice, text.random))
        proposals = {}
        for i, (drafted, chances) in zip(writing, self.draft.propose_all(wishes), strict=True):
            text, addition = additions[i]
            end = addition.start + 1 + len(drafted)
            if drafted and -(-end // self.pool.rows) - len(text.table) <= self.pool.available:
                self.paged.make_room(text.table, addition.start + 1, len(drafted))
                additions[i] = text, Addition(text.table, [*addition.ids, *drafted], addition.start, every=True)
                proposals[text] = drafted, chances
        return proposals

    def _accept(self, text: Text, logits: np.ndarray, drafted: list[int], chances: np.ndarray) -> None:
        """What becomes of K drafted tokens, by the logits (K + 1, V) before each and after all.

        Rows of those that are rejected are given back, or written over."""
        target = text.request.choice.probabilities(logits[:, : self.known])  # (K + 1, V)
        fresh = speculative.accept(target, chances, drafted, text.random.random(len(drafted) + 1))
        self.drafted += len(drafted)
        self.accepted += len(fresh) - 1
        for token in fresh:
            text.computed = len(text.ids)  # every token before this one was accepted, and its row is in the cache
            self._append(text, token)
            if text not in self.running:
                return
        self.pool.forget(text.table, text.computed)
        self.pool.remember(text.table, text.ids[: text.computed])

    def _preempt(self, text: Text) -> None:
        """Take the pages of a text that has not been planned yet; it goes to the head of the queue."""
        self.running.remove(text)
        self._forget(text)
        self.pool.release(text.table)
        text.computed = 0
        self.waiting.appendleft(text)
        self.preempted += 1

    def _fork(self, text: Text) -> list[Text]:
        twins, text.twins = text.twins, []
        for twin in twins:
            twin.table, twin.computed = self.pool.fork(text.table), text.computed
        at = self.running.index(text) + 1
        self.running[at:at] = twins
        return twins

    def _draw(self, ready: list[tuple[Text, np.ndarray]]) -> None:
        """The next token of each text, those that choose alike together."""
        alike: dict[Choice, list[tuple[Text, np.ndarray]]] = {}
        for text, logits in ready:
            alike.setdefault(text.request.choice, []).append((text, logits))
        for choice, group in alike.items():
            uniform = np.array([text.random.random() for text, _ in group])  # (R,)
            drawn = sampling.draw(choice.probabilities(np.stack([logits for _, logits in group])), uniform)  # (R,)
            for (text, _), token in zip(group, drawn.tolist(), strict=True):
                self._append(text, token)

    def _append(self, text: Text, token: int) -> None:
        request, written = text.request, text.request.written[text.index]
        text.ids.append(token)
        written.append(token)
        if token == self.end:
            self._end(text, token, STOP)
        elif len(written) == request.tokens or len(text.ids) == self.context + 1:  # the last one need not be read
            self._end(text, token, LENGTH)
        else:
            request.tell(text.index, token, None)

    def _end(self, text: Text, token: int | None, why: str) -> None:
        if text in self.running:
            self.running.remove(text)
        self._forget(text)
        self.pool.remember(text.table, text.ids[: text.computed])
        self.pool.release(text.table)
        text.request.ended[text.index] = why
        text.request.tell(text.index, token, why)

    def _forget(self, text: Text) -> None:
        if self.draft is not None:
            self.draft.forget(text)
