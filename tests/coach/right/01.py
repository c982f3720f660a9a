"""Right answers to the exercises of chapter 1, written in other ways than ours."""

RIGHT = {
    "row_and_column": [
        "def row_and_column(index, columns):\n    return divmod(index, columns)\n",
        """def row_and_column(index, columns):
    row = 0
    while index >= columns:
        row, index = row + 1, index - columns
    return row, index
""",
    ],
    "reversed_rows": [
        """def reversed_rows(shape, strides, offset):
    down, across = strides
    for _ in range(shape[0] - 1):
        offset += down
    return (-down, across), offset
""",
        """def reversed_rows(shape, strides, offset):
    return (-strides[0], strides[1]), offset - strides[0] + shape[0] * strides[0]
""",
    ],
    "repeat_column": [
        "def repeat_column(stride):\n    return (stride, 0)\n",
        "def repeat_column(stride):\n    strides = [0, stride]\n    return tuple(reversed(strides))\n",
    ],
    "product_element": [
        """def product_element(a, b, i, j):
    total = 0
    for k in range(len(a[i])):
        total += a[i][k] * b[k][j]
    return total
""",
        "def product_element(a, b, i, j):\n    return sum(x * y for x, y in zip(a[i], (row[j] for row in b)))\n",
    ],
    "is_contiguous": [
        """def is_contiguous(shape, strides):
    seen = [(length, stride) for length, stride in zip(shape, strides) if length != 1]
    for i in range(len(seen)):
        product = 1
        for length, _ in seen[i + 1:]:
            product *= length
        if seen[i][1] != product:
            return False
    return True
""",
        """from itertools import product

def is_contiguous(shape, strides):
    places = [sum(i * s for i, s in zip(index, strides)) for index in product(*(range(n) for n in shape))]
    return places == list(range(len(places)))
""",
        """import numpy as np

def is_contiguous(shape, strides):
    last = len(shape) - 1
    return all(n == 1 or s == np.prod(shape[i + 1:], dtype=int) for i, (n, s) in enumerate(zip(shape, strides)))
""",
    ],
    "broadcast_strides": [
        """def broadcast_strides(shape, strides, to):
    shape, strides = list(shape), list(strides)
    while len(shape) < len(to):
        shape.insert(0, 1)
        strides.insert(0, 0)
    if len(shape) > len(to):
        raise ValueError(f"{to} has fewer axes than {shape}")
    result = []
    for have, stride, want in zip(shape, strides, to):
        if have == want:
            result.append(stride)
        elif have == 1:
            result.append(0)
        else:
            raise ValueError(f"{have} does not fit {want}")
    return result
""",
        """import numpy as np

def broadcast_strides(shape, strides, to):
    np.broadcast_to(np.empty(shape), to)
    result = [0] * len(to)
    for back in range(1, len(shape) + 1):
        if shape[-back] != 1:
            result[-back] = strides[-back]
    return tuple(result)
""",
        """import numpy as np

def broadcast_strides(shape, strides, to):
    size = 1 + sum(abs(s) * n for s, n in zip(strides, shape))
    x = np.lib.stride_tricks.as_strided(np.zeros(2 * size, dtype=np.int8)[size:], shape, strides)
    return np.broadcast_to(x, to).strides
""",
    ],
    "strided_copy": [
        """def strided_copy(x, shape, strides, offset=0):
    flat = x.reshape(-1)
    result = np.empty(shape, dtype=x.dtype)
    for index in np.ndindex(*shape):
        place = offset
        for i, stride in zip(index, strides):
            place += i * stride
        result[index] = flat[place]
    return result
""",
        """def strided_copy(x, shape, strides, offset=0):
    flat = x.ravel()

    def part(axis, place):
        if axis == len(shape):
            return flat[place]
        return [part(axis + 1, place + i * strides[axis]) for i in range(shape[axis])]

    return np.array(part(0, offset), dtype=x.dtype).reshape(shape)
""",
        """def strided_copy(x, shape, strides, offset=0):
    steps = [s * x.itemsize for s in strides]
    return np.array(np.lib.stride_tricks.as_strided(x.reshape(-1)[offset:], shape, steps), order="C")
""",
    ],
    "batched_matmul": [
        """def batched_matmul(a, a_strides, b, b_strides, sizes):
    B, N, K, M = sizes
    out = [0.0] * (B * N * M)
    for s in range(B):
        for k in range(K):
            for i in range(N):
                x = a[s * a_strides[0] + i * a_strides[1] + k * a_strides[2]]
                for j in range(M):
                    out[(s * N + i) * M + j] += x * b[s * b_strides[0] + k * b_strides[1] + j * b_strides[2]]
    return out
""",
        """import numpy as np

def batched_matmul(a, a_strides, b, b_strides, sizes):
    B, N, K, M = sizes
    def view(x, shape, strides):
        x = np.array(x, dtype=float)
        return np.lib.stride_tricks.as_strided(x, shape, [8 * stride for stride in strides])
    return (view(a, (B, N, K), a_strides) @ view(b, (B, K, M), b_strides)).ravel()
""",
    ],
    "sum_axis": [
        """def sum_axis(numbers, shape, axis):
    inner = 1
    for n in shape[axis + 1:]:
        inner *= n
    outer = 1
    for n in shape[:axis]:
        outer *= n
    length = shape[axis]
    result = [0.0] * (outer * inner)
    for place, number in enumerate(numbers):
        result[place // (length * inner) * inner + place % inner] += number
    return result
""",
        """import numpy as np

def sum_axis(numbers, shape, axis):
    x = np.array(numbers).reshape(shape)
    total = np.zeros(shape[:axis] + shape[axis + 1:])
    for k in range(shape[axis]):
        total += np.take(x, k, axis)
    return total.reshape(-1)
""",
    ],
    "centre_rows": [
        """def centre_rows(x):
    means = x.mean(axis=-1)
    return x - means[..., None]
""",
        """import numpy as np

def centre_rows(x):
    result = np.empty_like(x)
    for index in np.ndindex(x.shape[:-1]):
        result[index] = x[index] - sum(x[index]) / x.shape[-1]
    return result
""",
        """def centre_rows(x):
    return (x.swapaxes(0, -1) - x.mean(-1).T).swapaxes(0, -1) if x.ndim == 2 else x - x.sum(-1, keepdims=True) / x.shape[-1]
""",
    ],
    "transpose_order": [
        "def transpose_order(n):\n    return [(i, j) for i in range(n) for j in range(n)]",
        """def transpose_order(n):
    def block(top, left, height, width):
        if height * width <= 4:
            for i in range(top, top + height):
                for j in range(left, left + width):
                    yield i, j
        elif height >= width:
            yield from block(top, left, height // 2, width)
            yield from block(top + height // 2, left, height - height // 2, width)
        else:
            yield from block(top, left, height, width // 2)
            yield from block(top, left + width // 2, height, width - width // 2)
    return block(0, 0, n, n)
""",
        """import numpy as np

def transpose_order(n):
    i, j = np.indices((n, n)).reshape(2, -1)
    order = np.lexsort((j, i, j // 8, i // 4))
    return np.stack([i, j], 1)[order]
""",
    ],
}  # fmt: skip
