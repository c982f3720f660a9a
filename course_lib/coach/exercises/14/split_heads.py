"""From one wide matmul to queries, keys and values, each cut into heads."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Mistake, Wrong


def cases(random):
    yield Case("two heads of one number", np.array([[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]]]), 2, 2)
    yield Case("two tokens", np.arange(12.0).reshape(1, 2, 6), 2, 2)
    yield Case("one head of keys for two of queries", np.arange(16.0).reshape(1, 2, 8), 2, 1)
    yield Case("one head", np.arange(9.0).reshape(1, 1, 9), 1, 1)
    yield Case("two texts", random.normal(size=(2, 3, 24)).astype(np.float32), 4, 4)
    yield Case("six heads, two of keys", random.normal(size=(2, 5, 30)), 6, 2)
    yield Case("a view that is not contiguous", random.normal(size=(24, 5, 2)).T, 2, 1)


def cut(qkv, heads, kv_heads, thirds=False, order=(0, 1, 2), shape="thd", interleaved=False):
    b, t, width = qkv.shape
    d = width // (heads + 2 * kv_heads)
    ends = [width // 3, 2 * width // 3] if thirds else [heads * d, (heads + kv_heads) * d]
    if interleaved:
        parts = [qkv[..., i::3] for i in range(3)]
    else:
        parts = np.split(qkv, ends, axis=-1)
    out = []
    for part, h in zip([parts[i] for i in order], (heads, kv_heads, kv_heads), strict=True):
        if shape == "thd":
            out.append(part.reshape(b, t, h, -1))
        elif shape == "htd":
            out.append(part.reshape(b, h, t, -1))
        elif shape == "turned":
            out.append(part.reshape(b, t, h, -1).transpose(0, 2, 1, 3))
        else:
            out.append(part.reshape(b, t, -1, h).swapaxes(2, 3))
    return tuple(out)


def keys_first(qkv, heads, kv_heads):
    """The parts in the order keys, values, queries."""
    d = qkv.shape[-1] // (heads + 2 * kv_heads)
    k, v, q = np.split(qkv, [kv_heads * d, 2 * kv_heads * d], axis=-1)
    return tuple(part.reshape(*qkv.shape[:2], -1, d) for part in (q, k, v))


def head_by_head(qkv, heads, kv_heads):
    """As if each head had its query, key and value side by side; only where there are equally many."""
    if heads != kv_heads:
        raise ValueError
    cut = qkv.reshape(*qkv.shape[:2], heads, -1)
    return tuple(np.split(cut, 3, axis=-1))


exercise = Exercise(
    title="Queries, keys, values, heads",
    minutes=10,
    defines="split_heads",
    cases=cases,
    results=("q", "k", "v"),
    reference=cut,
    given="import numpy as np",
    mistakes=[
        Mistake("You cut into three equal parts. With G heads of keys and values the parts are H D, G D and G D wide.",
                when=lambda seen: "equal division" in seen.error),
        Mistake("You cut into three equal parts. With G heads of keys and values the parts are H D, G D and G D wide.",
                like=lambda *a: cut(*a, thirds=True)),
        Mistake("The axes stand as (B, H, T, D), and the numbers of different tokens are mixed. A reshape never moves a "
                "number: keep T "
                "before H.", like=lambda *a: cut(*a, shape="htd")),
        Mistake("The numbers are right, and the axes stand as (B, H, T, D). The library keeps the order (B, T, H, D).",
                like=lambda *a: cut(*a, shape="turned")),
        Mistake("A head takes every H-th number. Its D numbers lie side by side: reshape to (B, T, H, D).",
                like=lambda *a: cut(*a, shape="interleaved")),
        Mistake("Keys and values have changed places: queries come first, then keys, then values.",
                like=lambda *a: cut(*a, order=(0, 2, 1))),
        Mistake("Every third number goes to the queries. The parts lie one behind the other: all queries, all keys, all "
                "values.",
                like=lambda *a: cut(*a, interleaved=True)),
        Mistake("The parts stand in the order queries, keys, values. You take the keys from the beginning.", like=keys_first),
        Mistake("You take query, key and value of a head side by side. The parts lie one behind the other: all queries, all keys,"
                " all values.",
                when=lambda seen: (
            seen.label == "two heads of one number" and all(
                map(np.array_equal, seen.got, head_by_head(*seen.inputs))))),
        Mistake("D is the width of one head, and there are H + 2 G heads side by side: D = width // (heads + 2 * kv_heads).",
                when=lambda seen: seen.label == "one head of keys for two of queries" and "cannot reshape" in seen.error),
    ],
    hints=(
        "How many heads are there in all, queries, keys and values together? So how large is D?",
        "The first H D numbers of each token are its queries, the next G D its keys, the last G D its values.",
        "q = qkv[..., : heads * d].reshape(B, T, heads, d), and so on for k and v.",
    ),
    sibling='''def split_picture(pixels, colours):
    """The same cut: a row of pixels with their colours side by side, (T, N * colours) -> (T, N, colours)."""
    rows, width = pixels.shape
    return pixels.reshape(rows, width // colours, colours)  # no number moves, only the reading of it changes
''',
    right=[
        """def split_heads(qkv, heads, kv_heads):
    B, T, width = qkv.shape
    every = heads + 2 * kv_heads
    cut = qkv.reshape(B, T, every, width // every)
    return cut[:, :, :heads], cut[:, :, heads:-kv_heads], cut[:, :, -kv_heads:]
""",
        """def split_heads(qkv, heads, kv_heads):
    B, T, width = qkv.shape
    D = width // (heads + 2 * kv_heads)
    out, start = [], 0
    for count in (heads, kv_heads, kv_heads):
        part = np.empty((B, T, count, D), qkv.dtype)
        for h in range(count):
            part[:, :, h, :] = qkv[:, :, start:start + D]
            start += D
        out.append(part)
    return out
""",
        """def split_heads(qkv, heads, kv_heads):
    slices = np.split(qkv, heads + 2 * kv_heads, axis=-1)
    q, k, v = slices[:heads], slices[heads:heads + kv_heads], slices[heads + kv_heads:]
    return np.stack(q, axis=2), np.stack(k, axis=2), np.stack(v, axis=2)
""",
    ],
    wrong=[
        Wrong("""def split_heads(qkv, heads, kv_heads):
    q, k, v = np.split(qkv, 3, axis=-1)
    B, T, _ = qkv.shape
    return q.reshape(B, T, heads, -1), k.reshape(B, T, kv_heads, -1), v.reshape(B, T, kv_heads, -1)
""", "three equal parts"),
        Wrong(Changed(("reshape(B, T, heads, D)", "reshape(B, heads, T, D)"), ("k.reshape(B, T,", "k.reshape(B, kv_heads,"),
                      ("v.reshape(B, T,", "v.reshape(B, kv_heads,"), ("k.reshape(B, kv_heads, kv_heads, D)",
                      "k.reshape(B, kv_heads, T, D)"), ("v.reshape(B, kv_heads, kv_heads, D)", "v.reshape(B, kv_heads, T, D)")),
              "are mixed"),
        Wrong("""def split_heads(qkv, heads, kv_heads):
    B, T, width = qkv.shape
    x = qkv.reshape(B, T, heads + 2 * kv_heads, -1).transpose(0, 2, 1, 3)
    return x[:, :heads], x[:, heads:heads + kv_heads], x[:, heads + kv_heads:]
""", "The library keeps the order"),
        Wrong(Changed(("q, k, v = ", "q, v, k = ")), "changed places"),
        Wrong("""def split_heads(qkv, heads, kv_heads):
    B, T, width = qkv.shape
    D = width // (heads + 2 * kv_heads)
    q = qkv[..., :heads * D].reshape(B, T, D, heads).swapaxes(2, 3)
    k = qkv[..., heads * D:(heads + kv_heads) * D].reshape(B, T, D, kv_heads).swapaxes(2, 3)
    v = qkv[..., (heads + kv_heads) * D:].reshape(B, T, D, kv_heads).swapaxes(2, 3)
    return q, k, v
""", "every H-th number"),
        Wrong("""def split_heads(qkv, heads, kv_heads):
    B, T, W = qkv.shape
    D = W // (heads + 2 * kv_heads)
    k, v, q = np.split(qkv, [kv_heads * D, 2 * kv_heads * D], axis=-1)
    return q.reshape(B, T, heads, D), k.reshape(B, T, kv_heads, D), v.reshape(B, T, kv_heads, D)
""", "You take the keys from the beginning"),
        Wrong("""def split_heads(qkv, heads, kv_heads):
    B, T, W = qkv.shape
    x = qkv.reshape(B, T, heads, -1)
    D = x.shape[-1] // 3
    return x[..., :D], x[..., D:2*D], x[..., 2*D:]
""", "query, key and value of a head side by side"),
        Wrong("""def split_heads(qkv, heads, kv_heads):
    B, T, W = qkv.shape
    D = W // (3 * heads)
    q, k, v = np.split(qkv, [heads * D, (heads + kv_heads) * D], axis=-1)
    return q.reshape(B, T, heads, D), k.reshape(B, T, kv_heads, D), v.reshape(B, T, kv_heads, D)
""", "H + 2 G heads side by side"),
    ],
)  # fmt: skip
