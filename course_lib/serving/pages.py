"""Which page of the cache holds what: block tables, reference counts, copy on write, shared beginnings.

A text's row j (the key and value of its token j, in every layer) lies in row j % rows of page table[j // rows]. Memory is given
out a page at a time, when a text gets there, so a text wastes less than one page. Texts that begin alike hold the same pages;
the text that writes to a page which others hold as well gets a copy. As an operating system does it with memory. (Kwon et al.
2023, "PagedAttention", section 4)

Here are numbers only; the keys and values themselves are in paged_model.py. `release` and `page_for_next` work on plain lists:
holders[p] is how many texts hold page p, and `free` holds the pages that nobody does.
"""

from __future__ import annotations

from collections import OrderedDict

import numpy as np


class OutOfPages(RuntimeError):
    """Every page is held by some text."""


def release(table: list[int], holders: list[int]) -> list[int]:
    """A text lets go of its pages, and its table is empty -> the pages that nobody holds any more.

    Raises ValueError for a page that nobody holds: it would be freed twice.
    """
    freed = []
    for page in table:
        if holders[page] == 0:
            raise ValueError(f"Page {page} is freed twice: it was released, but no text holds it.")
        holders[page] -= 1
        # yours: say which pages are free now
        if holders[page] == 0:
            freed.append(page)
        # instead
        # freed.append(page)
        # end
    table.clear()
    return freed


def page_for_next(table: list[int], length: int, rows: int, holders: list[int], free: list[int]) -> int | None:
    """Make table[length // rows] a page that this text alone holds, since row `length` will be written there.

    A new page comes from the end of `free`. Returns the page whose rows must be copied into it, or None.
    """
    at = length // rows
    old = table[at] if at < len(table) else None
    if old is not None and holders[old] == 1:
        return None
    new = free.pop()
    holders[new] = 1
    if old is None:
        table.append(new)
    else:
        table[at] = new
        holders[old] -= 1
    return old


class Pool:
    """The pages of a cache, `rows` rows each, and the texts' beginnings that are still in them.

    A page that nobody holds keeps its rows until it is needed: `find` gives it to the next text that begins in the same way.
    The least recently used is given up first.
    """

    def __init__(self, count: int, rows: int):
        if count < 1 or rows < 1:
            raise ValueError(f"A cache has at least one page of one row; {count} pages of {rows} rows were asked for.")
        self.count, self.rows = count, rows
        self.holders = [0] * count
        self.free = list(range(count))[::-1]
        self.beginnings: dict[bytes, int] = {}  # all tokens up to the end of a page -> that page
        self.names: dict[int, bytes] = {}  # the same, from the page
        self.kept: OrderedDict[int, None] = (
            OrderedDict()
        )  # pages that nobody holds, whose rows are known; the oldest first

    @property
    def held(self) -> int:
        """Pages that some text holds."""
        return self.count - len(self.free) - len(self.kept)

    @property
    def available(self) -> int:
        """Pages that can be given out."""
        return len(self.free) + len(self.kept)

    def find(self, ids: list[int]) -> list[int]:
        """A table of the pages that hold the beginning of `ids`, held from now on; all but the last token at most, since
        somebody must compute what comes after it."""
        table: list[int] = []
        for end in range(self.rows, len(ids), self.rows):
            page = self.beginnings.get(_name(ids[:end]))
            if page is None:
                break
            self.hold(page)
            table.append(page)
        return table

    def hold(self, page: int) -> None:
        """One more text holds this page."""
        self.holders[page] += 1
        self.kept.pop(page, None)

    def fork(self, table: list[int]) -> list[int]:
        """A table for a text that goes on from the same rows."""
        for page in table:
            self.hold(page)
        return list(table)

    def room_for(self, table: list[int], length: int) -> int | None:
        """`page_for_next`, with a page whose beginning is given up if no other is free. Raises OutOfPages."""
        at = length // self.rows
        if at < len(table) and self.holders[table[at]] == 1:
            return None
        if not self.free:
            if not self.kept:
                raise OutOfPages(f"All {self.count} pages of the cache are in use.")
            page, _ = self.kept.popitem(last=False)
            self._forget(page)
            self.free.append(page)
        return page_for_next(table, length, self.rows, self.holders, self.free)

    def remember(self, table: list[int], ids: list[int]) -> None:
        """The rows of `ids` are in the pages of this table: from now on `find` finds those that are full."""
        for at, end in enumerate(range(self.rows, len(ids) + 1, self.rows)):
            name = _name(ids[:end])
            if name not in self.beginnings and table[at] not in self.names:
                self.beginnings[name], self.names[table[at]] = table[at], name

    def release(self, table: list[int]) -> None:
        """A text lets go of its pages; those whose rows are known are kept until they are needed."""
        for page in reversed(release(table, self.holders)):  # the end of a beginning is worth less than its start
            if page in self.names:
                self.kept[page] = None
            else:
                self.free.append(page)

    def forget(self, table: list[int], length: int) -> None:
        """Give back the pages behind row `length`, of a text whose last rows were not wanted."""
        needed = -(-length // self.rows)
        behind = table[needed:]
        del table[needed:]
        self.free += release(behind, self.holders)  # not known yet: `remember` is for rows that stay

    def _forget(self, page: int) -> None:
        del self.beginnings[self.names.pop(page)]

    def waste(self, texts: list[tuple[list[int], int]]) -> float:
        """The part of the rows in use that holds nothing, for texts given as (table, length); a page counts once."""
        filled: dict[int, int] = {}
        for table, length in texts:
            for at, page in enumerate(table):
                filled[page] = max(filled.get(page, 0), min(self.rows, length - at * self.rows))
        return 1 - sum(filled.values()) / (len(filled) * self.rows) if filled else 0.0


def _name(ids: list[int]) -> bytes:
    return np.array(ids, np.int32).tobytes()
