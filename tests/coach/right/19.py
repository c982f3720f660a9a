"""Right answers to the exercises of chapter 19, written in other ways than ours."""

PASS_ON = """def pass_on(communicator, x):
    communicator.send(x, (communicator.rank + 1) % communicator.size)
    return communicator.recv((communicator.rank - 1) % communicator.size)


"""

RIGHT = {
    "chunk_sent": [
        """def chunk_sent(rank, step, size):
    chunk = rank
    for _ in range(step + 1):
        chunk = chunk - 1 if chunk else size - 1
    return chunk
""",
        "def chunk_sent(rank, step, size):\n    return list(range(size))[(rank - 1 - step) % size]\n",
    ],
    "ring_seconds": [
        """def ring_seconds(ranks, size, latency, bandwidth):
    total = 0.0
    for half in ("reduce-scatter", "all-gather"):
        for step in range(1, ranks):
            total += latency + (size / ranks) / bandwidth
    return total
""",
        """def ring_seconds(ranks, size, latency, bandwidth):
    return 2 * (ranks - 1) * latency + 2 * (ranks - 1) / ranks * size / bandwidth
""",
    ],
    "mean_over_ranks": [
        """def mean_over_ranks(communicator, losses):
    total = communicator.all_reduce(np.array(losses.sum()))
    count = communicator.all_reduce(np.array(float(losses.size)))
    return float(total) / float(count)
""",
        """def mean_over_ranks(communicator, losses):
    count = communicator.all_reduce(np.array([len(losses)]))[0]
    return communicator.all_reduce(np.array([sum(loss / count for loss in losses)], float))[0]
""",
    ],
    "bucket_order": [
        """def bucket_order(layers, least):
    buckets = [[]]
    held = 0
    for i in range(len(layers) - 1, -1, -1):
        if held >= least:
            buckets.append([])
            held = 0
        buckets[-1].append(layers[i][0])
        held += layers[i][1]
    return buckets
""",
        """def bucket_order(layers, least):
    if not layers:
        return []
    held, count = 0, 0
    for _, size in layers[::-1]:
        held, count = held + size, count + 1
        if held >= least:
            break
    return [[name for name, _ in layers[::-1][:count]], *bucket_order(layers[: len(layers) - count], least)]
""",
    ],
    "windows_of_rank": [
        """def windows_of_rank(step, rank, size, count):
    window = np.arange((step + 1) * size * count).reshape(-1, size, count)
    return window[step, rank].tolist()
""",
        """def windows_of_rank(step, rank, size, count):
    before = step * size * count
    return [before + rank * count + i for i in range(count)]
""",
    ],
    "logged_means": [
        """def logged_means(communicator, losses):
    log = []
    for step, loss in enumerate(losses):
        total = communicator.all_reduce(np.array(loss))
        if communicator.rank == 0 and step % 2 == 0:
            log.append(float(total) / communicator.size)
    return log
""",
        """def logged_means(communicator, losses):
    means = communicator.all_reduce(np.array(losses[::2])) / communicator.size
    return [] if communicator.rank else means.tolist()
""",
    ],
    "ring_reduce_scatter": [
        PASS_ON + """def ring_reduce_scatter(communicator, chunks):
    order = [(communicator.rank - 1 - step) % communicator.size for step in range(communicator.size)]
    moving = chunks[order[0]]
    for index in order[1:]:
        moving = pass_on(communicator, moving) + chunks[index]
    return moving
""",
        """def ring_reduce_scatter(communicator, chunks):
    rank, size = communicator.rank, communicator.size
    sums = [chunk.copy() for chunk in chunks]
    index = rank - 1
    for _ in range(size - 1):
        communicator.send(sums[index % size], (rank + 1) % size)
        index -= 1
        sums[index % size] += communicator.recv((rank - 1) % size)
    return sums[rank]
""",
    ],
    "ring_all_gather": [
        PASS_ON + """def ring_all_gather(communicator, chunk):
    arrived = [chunk]
    for _ in range(communicator.size - 1):
        arrived.append(pass_on(communicator, arrived[-1]))
    return [arrived[(communicator.rank - i) % communicator.size] for i in range(communicator.size)]
""",
        """def ring_all_gather(communicator, chunk):
    rank, size = communicator.rank, communicator.size
    found = {rank: chunk}
    for step in range(1, size):
        communicator.send(found[(rank - step + 1) % size], (rank + 1) % size)
        found[(rank - step) % size] = communicator.recv((rank - 1) % size)
    return [found[i] for i in sorted(found)]
""",
    ],
    "ring_all_reduce": [
        """def ring_all_reduce(communicator, x):
    size = communicator.size
    row = x.ravel()
    n = -(-len(row) // size)
    own = ring_reduce_scatter(communicator, [row[r * n : (r + 1) * n] for r in range(size)])
    return np.hstack(ring_all_gather(communicator, own)).reshape(x.shape)
""",
        """def ring_all_reduce(communicator, x):
    ends = [round(i * x.size / communicator.size) for i in range(communicator.size + 1)]
    pieces = [x.flatten()[a:b] for a, b in zip(ends, ends[1:])]
    result = np.empty(x.size, x.dtype)
    for a, b, piece in zip(ends, ends[1:], ring_all_gather(communicator, ring_reduce_scatter(communicator, pieces))):
        result[a:b] = piece
    return result.reshape(x.shape)
""",
    ],
    "sharded_adamw": [
        """def sharded_adamw(communicator, p, g, m, v, t, rate):
    mine = np.split(p, communicator.size)[communicator.rank]
    new, m, v = adamw(mine, communicator.reduce_scatter(g / communicator.size), m, v, t, rate)
    return communicator.all_gather(new), m, v
""",
        """def sharded_adamw(communicator, p, g, m, v, t, rate):
    rank, size = communicator.rank, communicator.size
    total = communicator.reduce_scatter(g.reshape(size, -1))[0]
    new, m, v = adamw(p.reshape(size, -1)[rank], total * (1 / size), m, v, t, rate)
    return [communicator.all_gather(new[None]).reshape(-1), m, v]
""",
    ],
    "column_then_row": [
        """def column_then_row(communicator, x, A, B):
    columns = np.split(A, communicator.size, axis=1)[communicator.rank]
    rows = np.split(B, communicator.size)[communicator.rank]
    return communicator.all_reduce(gelu(x @ columns) @ rows)
""",
        """def column_then_row(communicator, x, A, B):
    part = len(B) // communicator.size
    y = np.zeros((len(x), B.shape[1]))
    for j in range(communicator.rank * part, (communicator.rank + 1) * part):
        y += np.outer(gelu(x @ A[:, j]), B[j])
    return communicator.all_reduce(y)
""",
    ],
    "same_windows": [
        """def same_windows(communicator, windows):
    rows = np.split(communicator.all_gather(windows), communicator.size)
    found = set()
    for a in range(len(rows)):
        for b in range(a):
            if np.intersect1d(rows[a], rows[b]).size:
                found |= {a, b}
    return sorted(found)
""",
        """def same_windows(communicator, windows):
    readers = {}
    for place, window in enumerate(communicator.all_gather(windows).tolist()):
        readers.setdefault(window, set()).add(place // len(windows))
    return sorted(set().union(*(ranks for ranks in readers.values() if len(ranks) > 1)))
""",
    ],
}  # fmt: skip
