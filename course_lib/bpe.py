"""Byte-pair encoding (Sennrich et al. 2016, section 3.2): learn merges from counted pre-tokens, apply them to one.

A `piece` is the UTF-8 bytes of one pre-token (about a word), whose boundary no merge crosses. A symbol is an int: below 256
the byte of that value, from 256 on a merged token, numbered in the order it was learned. The merges are those of
HuggingFace `tokenizers`: the most frequent pair first; among equally frequent ones the lowest left symbol, then the
lowest right one, bytes in the order of GPT-2's visible characters. Two merges that spell the same bytes share a symbol.

`learn_merges` is the algorithm to read. `learn_merges_compiled` is the same in C++, a few times faster.
"""

import ctypes
import heapq
from collections import defaultdict
from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path

import numpy as np

Pair = tuple[int, int]
BYTES = [bytes([value]) for value in range(256)]
LONG_PIECE = 256  # from this length on the heap beats the plain loop in apply_merges


def visible_characters() -> list[str]:
    """GPT-2's printable stand-in for each of the 256 bytes; a space shows as "Ġ", a line feed as "Ċ"."""
    printable = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    others = [byte for byte in range(256) if byte not in printable]
    shown = {byte: chr(byte) for byte in printable} | {byte: chr(256 + n) for n, byte in enumerate(others)}
    return [shown[byte] for byte in range(256)]


VISIBLE = visible_characters()
BYTE_ORDER = np.argsort(np.argsort(VISIBLE)).tolist()  # the rank of each byte among the visible characters, sorted


class Vocabulary:
    """The bytes of every symbol. A merge that spells known bytes gets the symbol that has them."""

    def __init__(self) -> None:
        self.spelling = list(BYTES)
        self.symbols = {spelling: symbol for symbol, spelling in enumerate(BYTES)}

    def __len__(self) -> int:
        return len(self.spelling)

    def add(self, pair: Pair) -> int:
        """The symbol of the merged pair, a new one unless its bytes are known."""
        spelling = self.spelling[pair[0]] + self.spelling[pair[1]]
        symbol = self.symbols.setdefault(spelling, len(self.spelling))
        if symbol == len(self.spelling):
            self.spelling.append(spelling)
        return symbol


def merge(word: list[int], pair: Pair, symbol: int) -> list[int]:
    """`word` with every occurrence of `pair`, from the left, replaced by `symbol`."""
    left, right = pair
    merged, i, last = [], 0, len(word) - 1
    while i <= last:
        if word[i] == left and i < last and word[i + 1] == right:
            merged.append(symbol)
            i += 2
        else:
            merged.append(word[i])
            i += 1
    return merged


def learn_merges(
    pieces: Mapping[bytes, int], entries: int, progress: Callable[[int], object] = lambda done: None
) -> list[Pair]:
    """Learn merges until `entries` new symbols exist or no pair is left.

    pieces:    how often each pre-token occurs, as bytes.
    progress:  called with the number of symbols learned so far, once per merge.

    Counting all pairs again after each merge would cost the whole corpus every time. Only words that hold the merged
    pair change, so we remember for each pair where it occurs, and recount those words alone. A heap hands out the best
    pair. Counts in the heap go stale as words change; a stale pair is put back with its true count when it comes up.
    """
    words = [list(piece) for piece in pieces]
    counts = list(pieces.values())
    pair_counts: dict[Pair, int] = defaultdict(int)
    where: dict[Pair, set[int]] = defaultdict(set)  # pair -> the words that hold it (or once did)
    for index, (word, count) in enumerate(zip(words, counts, strict=True)):
        for pair in pairwise(word):
            pair_counts[pair] += count
            where[pair].add(index)

    order = list(BYTE_ORDER)

    def entry(pair: Pair) -> tuple[int, int, int, Pair]:  # the heap's smallest is the best pair
        return -pair_counts[pair], order[pair[0]], order[pair[1]], pair

    heap = [entry(pair) for pair in pair_counts]
    heapq.heapify(heap)
    vocabulary, merges = Vocabulary(), []
    while len(vocabulary) < 256 + entries and heap:
        best = heapq.heappop(heap)
        pair = best[3]
        if best != (current := entry(pair)):
            if current[0] < 0:
                heapq.heappush(heap, current)
            continue
        symbol = vocabulary.add(pair)
        if symbol == len(order):
            order.append(symbol)
        merges.append(pair)
        grown = set()
        for index in where.pop(pair):
            word, count = words[index], counts[index]
            merged = merge(word, pair, symbol)
            if len(merged) == len(word):
                continue
            for old in pairwise(word):
                pair_counts[old] -= count
            for new in pairwise(merged):
                pair_counts[new] += count
                if symbol in new:
                    where[new].add(index)
                    grown.add(new)
            words[index] = merged
        for new in grown:
            heapq.heappush(heap, entry(new))
        progress(len(vocabulary) - 256)
    return merges


def learn_merges_compiled(pieces: Mapping[bytes, int], entries: int) -> list[Pair]:
    """`learn_merges` in C++ (bpe_loops.cpp). Raises native.NoCompiler where there is no C++ compiler."""
    from course_lib import native

    library = native.load("bpe", [Path(__file__).with_name("bpe_loops.cpp")], flags=("-O2",))
    text = np.frombuffer(b"".join(pieces), np.uint8)
    ends = np.cumsum([len(piece) for piece in pieces], dtype=np.int64)
    counts = np.array(list(pieces.values()), np.int64)
    order = np.array(BYTE_ORDER, np.int32)
    merges = np.empty((2 * entries + 1024, 2), np.int32)  # room for merges that add no symbol
    arrays = [ctypes.c_void_p(array.ctypes.data) for array in (text, ends, counts, order, merges)]
    sizes = [ctypes.c_int64(size) for size in (len(counts), entries, len(merges))]
    library.learn_merges.restype = ctypes.c_int64
    learned = library.learn_merges(*arrays, *sizes)
    if learned < 0:  # the text is made of endless repeats: the plain version has no limit
        return learn_merges(pieces, entries)
    return [(left, right) for left, right in merges[:learned].tolist()]


def apply_merges(piece: bytes, ranks: Mapping[Pair, tuple[int, int]]) -> list[int]:
    """The symbols of one pre-token: again and again, merge the pair that was learned first, the leftmost of several.

    ranks: for each pair its index in the order of learning and the symbol that replaces it.
    """
    if len(piece) >= LONG_PIECE:
        return _apply_merges_with_heap(piece, ranks)
    word, never = list(piece), (len(ranks) + 1, -1)
    while len(word) > 1:
        found = [ranks.get(pair, never) for pair in pairwise(word)]
        first = min(found)
        if first is never:
            break
        at = found.index(first)
        word[at : at + 2] = [first[1]]
    return word


def _apply_merges_with_heap(piece: bytes, ranks: Mapping[Pair, tuple[int, int]]) -> list[int]:
    """`apply_merges` in n log n: a linked list of symbols, and a heap of the merges possible now."""
    word: list[int] = list(piece)
    after = list(range(1, len(word) + 1))  # the next symbol still alive
    before = list(range(-1, len(word) - 1))
    heap: list[tuple[int, int, int, Pair]] = []

    def offer(at: int) -> None:
        if at >= 0 and after[at] < len(word):
            pair = word[at], word[after[at]]
            if pair in ranks:
                heapq.heappush(heap, (ranks[pair][0], at, ranks[pair][1], pair))

    for at in range(len(word) - 1):
        offer(at)
    while heap:
        _, at, symbol, pair = heapq.heappop(heap)
        right = after[at]
        if word[at] < 0 or right >= len(word) or (word[at], word[right]) != pair:
            continue  # one of the two was merged away meanwhile
        word[at], word[right] = symbol, -1
        after[at] = after[right]
        if after[at] < len(word):
            before[after[at]] = at
        offer(before[at])
        offer(at)
    return [symbol for symbol in word if symbol >= 0]
