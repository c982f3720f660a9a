"""Right answers to the exercises of chapter 17, written in other ways than ours."""

RIGHT = {
    "likeliest_pair": [
        """def likeliest_pair(first, after):
    both = first[:, None] * after
    return tuple(int(i) for i in np.unravel_index(both.argmax(), both.shape))
""",
        """def likeliest_pair(first, after):
    pairs = [(a, b) for a in range(len(first)) for b in range(len(first))]
    return max(pairs, key=lambda pair: first[pair[0]] * after[pair])
""",
    ],
    "at_temperature": [
        """def at_temperature(probabilities, temperature):
    raised = probabilities ** (1 / temperature)
    return raised / raised.sum()
""",
        """def at_temperature(probabilities, temperature):
    logits = np.log(probabilities / probabilities.max()) / temperature
    return np.exp(logits) / np.exp(logits).sum()
""",
    ],
    "sample_tokens": [
        """def draw(probabilities, uniform):
    tokens = []
    for row, number in zip(probabilities, uniform):
        ends = np.cumsum(row)
        tokens.append(int(np.searchsorted(ends, number * ends[-1], side="right")))
    return np.array(tokens)
""",
        """def draw(probabilities, uniform):
    R, V = probabilities.shape
    tokens = np.zeros(R, int)
    for r in range(R):
        left = uniform[r] * sum(probabilities[r])
        for v in range(V):
            left -= probabilities[r, v]
            if left < 0:
                tokens[r] = v
                break
    return tokens
""",
    ],
    "softmax_temperature": [
        """def softmax(logits, temperature=1.0):
    result = np.zeros(logits.shape)
    for row, out in zip(logits, result):
        if temperature == 0:
            out[np.argmax(row)] = 1
        else:
            e = np.exp((row.astype(float) - max(row)) / temperature)
            out[:] = e / sum(e)
    return result
""",
        """def softmax(logits, temperature=1.0):
    if not temperature:
        return (np.arange(logits.shape[-1]) == logits.argmax(-1)[:, None]).astype(float)
    scaled = logits.astype(np.float64) / temperature
    return np.exp(scaled - np.logaddexp.reduce(scaled, axis=-1, keepdims=True))
""",
    ],
    "top_p_filter": [
        """def top_p_filter(probabilities, p):
    result = np.zeros(probabilities.shape)
    for r, row in enumerate(probabilities):
        total = 0.0
        for v in sorted(range(len(row)), key=lambda v: -row[v]):
            if total >= p:
                break
            result[r, v] = row[v]
            total += row[v]
        result[r] = result[r] / total
    return result
""",
        """def top_p_filter(probabilities, p):
    ranks = np.argsort(np.argsort(-probabilities, axis=1, kind="stable"), axis=1)
    falling = -np.sort(-probabilities, axis=1)
    count = 1 + (np.cumsum(falling, axis=1)[:, :-1] < p).sum(axis=1, keepdims=True)
    kept = probabilities * (ranks < count)
    return kept / kept.sum(axis=1, keepdims=True)
""",
    ],
    "top_k_filter": [
        """def top_k_filter(probabilities, k):
    result = np.zeros(probabilities.shape)
    for row, out in zip(probabilities, result):
        least = sorted(row, reverse=True)[:k][-1]
        for v, share in enumerate(row):
            if share >= least:
                out[v] = share
        out /= out.sum()
    return result
""",
        """def top_k_filter(probabilities, k):
    V = probabilities.shape[-1]
    if k >= V:
        return probabilities / probabilities.sum(-1, keepdims=True)
    least = np.partition(probabilities, V - k, axis=-1)[:, V - k][:, None]
    larger = (probabilities[:, None, :] > probabilities[:, :, None]).sum(-1)
    kept = probabilities * ((larger < k) & (probabilities >= least))
    return kept / kept.sum(-1, keepdims=True)
""",
    ],
    "cached_attention": [
        """def cached_attention(cache, q, k, v):
    if not cache:
        cache.extend([[], []])
    keys, values = cache
    keys.append(k)
    values.append(v)
    scores = [float(q @ key) / np.sqrt(len(q)) for key in keys]
    shares = [np.exp(score - max(scores)) for score in scores]
    return sum(share * value for share, value in zip(shares, values)) / sum(shares)
""",
        """def cached_attention(cache, q, k, v):
    if cache:
        cache[0] = np.vstack([cache[0], k])
        cache[1] = np.vstack([cache[1], v])
    else:
        cache += [k[np.newaxis], v[np.newaxis]]
    scores = cache[0] @ q * len(q) ** -0.5
    weights = np.exp(scores - np.logaddexp.reduce(scores))
    return weights @ cache[1]
""",
    ],
    "greedy_decoding": [
        """def greedy_decoding(model, ids, count):
    cache, all_of_them = model.new_cache(), np.array(ids)
    with no_grad():
        step = all_of_them
        for _ in range(count):
            step = model(step[None], cache=cache).numpy()[0, -1:].argmax(-1)
            all_of_them = np.concatenate([all_of_them, step])
    return all_of_them.tolist()
""",
        """def greedy_decoding(model, ids, count):
    cache, read = model.new_cache(), 0
    with no_grad():
        while count > 0:
            logits = model(np.array([ids[read:]]), cache=cache)
            read = len(ids)
            ids = ids + [int(np.argmax(logits.numpy()[0, -1]))]
            count -= 1
    return ids
""",
    ],
    "most_likely_text": [
        """def most_likely_text(probabilities, length):
    width = 16
    beams = [(0.0, [])]
    for _ in range(length):
        longer = [(s - np.log(p), tokens + [v]) for s, tokens in beams for v, p in enumerate(probabilities(tokens))]
        beams = sorted(longer)[:width]
    return beams[0][1]
""",
        """import heapq

def most_likely_text(probabilities, length):
    # the most promising beginning goes on first, as long as there are questions left
    waiting, asked = [(0.0, ())], 0
    while len(waiting[0][1]) < length and asked < 140:
        surprise, tokens = heapq.heappop(waiting)
        asked += 1
        for token, share in enumerate(probabilities(list(tokens))):
            heapq.heappush(waiting, (surprise - float(np.log(share)), (*tokens, token)))
    tokens = min(waiting, key=lambda one: (-len(one[1]), one[0]))[1]
    while len(tokens) < length:
        tokens = (*tokens, int(probabilities(list(tokens)).argmax()))
    return tokens
""",
    ],
}  # fmt: skip
