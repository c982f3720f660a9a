"""Right answers to the exercises of chapter 22b, written in other ways than ours."""

RIGHT = {
    "slot_of_row": [
        """def slot_of_row(table, j, rows):
    page, row = divmod(j, rows)
    return table[page] * rows + row
""",
        """def slot_of_row(table, j, rows):
    slots = [page * rows + row for page in table for row in range(rows)]
    return slots[j]
""",
    ],
    "release": [
        """def release(table, holders):
    for page in table:
        if holders[page] == 0:
            raise ValueError("freed twice")
        holders[page] -= 1
    freed = [page for page in table if holders[page] == 0]
    del table[:]
    return freed
""",
        """def release(table, holders):
    freed = []
    while table:
        page = table.pop(0)
        holders[page] = holders[page] - 1
        if not holders[page]:
            freed = freed + [page]
    return freed
""",
    ],
    "absorb_query": [
        """def absorb_query(q, w_uk):
    return np.array([q[h] @ w_uk[h] for h in range(len(q))])
""",
        """def absorb_query(q, w_uk):
    return (q[:, None, :] @ w_uk)[:, 0]
""",
    ],
    "next_in_line": [
        """def next_in_line(waiting, running):
    fewest = min(running.count(client) for client in waiting)
    for i, client in enumerate(waiting):
        if running.count(client) == fewest:
            return i
""",
        """def next_in_line(waiting, running):
    busy = {client: 0 for client in waiting}
    for client in running:
        if client in busy:
            busy[client] += 1
    return sorted(range(len(waiting)), key=lambda i: busy[waiting[i]])[0]
""",
    ],
    "share_budget": [
        """def share_budget(needed, budget):
    order = sorted(range(len(needed)), key=lambda i: needed[i] != 1)
    given = [0] * len(needed)
    for i in order:
        given[i] = min(needed[i], budget)
        budget -= given[i]
    return given
""",
        """def share_budget(needed, budget):
    given = {}
    for i, count in enumerate(needed):
        if count == 1:
            given[i] = 1 if budget > 0 else 0
            budget -= given[i]
    for i, count in enumerate(needed):
        if count > 1:
            given[i] = min(count, max(budget, 0))
            budget -= given[i]
    return [given[i] for i in range(len(needed))]
""",
    ],
    "page_for_next": [
        """def page_for_next(table, length, rows, holders, free):
    at = length // rows
    if at == len(table):
        table.append(free.pop())
        holders[table[at]] = 1
        return None
    page = table[at]
    if holders[page] > 1:
        holders[page] -= 1
        table[at] = free.pop()
        holders[table[at]] += 1
        return page
    return None
""",
        """def page_for_next(table, length, rows, holders, free):
    number = length // rows
    there = number < len(table)
    if there and holders[table[number]] < 2:
        return
    new = free[-1]
    del free[-1]
    holders[new] = 1
    old = None
    if there:
        old = table[number]
        holders[old] = holders[old] - 1
    table[number : number + 1] = [new]
    return old
""",
    ],
    "accept": [
        """def accept(target, draft, drafted, uniform):
    tokens = []
    for i, token in enumerate(drafted):
        p, q = target[i], draft[i]
        if uniform[i] < p[token] / q[token]:
            tokens.append(token)
        else:
            rest = np.where(p > q, p - q, 0)
            tokens.append(draw(rest / rest.sum(), uniform[-1]))
            return tokens
    tokens.append(draw(target[len(drafted)], uniform[-1]))
    return tokens
""",
        """def accept(target, draft, drafted, uniform):
    count = 0
    while count < len(drafted) and uniform[count] * draft[count][drafted[count]] < target[count][drafted[count]]:
        count += 1
    p = target[count] if count == len(drafted) else np.clip(target[count] - draft[count], 0, None)
    return drafted[:count] + [draw(p, uniform[len(drafted)])]
""",
    ],
    "paged_gather": [
        r"""template <class X> __global__ void paged_gather(const X* pages, const int* table, X* y, int count, int N, int row) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count * row) {
        int j = i / row, c = i - j * row, page = j / N;
        const X* from = pages + (long long)table[page] * N * row;
        y[i] = from[(j - page * N) * row + c];
    }
}
""",
        r"""template <class X> __global__ void paged_gather(const X* pages, const int* table, X* y, int count, int N, int row) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count * row; i += gridDim.x * blockDim.x) {
        long long size = (long long)N * row;
        y[i] = pages[table[i / size] * size + i % size];
    }
}
""",
    ],
    "paged_append": [
        r"""template <class X>
__global__ void paged_append(const X* k, const X* v, X* k_pages, X* v_pages, const int* slots, int n, int row) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n * row) {
        int token = i / row, c = i - token * row;
        long long from = (long long)slots[token] * row;
        X* key = k_pages + from;
        X* value = v_pages + from;
        key[c] = k[i];
        value[c] = v[i];
    }
}
""",
        r"""template <class X>
__global__ void paged_append(const X* k, const X* v, X* k_pages, X* v_pages, const int* slots, int n, int row) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n * row; i += gridDim.x * blockDim.x) {
        long long slot = slots[i / row];
        v_pages[slot * row + i % row] = v[i];
        k_pages[slot * row + i % row] = k[i];
    }
}
""",
    ],
    "paged_append_int8": [
        r"""#include "one_query.cuh"

__device__ int code_of(float x, float scale) { return scale > 0.0f ? __float2int_rn(x / scale) : 0; }

__device__ void pack_row(const float* x, unsigned* words, int d, int lane) {
    float largest = 0.0f;
    for (int i = lane; i < d; i += 32) largest = fmaxf(largest, fabsf(x[i]));
    const float scale = warp_max<32>(largest) / 127.0f;
    const int last = (d + 3) / 4;
    for (int w = lane; w < last; w += 32) {
        unsigned word = 0;
        for (int i = min(d, 4 * w + 4) - 1; i >= 4 * w; i--) word = word << 8 | (unsigned char)code_of(x[i], scale);
        words[w] = word;
    }
    if (lane == 0) words[last] = __float_as_uint(scale);
}

__global__ void paged_append_int8(const float* k, const float* v, unsigned* k_pages, unsigned* v_pages, const int* slots,
                                  int rows, int G, int d) {
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32, W = (d + 3) / 4 + 1;
    if (i >= rows) return;
    const long long at = ((long long)slots[i / G] * G + i % G) * W;
    pack_row(k + (long long)i * d, k_pages + at, d, lane);
    pack_row(v + (long long)i * d, v_pages + at, d, lane);
}
""",
        r"""#include "one_query.cuh"

__global__ void paged_append_int8(const float* k, const float* v, unsigned* k_pages, unsigned* v_pages, const int* slots,
                                  int rows, int G, int d) {
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32, last = (d + 3) / 4;
    if (i >= rows) return;
    for (int which = 0; which < 2; which++) {
        const float* x = (which ? v : k) + (long long)i * d;
        unsigned* words = (which ? v_pages : k_pages) + ((long long)slots[i / G] * G + i % G) * (last + 1);
        float largest = 0.0f;
        for (int j = 0; j < d; j++) largest = fmaxf(largest, fabsf(x[j]));
        const float scale = largest / 127.0f;
        for (int w = lane; w <= last; w += 32) {
            unsigned word = w == last ? __float_as_uint(scale) : 0u;
            for (int j = 0; j < 4; j++)
                if (4 * w + j < d && scale != 0.0f) word += ((unsigned)(int)rintf(x[4 * w + j] / scale) % 256u) << (8 * j);
            words[w] = word;
        }
    }
}
""",
    ],
    "paged_attention_int8": [
        r"""#include "one_query.cuh"

struct Int8Row {
    const unsigned* words;
    float scale;
    __device__ float operator[](int i) const { return (float)((const signed char*)words)[i] * scale; }
};

template <int D>
__global__ void __launch_bounds__(READER_THREADS)
paged_attention_int8(const float* q, const unsigned* k, const unsigned* v, const int* tables, const int* positions, float* y,
                     int M, int N, int H, int G, int d, float scale) {
    const int h = blockIdx.x, r = blockIdx.y, g = h / (H / G), W = (d + 3) / 4 + 1;
    const int* table = tables + (long long)r * M;
    const long long query = ((long long)r * H + h) * d;
    const auto row = [=](const unsigned* pages, int s) {
        const unsigned* words = pages + (((long long)table[s / N] * N + s % N) * G + g) * W;
        return Int8Row{words, __uint_as_float(words[W - 1])};
    };
    attend_one<D>(
        q + query, positions[r] + 1, d, scale, [=](int s) { return row(k, s); }, [=](int s) { return row(v, s); },
        [=](int i, float number) { store(&y[query + i], number); });
}
""",
        r"""#include "one_query.cuh"

struct Int8Row {
    const unsigned* words;
    float scale;
    __device__ float operator[](int i) const {
        const int shifted = (int)(words[i / 4] << (24 - 8 * (i % 4)));
        return scale * (float)(shifted >> 24);
    }
};

template <int D>
__global__ void __launch_bounds__(READER_THREADS)
paged_attention_int8(const float* q, const unsigned* k, const unsigned* v, const int* tables, const int* positions, float* y,
                     int M, int N, int H, int G, int d, float scale) {
    const int h = blockIdx.x, r = blockIdx.y, g = h / (H / G), W = (d + 3) / 4 + 1;
    const int* table = tables + (long long)r * M;
    const long long query = ((long long)r * H + h) * d;
    const auto row = [=](const unsigned* pages, int s) {
        const unsigned* words = pages + (((long long)table[s / N] * N + s % N) * G + g) * W;
        return Int8Row{words, __uint_as_float(words[W - 1])};
    };
    attend_one<D>(
        q + query, positions[r] + 1, d, scale, [=](int s) { return row(k, s); }, [=](int s) { return row(v, s); },
        [=](int i, float number) { store(&y[query + i], number); });
}
""",
    ],
    "paged_attention_forward": [
        """def paged_attention_forward(q, k_pages, v_pages, tables, positions):
    H, D = q.shape[1:]
    N, G = k_pages.shape[1:3]
    y = np.zeros_like(q)
    for r in range(len(q)):
        rows = np.arange(positions[r] + 1)
        pages, at = tables[r][rows // N], rows % N
        k, v = k_pages[pages, at], v_pages[pages, at]  # (S, G, D)
        for h in range(H):
            g = h // (H // G)
            scores = k[:, g] @ q[r, h] / D**0.5
            weights = np.exp(scores - scores.max())
            y[r, h] = weights @ v[:, g] / weights.sum()
    return y
""",
        """def paged_attention_forward(q, k_pages, v_pages, tables, positions):
    R, H, D = q.shape
    N, G = k_pages.shape[1:3]
    y = []
    for r in range(R):
        m, l, out = np.full(H, -np.inf), np.zeros(H), np.zeros((H, D))  # online softmax, a row at a time
        for j in range(positions[r] + 1):
            k, v = (x[tables[r, j // N], j % N].repeat(H // G, axis=0) for x in (k_pages, v_pages))  # (H, D)
            score = (q[r] * k).sum(-1) / np.sqrt(D)
            larger = np.maximum(m, score)
            old, new = np.exp(m - larger), np.exp(score - larger)
            m, l, out = larger, l * old + new, out * old[:, None] + new[:, None] * v
        y.append(out / l[:, None])
    return np.array(y, q.dtype)
""",
    ],
}
