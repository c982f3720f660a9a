"""What an engine serves: requests, and the texts that are being written for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from course_lib.generation import Choice

LENGTH, STOP, CANCELLED, FAILED = "length", "stop", "cancelled", "failed"  # why a text ended


@dataclass(eq=False)
class Request:
    """One prompt, and as many texts after it as there are seeds.

    ids: the prompt, without the end token that stands before every text. tell(index, token, why): called for each new token of
    text `index`; token is None if there is none, why is None until the text ends.
    """

    ids: list[int]
    tokens: int
    choice: Choice
    seeds: Sequence[int]
    client: str = ""
    tell: Callable[[int, int | None, str | None], None] = lambda index, token, why: None
    written: list[list[int]] = field(init=False)
    ended: list[str | None] = field(init=False)
    stopped: set[int] = field(
        default_factory=set, init=False
    )  # texts that nobody wants: their pages are free at the next step

    def __post_init__(self) -> None:
        self.written, self.ended = [[] for _ in self.seeds], [None for _ in self.seeds]


@dataclass(eq=False)
class Text:
    """One text that is being written: the tokens that it has, and how many of them are in the cache."""

    request: Request
    index: int
    ids: list[int]
    random: np.random.Generator
    table: list[int] = field(default_factory=list)
    computed: int = 0
    twins: list[Text] = field(
        default_factory=list
    )  # texts of the same prompt, which go on from its rows once they are there

    @property
    def count(self) -> int:
        return 1 + len(self.twins)
