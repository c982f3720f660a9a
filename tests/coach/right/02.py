"""Right answers to the exercises of chapter 2, written in other ways than ours."""

RIGHT = {
    "line_slopes": [
        """def line_slopes(w, b, x, target):
    prediction = w * x + b
    return x * 2 * (prediction - target), 2 * (prediction - target)
""",
        """def line_slopes(w, b, x, target):
    at_b = 2 * (w * x) + 2 * b - 2 * target
    return at_b * x, at_b
""",
    ],
    "count_paths": [
        """def count_paths(inputs, start, end):
    total = 0
    if start == end:
        total = 1
    elif start in inputs:
        for source in inputs[start]:
            total += count_paths(inputs, source, end)
    return total
""",
        """def count_paths(inputs, start, end):
    found, waiting = 0, [start]
    while waiting:
        name = waiting.pop()
        found += name == end
        if name != end:
            waiting += inputs.get(name, [])
    return found
""",
    ],
    "broadcast_gradients": [
        "def broadcast_gradients(dy):\n    return np.ones(len(dy)) @ dy, dy @ np.ones((dy.shape[1], 1))\n",
        """def broadcast_gradients(dy):
    row = np.zeros(dy.shape[1])
    for line in dy:
        row += line
    return row, dy.sum(axis=-1)[:, None]
""",
    ],
    "gradient_descent": [
        """def gradient_descent(gradient, w, rate, steps):
    while steps > 0:
        w -= rate * gradient(w)
        steps -= 1
    return w
""",
        """def gradient_descent(gradient, w, rate, steps):
    if steps == 0:
        return w
    return gradient_descent(gradient, w - rate * gradient(w), rate, steps - 1)
""",
    ],
    "repeated_axes": [
        """def repeated_axes(shape, to):
    missing = len(to) - len(shape)
    padded = (1,) * missing + shape
    axes = []
    for axis in range(len(to)):
        if axis < missing or padded[axis] != to[axis]:
            axes.append(axis)
    return tuple(axes)
""",
        """import numpy as np

def repeated_axes(shape, to):
    shown = np.broadcast_to(np.empty(shape), to)
    front = len(to) - len(shape)
    return tuple(a for a, step in enumerate(shown.strides) if a < front or (step == 0 and shape[a - front] == 1 and to[a] > 1))
""",
    ],
    "topological_order": [
        """def topological_order(root):
    order, done, stack = [], set(), [(root, False)]
    while stack:
        node, parents_done = stack.pop()
        if parents_done:
            order.append(node)
        elif node not in done:
            done.add(node)
            stack.append((node, True))
            stack += [(edge[0], False) for edge in node.parents if edge is not None and edge[0] not in done]
    return order
""",
        """def topological_order(root):
    uses, todo = {root: 0}, [root]
    while todo:
        for edge in todo.pop().parents:
            if edge is None:
                continue
            if edge[0] not in uses:
                uses[edge[0]] = 0
                todo.append(edge[0])
            uses[edge[0]] += 1
    ready, walk = [root], []
    while ready:
        node = ready.pop()
        walk.append(node)
        for edge in node.parents:
            if edge is not None:
                uses[edge[0]] -= 1
                if uses[edge[0]] == 0:
                    ready.append(edge[0])
    return walk[::-1]
""",
    ],
    "numerical_gradient": [
        """def numerical_gradient(function, x, step=1e-5):
    result = np.empty(x.shape)
    for index in np.ndindex(*x.shape):
        before = x[index]
        x[index] = before + step
        up = function(x)
        x[index] = before - step
        down = function(x)
        x[index] = before
        result[index] = (up - down) / (2 * step)
    return result
""",
        """def numerical_gradient(function, x, step=1e-5):
    directions = np.eye(x.size).reshape(x.size, *x.shape) * step
    slopes = [(function(x + d) - function(x - d)) / (2 * step) for d in directions]
    return np.array(slopes).reshape(x.shape)
""",
    ],
    "backward_pass": [
        """from collections import defaultdict

def backward_pass(tape, last):
    gradients = defaultdict(float)
    gradients[last] = 1.0
    for result, inputs in tape[::-1]:
        for name, slope in inputs:
            gradients[name] += gradients[result] * slope
    return dict(gradients)
""",
        """def backward_pass(tape, last):
    gradients = {last: 1.0}
    for place in range(len(tape) - 1, -1, -1):
        result, inputs = tape[place]
        for name, slope in inputs:
            if name not in gradients:
                gradients[name] = 0.0
            gradients[name] = gradients[name] + slope * gradients[result]
    return gradients
""",
    ],
    "local_gradients": [
        """def local_gradients(operation, inputs):
    rules = {
        "subtract": lambda a, b: (1, -1),
        "divide": lambda a, b: (1 / b, -(a / b) / b),
        "exp": lambda x: (math.e ** x,),
        "log": lambda x: (x ** -1,),
        "tanh": lambda x: ((1 - math.tanh(x)) * (1 + math.tanh(x)),),
        "maximum": lambda a, b: ((a > b) + (a == b) / 2, (b > a) + (a == b) / 2),
    }
    return rules[operation](*inputs)
""",
        """import numpy as np

def local_gradients(operation, inputs):
    a, b = (list(inputs) + [0.0])[:2]
    if operation == "divide":
        return [1 / b, -a / b ** 2]
    if operation == "tanh":
        return [1 - np.tanh(a) ** 2]
    if operation == "exp":
        return [np.exp(a)]
    if operation == "log":
        return [1 / a]
    if operation == "maximum":
        first = 0.5 * (1 + np.sign(a - b))
        return [first, 1 - first]
    return np.array([1.0, -1.0])
""",
    ],
    "linear_backward": [
        """def linear_backward(dy, x, weight, has_bias):
    dx = np.einsum("...n,nk->...k", dy, weight)
    rows = dy.reshape(-1, len(weight))
    dweight = np.einsum("an,ak->nk", rows, x.reshape(len(rows), -1))
    dbias = np.einsum("an->n", rows) if has_bias else None
    return dx, dweight, dbias
""",
        """def linear_backward(dy, x, weight, has_bias):
    dx = np.zeros_like(x)
    dweight = np.zeros_like(weight)
    dbias = np.zeros(len(weight), dy.dtype)
    for index in np.ndindex(x.shape[:-1]):
        for n in range(len(weight)):
            dx[index] += dy[index][n] * weight[n]
            dweight[n] += dy[index][n] * x[index]
            dbias[n] += dy[index][n]
    return [dx, dweight, dbias if has_bias else None]
""",
    ],
    "normalise_rows_backward": [
        """def normalise_rows_backward(dy, x):
    dx = np.empty_like(x)
    for index in np.ndindex(x.shape[:-1]):
        row, d = x[index], dy[index]
        size = np.sqrt(row @ row)
        dx[index] = d / size - row * (row @ d) / size**3
    return dx
""",
        """def normalise_rows_backward(dy, x):
    size = np.linalg.norm(x, axis=-1)[..., None]
    y = x / size
    projection = np.einsum("...i,...i->...", dy, y)
    return (dy - projection[..., None] * y) / size
""",
    ],
    "choose_checkpoints": [
        """def choose_checkpoints(sizes):
    best = None
    for limit in range(1, sum(sizes) + 1):
        kept, stretch, longest = [], 0, 0
        for place, size in enumerate(sizes):
            if stretch + size > limit:
                kept.append(place)
                stretch = 0
            else:
                stretch += size
                longest = max(longest, stretch)
        need = sum(sizes[p] for p in kept) + longest
        if best is None or need < best[0]:
            best = (need, kept)
    return best[1]
""",
        """import numpy as np

def choose_checkpoints(sizes):
    sizes, most = np.array(sizes), max(sizes)
    best, best_need = set(), sizes.sum()
    for limit in range(1, int(sizes.sum()) + 1):
        cost, before = [0], [None]
        for end in range(len(sizes) + 1):  # cost of keeping value `end` (the last one is a fence without a size)
            price = 0 if end == len(sizes) else sizes[end]
            options = [(cost[start] + price, start) for start in range(end + 1) if sizes[start:end].sum() <= limit]
            if not options:
                break
            total, start = min(options)
            cost.append(total)
            before.append(start)
        else:
            if cost[-1] + limit < best_need:
                best_need, best, at = cost[-1] + limit, set(), before[-1]
                while at:
                    best.add(at - 1)
                    at = before[at]
        if limit > 4 * most + 20:
            break
    return sorted(best)
""",
    ],
}  # fmt: skip
