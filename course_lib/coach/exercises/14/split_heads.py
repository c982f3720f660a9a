"""From one wide matmul to queries, keys and values, each split into heads."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong

THIRDS = "You split into three equal parts. With G key-value heads the parts have widths H D, G D and G D."


def cases(random):
    yield Case("two heads of one number", np.array([[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]]]), 2, 2)
    yield Case("two tokens", np.arange(12.0).reshape(1, 2, 6), 2, 2)
    yield Case("two query heads, one key-value head", np.arange(16.0).reshape(1, 2, 8), 2, 1)
    yield Case("one head", np.arange(9.0).reshape(1, 1, 9), 1, 1)
    yield Case("two texts", random.normal(size=(2, 3, 24)).astype(np.float32), 4, 4)
    yield Case("six query heads, two key-value heads", random.normal(size=(2, 5, 30)), 6, 2)
    yield Case("a view that is not contiguous", random.normal(size=(24, 5, 2)).T, 2, 1)


def right(qkv, heads, kv_heads):
    b, t, width = qkv.shape
    d = width // (heads + 2 * kv_heads)
    parts = np.split(qkv, [heads * d, (heads + kv_heads) * d], axis=-1)
    return tuple(part.reshape(b, t, h, d) for part, h in zip(parts, (heads, kv_heads, kv_heads), strict=True))


def head_by_head(qkv, heads, kv_heads):
    """As if each head had its query, key and value side by side; only where there are equally many."""
    if heads != kv_heads:
        raise ValueError
    by_head = qkv.reshape(*qkv.shape[:2], heads, -1)
    return tuple(np.split(by_head, 3, axis=-1))


exercise = Exercise(
    title="Queries, keys, values, heads",
    minutes=10,
    defines="split_heads",
    cases=cases,
    results=("q", "k", "v"),
    reference=right,
    given="import numpy as np",
    hints=(
        "How many heads are there in all, queries, keys and values together? So how large is D?",
        "The first H D numbers of each token are its queries, the next G D its keys, the last G D its values.",
        "B, T, width = qkv.shape; D = width // (heads + 2 * kv_heads); q = qkv[..., : heads * D].reshape(B, T, heads, D), "
        "and so on for k and v.",
    ),
    example='''def split_picture(pixels, colours):
    """The same split: rows of pixels with their colours side by side, (T, N * colours) -> (T, N, colours)."""
    rows, width = pixels.shape
    return pixels.reshape(rows, width // colours, colours)  # no number moves, only the shape changes
''',
    wrong=[
        Wrong("""def split_heads(qkv, heads, kv_heads):
    q, k, v = np.split(qkv, 3, axis=-1)
    B, T, _ = qkv.shape
    return q.reshape(B, T, heads, -1), k.reshape(B, T, kv_heads, -1), v.reshape(B, T, kv_heads, -1)
""", THIRDS, when=lambda seen: "equal division" in seen.error and seen.inputs[1] != seen.inputs[2]),
        Wrong("""def split_heads(qkv, heads, kv_heads):
    B, T, width = qkv.shape
    q, k, v = np.split(qkv, [width // 3, 2 * width // 3], axis=-1)
    return q.reshape(B, T, heads, -1), k.reshape(B, T, kv_heads, -1), v.reshape(B, T, kv_heads, -1)
""", THIRDS, also=True),
        Wrong(Changed(("reshape(B, T, heads, D)", "reshape(B, heads, T, D)"), ("k.reshape(B, T,", "k.reshape(B, kv_heads,"),
                      ("v.reshape(B, T,", "v.reshape(B, kv_heads,"), ("k.reshape(B, kv_heads, kv_heads, D)",
                      "k.reshape(B, kv_heads, T, D)"), ("v.reshape(B, kv_heads, kv_heads, D)", "v.reshape(B, kv_heads, T, D)")),
              "The axes are in the order (B, H, T, D), and the numbers of different tokens are mixed. A reshape never moves a "
              "number: keep T before H."),
        Wrong("""def split_heads(qkv, heads, kv_heads):
    B, T, width = qkv.shape
    x = qkv.reshape(B, heads + 2 * kv_heads, T, -1).swapaxes(1, 2)
    return x[:, :, :heads], x[:, :, heads:heads + kv_heads], x[:, :, heads + kv_heads:]
""",
              "The reshape puts T behind the heads, and mixes the numbers of different tokens; no later exchange of axes "
              "undoes that. Keep B and T in front: reshape to (B, T, H + 2 G, D)."),
        Wrong("""def split_heads(qkv, heads, kv_heads):
    B, T, width = qkv.shape
    x = qkv.reshape(B, T, heads + 2 * kv_heads, -1).transpose(0, 2, 1, 3)
    return x[:, :heads], x[:, heads:heads + kv_heads], x[:, heads + kv_heads:]
""", "The numbers are right, but the axes are in the order (B, H, T, D). The library expects (B, T, H, D)."),
        Wrong("""def split_heads(qkv, heads, kv_heads):
    B, T, width = qkv.shape
    D = width // (heads + 2 * kv_heads)
    q = qkv[..., :heads * D].reshape(B, T, D, heads).swapaxes(2, 3)
    k = qkv[..., heads * D:(heads + kv_heads) * D].reshape(B, T, D, kv_heads).swapaxes(2, 3)
    v = qkv[..., (heads + kv_heads) * D:].reshape(B, T, D, kv_heads).swapaxes(2, 3)
    return q, k, v
""", "A head takes every H-th number. Its D numbers are side by side: reshape to (B, T, H, D)."),
        Wrong(Changed(("q, k, v = ", "q, v, k = ")),
              "Keys and values are exchanged: queries come first, then keys, then values."),
        Wrong("""def split_heads(qkv, heads, kv_heads):
    B, T, _ = qkv.shape
    q, k, v = (qkv[..., i::3] for i in range(3))
    return q.reshape(B, T, heads, -1), k.reshape(B, T, kv_heads, -1), v.reshape(B, T, kv_heads, -1)
""", "You take every third number as a query. The parts come one after the other: all queries, all keys, all values."),
        Wrong("""def split_heads(qkv, heads, kv_heads):
    B, T, W = qkv.shape
    D = W // (heads + 2 * kv_heads)
    k, v, q = np.split(qkv, [kv_heads * D, 2 * kv_heads * D], axis=-1)
    return q.reshape(B, T, heads, D), k.reshape(B, T, kv_heads, D), v.reshape(B, T, kv_heads, D)
""", "The parts are in the order queries, keys, values. You take the keys from the beginning."),
        Wrong("""def split_heads(qkv, heads, kv_heads):
    B, T, W = qkv.shape
    x = qkv.reshape(B, T, heads, -1)
    D = x.shape[-1] // 3
    return x[..., :D], x[..., D:2*D], x[..., 2*D:]
""",
              "You take the query, key and value of a head side by side. The parts come one after the other: all queries, all "
              "keys, all values.",
              when=lambda seen: all(map(np.array_equal, seen.got, head_by_head(*seen.inputs)))),
        Wrong("""def split_heads(qkv, heads, kv_heads):
    B, T, W = qkv.shape
    D = W // (3 * heads)
    q, k, v = np.split(qkv, [heads * D, (heads + kv_heads) * D], axis=-1)
    return q.reshape(B, T, heads, D), k.reshape(B, T, kv_heads, D), v.reshape(B, T, kv_heads, D)
""", "A part does not fit its shape. With D = width // (heads + 2 * kv_heads), the queries are H D numbers wide, the keys "
              "G D and the values G D.",
              when=lambda seen: seen.label == "two query heads, one key-value head" and "cannot reshape" in seen.error),
        Wrong("""def split_heads(qkv, heads, kv_heads):
    B, T, width = qkv.shape
    D = width // (heads + 2 * kv_heads)
    kv = qkv[..., heads * D :].reshape(B, T, kv_heads, 2, D)
    return qkv[..., : heads * D].reshape(B, T, heads, D), kv[..., 0, :], kv[..., 1, :]
""", "Key and value of a head are read side by side. The keys of all heads come first, then the values of all heads."),
    ],
)  # fmt: skip
