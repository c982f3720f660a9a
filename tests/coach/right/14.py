"""Right answers to the exercises of chapter 14, written in other ways than ours."""

RIGHT = {
    "needed_score": [
        """def needed_score(weight, tokens, D):
    rest = (1 - weight) / (tokens - 1)
    return (math.log(weight) - math.log(rest)) * D ** 0.5
""",
        """def needed_score(weight, tokens, D):
    low, high = -1000.0, 1000.0
    for _ in range(100):
        middle = (low + high) / 2
        if 1 / (1 + (tokens - 1) * math.exp(min(700.0, -middle / math.sqrt(D)))) < weight:
            low = middle
        else:
            high = middle
    return low
""",
    ],
    "causal_weights": [
        """def causal_weights(weights):
    result = np.zeros_like(weights)
    for i in range(len(weights)):
        result[i, : i + 1] = weights[i, : i + 1] / weights[i, : i + 1].sum()
    return result
""",
        """def causal_weights(weights):
    T = len(weights)
    scores = np.where(np.tri(T, dtype=bool), np.log(weights), -np.inf)
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)
""",
    ],
    "keys_back": [
        """def keys_back(T, back):
    keys = np.zeros((T, T))
    for j in range(T - back):
        keys[j, j + back] = 1
    return keys
""",
        """def keys_back(T, back):
    return np.roll(np.eye(T), back, axis=1)
""",
        """def keys_back(T, back):
    return 2.0 * np.eye(T + back)[back:, :T]
""",
    ],
    "one_rotation": [
        """def one_rotation(query, p, s, frequency):
    return rotate(rotate(query, p * frequency), -s * frequency)
""",
        """def one_rotation(query, p, s, frequency):
    turned = complex(*query) * np.exp(1j * (p - s) * frequency)
    return np.array([turned.real, turned.imag])
""",
    ],
    "split_heads": [
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
    "attention_forward": [
        """def attention_forward(q, k, v, causal=True):
    B, T, H, D = q.shape
    S, G = k.shape[1], k.shape[2]
    y, logsumexp = np.zeros_like(q), np.zeros((B, H, T), q.dtype)
    for b in range(B):
        for h in range(H):
            g = h // (H // G)
            for t in range(T):
                see = S - T + t + 1 if causal else S
                scores = k[b, :see, g] @ q[b, t, h] / D ** 0.5
                e = np.exp(scores - scores.max())
                y[b, t, h] = e @ v[b, :see, g] / e.sum()
                logsumexp[b, h, t] = scores.max() + np.log(e.sum())
    return y, logsumexp
""",
        """import math

def attention_forward(q, k, v, causal=True):
    B, T, H, D = q.shape
    _, S, G, _ = k.shape
    grouped = q.reshape(B, T, G, H // G, D)
    scores = np.einsum("btgrd,bsgd->bgrts", grouped, k) / math.sqrt(D)
    if causal:
        scores[..., np.arange(S)[None, :] > np.arange(T)[:, None] + S - T] = -np.inf
    top = scores.max(-1, keepdims=True)
    e = np.exp(scores - top)
    total = e.sum(-1, keepdims=True)
    y = np.einsum("bgrts,bsgd->btgrd", e / total, v).reshape(B, T, H, D)
    return np.ascontiguousarray(y), (top + np.log(total)).reshape(B, H, T)
""",
    ],
    "head_attention": [
        """def head_attention(q, k, v):
    T, S, D = len(q), len(k), q.shape[1]
    y = np.zeros((T, v.shape[1]))
    for t in range(T):
        last = S - T + t + 1
        scores = k[:last] @ q[t] / np.sqrt(D)
        e = np.exp(scores - scores.max())
        y[t] = (e[:, None] * v[:last]).sum(0) / e.sum()
    return y
""",
        """def head_attention(q, k, v):
    scores = np.einsum("td,sd->ts", q / q.shape[1] ** 0.5, k)
    scores[np.arange(len(k)) > np.arange(len(q))[:, None] + len(k) - len(q)] = -np.inf
    scores -= scores.max(1)[:, None]
    e = np.exp(scores)
    return e @ v / e.sum(1)[:, None]
""",
    ],
    "block_forward": [
        """def forward(self, stream, branch, rotation, cache):
    total = stream if branch is None else stream + branch
    attended = self.dropout1(self.attention(self.norm1(total), rotation, cache))
    total = total + attended
    return total, self.dropout2(self.mlp(self.norm2(total)))
""",
        """def forward(self, stream, branch, rotation, cache):
    if branch is not None:
        normed, stream = self.norm1(branch, stream)
    else:
        normed = self.norm1(stream)
    look = self.attention.forward(normed, rotation, cache)
    normed, after = self.norm2(self.dropout1(look), stream)
    return (after, self.dropout2(self.mlp.forward(normed)))
""",
    ],
    "causal_mask": [
        """def causal_mask(scores):
    result = scores.copy()
    T, S = scores.shape[-2:]
    for t in range(T):
        result[..., t, S - T + t + 1:] = -np.inf
    return result
""",
        """def causal_mask(scores):
    T, S = scores.shape[-2:]
    later = np.arange(S)[None, :] - (S - T) > np.arange(T)[:, None]
    hidden = np.array(scores)
    hidden[..., later] = float("-inf")
    return hidden
""",
        """def causal_mask(scores):
    T, S = scores.shape[-2:]
    return scores + np.triu(np.full((T, S), -np.inf, dtype=scores.dtype), k=S - T + 1)
""",
    ],
    "embedding_backward": [
        """def embedding_backward(dy, indices, rows):
    dtable = np.zeros((rows, dy.shape[-1]), dy.dtype)
    for place in np.ndindex(indices.shape):
        dtable[indices[place]] += dy[place]
    return dtable
""",
        """def embedding_backward(dy, indices, rows):
    one_hot = np.eye(rows, dtype=dy.dtype)[indices.reshape(-1)]
    return one_hot.T @ dy.reshape(-1, dy.shape[-1])
""",
        """def embedding_backward(dy, indices, rows):
    ids, flat = indices.ravel(), dy.reshape(-1, dy.shape[-1])
    return np.stack([flat[ids == row].sum(axis=0) for row in range(rows)])
""",
    ],
    "tied_gradient": [
        """def tied_gradient(ids, dx, x, dlogits):
    dtable = dlogits.T @ x
    for t, token in enumerate(ids):
        dtable[token] += dx[t]
    return dtable
""",
        """def tied_gradient(ids, dx, x, dlogits):
    one_hot = np.eye(dlogits.shape[1])[ids]
    return np.einsum("tv,tc->vc", one_hot, dx) + np.einsum("tv,tc->vc", dlogits, x)
""",
        """def tied_gradient(ids, dx, x, dlogits):
    T, V = dlogits.shape
    C = x.shape[1]
    result = [[0.0] * C for _ in range(V)]
    for t in range(T):
        for c in range(C):
            for v in range(V):
                result[v][c] += dlogits[t, v] * x[t, c]
            result[ids[t]][c] += dx[t, c]
    return result
""",
    ],
    "count_parameters": [
        """def count_parameters(layers, channels, context, vocab):
    C = channels
    linear = lambda a, b: a * b + b
    norm = 2 * C
    block = norm + linear(C, 3 * C) + linear(C, C) + norm + linear(C, 4 * C) + linear(4 * C, C)
    return vocab * C + context * C + layers * block + norm + vocab
""",
        """import numpy as np

def count_parameters(layers, channels, context, vocab):
    C, F = channels, 4 * channels
    block = [(C,), (C,), (3 * C, C), (3 * C,), (C, C), (C,), (C,), (C,), (F, C), (F,), (C, F), (C,)]
    shapes = [(vocab, C), (context, C)] + layers * block + [(C,), (C,), (vocab,)]
    return sum(int(np.prod(shape)) for shape in shapes)
""",
    ],
    "memory_efficient_attention": [
        """def memory_efficient_attention(q, k, v):
    scores = q @ k.T * q.shape[1] ** -0.5
    scores = np.where(np.tri(len(q), dtype=bool), scores, -np.inf)
    e = np.exp(scores - scores.max(axis=1, keepdims=True))
    return (e / e.sum(axis=1, keepdims=True)) @ v
""",
        """def memory_efficient_attention(q, k, v):
    T, D = q.shape
    y = np.empty_like(v)
    for t in range(T):
        largest, total, mixed = -np.inf, 0.0, np.zeros(v.shape[1])
        for start in range(0, t + 1, 16):
            end = min(start + 16, t + 1)
            scores = k[start:end] @ q[t] / D ** 0.5
            new = max(largest, scores.max())
            e = np.exp(scores - new)
            shrink = np.exp(largest - new)
            total = total * shrink + e.sum()
            mixed = mixed * shrink + e @ v[start:end]
            largest = new
        y[t] = mixed / total
    return y
""",
    ],
}  # fmt: skip
