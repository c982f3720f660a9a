"""What several exercises are tried with, written once: numbers at the limits of a type, products, attention, RoPE, ranks.

An exercise that imports this is judged anew when this file changes, as when its own does (catalogue.fingerprint).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from course_lib.coach.exercise import Case, Refused
from course_lib.cuda import memory

FAR = 2.0**14  # above 10,000; sums with a power of two stay exact, and exp(-FAR) is 0 in any float type
EXTREMES = ("all far above zero", "all far below zero", "all negative", "all equal")


def extremes(random: np.random.Generator, shape: tuple[int, ...]) -> Iterator[tuple[str, np.ndarray]]:
    """Labels, and numbers of this shape on which a maximum that starts from a finite number, or an exp of it, goes wrong.

    No two are equal along the last axis but in the last array. Those far away lie so far apart that the exp of the others is
    0 beside the largest: so a logsumexp is exact too, whose rounding would be an error of 0.001 in exp(x - logsumexp).
    """
    few = random.permuted(np.broadcast_to(np.arange(float(shape[-1])), shape), axis=-1)
    apart, near = 1024 * few, few / 8 - shape[-1] / 8
    for label, x in zip(EXTREMES, (FAR + apart, -FAR - apart, near, np.full(shape, -2.5)), strict=True):
        yield label, np.ascontiguousarray(x, np.float32)


# WGSL behind an answer that defines `group_sum`: two calls, one right after the other.
SUMS_TWICE = """
@group(0) @binding(8) var<storage, read> values: array<f32>;
@group(0) @binding(9) var<storage, read_write> sums: array<f32>;

@compute @workgroup_size(THREADS)
fn sums_twice(@builtin(local_invocation_index) lane: u32) {
    sums[lane] = group_sum(lane, values[lane]);
    sums[THREADS + lane] = group_sum(lane, values[THREADS + lane]);
}
"""


def summed_twice(kernel, x):
    """What each of 256 threads got for the two rows of x (2, 256), by an instance of sums_twice."""
    sums = unwritten(x.shape)
    kernel(1, values=x, sums=sums)
    return sums


# Of kernels of which a thread takes N numbers, a pack, or what is left.
WHOLE_PACK = "The last thread took a whole pack where fewer than N numbers are left. A pack fits only if i + N <= n."
LAST_MISSING = "The last numbers are missing: where fewer than N are left, they must be taken one by one."

KINDS = {"float32": "float", "int32": "int", "int64": "long long", "uint32": "unsigned int", "uint16": "unsigned short"}


def whole_numbers(random: np.random.Generator, shape: int | tuple[int, ...], dtype: type) -> np.ndarray:
    """Odd numbers from 2^24 + 1 on, which no float32 holds; from 2^40 + 1 on where the type has 64 bits, which no int holds."""
    least = 2**40 if np.dtype(dtype).itemsize == 8 else 2**24
    return (least + 1 + 2 * random.integers(0, 99, size=shape)).astype(dtype)


def matrices(random: np.random.Generator, M: int, N: int, K: int) -> tuple[np.ndarray, np.ndarray]:
    """A (M, K) and B (K, N) of small halves, none whole, float32: their product is exact, and each of them in bfloat16."""
    A, B = ((0.5 + random.integers(-9, 10, size=shape)).astype(np.float32) for shape in ((M, K), (K, N)))
    return A, B


def products(sizes: dict[str, tuple[int, int, int]]) -> Callable[[np.random.Generator], Iterator[Case]]:
    """Cases of two matrices. sizes: label -> M, N, K."""
    return lambda random: (Case(label, *matrices(random, *size)) for label, size in sizes.items())


def multiplied(
    rows: int, threads: Any, of: Callable[[np.ndarray], np.ndarray] = np.asarray, columns: int | None = None
) -> Callable[..., Any]:
    """A `call`: C (M, N) of a kernel (A, B, C, M, N, K) whose blocks of `threads` own rows x columns of it, or a square.

    of: what A and B are given as."""

    def launch(kernel: Any, A: np.ndarray, B: np.ndarray) -> Any:
        from course_lib import cuda

        (M, K), N = A.shape, B.shape[1]
        C = cuda.empty((M, N))
        kernel(
            (-(-N // (columns or rows)), -(-M // rows)), threads, (cuda.asarray(of(A)), cuda.asarray(of(B)), C, M, N, K)
        )
        return C

    return launch


def bfloat16_bits(x: np.ndarray) -> np.ndarray:
    """float32 rounded to bfloat16, to the nearest, ties to even: its 16 bits as uint16."""
    bits = np.asarray(x, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def of_bfloat16_bits(bits: np.ndarray) -> np.ndarray:
    """The reverse, as float32."""
    return (np.asarray(bits).astype(np.uint32) << 16).view(np.float32)


def rounded(x: np.ndarray) -> np.ndarray:
    """float32 rounded to bfloat16, as float32."""
    return of_bfloat16_bits(bfloat16_bits(x))


def transposed_tiles(x: np.ndarray) -> np.ndarray:
    """Each 16 x 16 tile transposed where it stands."""
    rows, columns = x.shape
    return x.reshape(rows // 16, 16, columns // 16, 16).swapaxes(1, 3).reshape(rows, columns)


def attention_inputs(
    random: np.random.Generator, B: int, T: int, S: int, H: int, G: int, D: int, size: float = 1.0
) -> list[np.ndarray]:
    """dy, q (B, T, H, D) and k, v (B, S, G, D), float32. size: how large the queries are."""
    shapes = (B, T, H, D), (B, T, H, D), (B, S, G, D), (B, S, G, D)
    return [
        (scale * random.normal(size=shape)).astype(np.float32)
        for shape, scale in zip(shapes, (1, size, 1, 1), strict=True)
    ]


def extreme_attention(random: np.random.Generator, T: int, S: int, D: int) -> Iterator[tuple[str, list[np.ndarray]]]:
    """Labels, and q (T, D), k and v (S, D): the scores of each query, divided by the root of D, are those of `extremes`."""
    for label, scores in extremes(random, (S,)):
        q, k = np.zeros((T, D), np.float32), random.normal(size=(S, D)).astype(np.float32)
        q[:, 0], k[:, 0] = np.sqrt(D), scores
        yield label, [q, k, random.normal(size=(S, D)).astype(np.float32)]


def at_scale(q: np.ndarray, scale: float | None) -> np.ndarray:
    """Queries whose scores, divided by the root of D, are those of q (B, T, H, D) times `scale`; None is that division itself."""
    return q if scale is None else q * np.float32(scale * np.sqrt(q.shape[-1]))


def kept_for_backward(dy, q, k, v, causal: bool, scale: float | None = None) -> tuple[np.ndarray, np.ndarray]:
    """logsumexp and delta, (B, H, T) each, as the forward pass and the first kernel of the backward pass store them."""
    from course_lib import devices

    wide = [x.astype(np.float64) for x in (at_scale(q, scale), k, v)]
    y, logsumexp = devices.ops("reference").attention_forward(*wide, causal)
    return logsumexp.astype(np.float32), (dy * y).sum(axis=-1).transpose(0, 2, 1).astype(np.float32)


ROPE_BLOCK = 32  # threads of a block of rope.cu


def rotations(random: np.random.Generator) -> Iterator[Case]:
    """Cases of x (B, T, H, D), cos and sin (T, D/2)."""
    quarter = np.zeros((1, 1), np.float32), np.ones((1, 1), np.float32)
    yield Case("a quarter rotation", np.array([3.0, 4.0], np.float32).reshape(1, 1, 1, 2), *quarter)
    shapes = {"two pairs": (1, 1, 1, 4), "three positions": (1, 3, 1, 2), "two heads": (1, 2, 2, 4), "two texts": (2, 3, 1, 4),
              "more pairs than a block": (2, 5, 3, 10)}  # fmt: skip
    for label, (B, T, H, D) in shapes.items():
        angle = random.uniform(-3, 3, (T, D // 2))
        x = random.normal(size=(B, T, H, D)).astype(np.float32)
        yield Case(label, x, np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32))


def rotate(kernel: Any, x: np.ndarray, cos: np.ndarray, sin: np.ndarray) -> Any:
    """Launch a kernel of rope.cu: y, of the shape of x."""
    from course_lib import cuda

    y, pairs, (T, H, D) = cuda.empty(x.shape), x.size // 2, x.shape[1:]  # (B, T, H, D)
    kernel(-(-pairs // ROPE_BLOCK), ROPE_BLOCK, (*map(cuda.asarray, (x, cos, sin)), y, pairs, T, H, D // 2))
    return y


def beyond(seen: Any, count: int, block: int) -> bool:
    """Whether a thread whose number in the grid is `count` or more accessed memory out of bounds, in blocks of `block`."""
    outside = (issue for issue in seen.issues if issue.kind == "out-of-bounds")
    return any(issue.block[0] * block + issue.thread[0] >= count for issue in outside)


def whole_pack(seen: Any, n: int, N: int, block: int) -> bool:
    """Whether the thread with the last, incomplete pack, or one after it, accessed memory out of bounds."""
    return N > 1 and beyond(seen, n // N, block)


def without_pair(seen: Any) -> bool:
    """Whether a thread that has no pair accessed memory out of bounds."""
    return beyond(seen, seen.inputs[0].size // 2, ROPE_BLOCK)


def two_writers(seen: Any) -> bool:
    """Whether two threads of a shader write one number of y, where what it writes is compared with both bounds, N and M."""
    last = seen.text.split("workgroupBarrier();")[-1]
    bounded = (re.search(rf"[<>]=?[^;{{}}]*\bargs\.{bound}\b|\bargs\.{bound}\s*[<>]", last) for bound in "NM")
    return any(i.kind == "race" and "`y[" in i.message for i in seen.issues) and all(bounded)


def unwritten(shape: Any) -> np.ndarray:
    """Floats as `cuda.empty` leaves them, for a buffer of WGSL: verdicts tell what nobody wrote from a nan that was computed."""
    return np.full(shape, memory.UNWRITTEN, np.uint32).view(np.float32)


class Link:
    """A communicator of which a task gives some methods only, beside `rank` and `size`."""

    def __init__(self, communicator: Any, given: tuple[str, ...]):
        self.rank, self.size, self._given = communicator.rank, communicator.size, given
        for name in given:  # the bound methods themselves: reports name the line that calls them
            setattr(self, name, getattr(communicator, name))

    def __getattr__(self, name: str) -> Any:
        allowed = ", ".join(f"`{one}`" for one in ("rank", "size", *self._given))
        raise Refused(f"You use communicator.{name}. In this task a communicator has {allowed}, and nothing else.")


def on_ranks(answer: Callable, *parts: list, given: tuple[str, ...]) -> tuple[list, int]:
    """answer(communicator, one of each of `parts`) on a virtual rank for each entry: the results, and the bytes that all sent.

    Raises what a rank raised, and Refused, with who waits where, if the ranks do not fit together.
    """
    from course_lib import parallel

    def work(communicator: Any) -> tuple[Any, int]:
        result = answer(Link(communicator, given), *(part[communicator.rank] for part in parts))
        return result, communicator.traffic.bytes

    try:
        done = parallel.virtual(len(parts[0]), work)
    except parallel.RankFailed as failed:
        raise failed.__cause__ from None
    except parallel.CommunicationError as error:
        raise Refused(str(error)) from None
    return [result for result, _ in done], sum(sent for _, sent in done)
