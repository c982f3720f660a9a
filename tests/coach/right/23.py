"""Right answers to the exercises of chapter 23, written in other ways than ours."""

from course_lib.coach.exercise import Changed

RIGHT = {
    "delta_step": [
        """def delta_step(S, k, v, beta):
    D = len(k)
    return (np.eye(D) - beta * k[:, None] * k[None]) @ S + beta * k[:, None] * v[None]
""",
        """def delta_step(S, k, v, beta):
    new = S.copy()
    for e in range(len(v)):
        new[:, e] += beta * (v[e] - k @ S[:, e]) * k
    return new
""",
    ],
    "warp_prefix_sums": [
        Changed(("        if (lane >= step) v += below;", "        v += lane >= step ? below : 0.0f;")),
        """__global__ void warp_prefix_sums(const float* x, float* y) {
    float v = x[threadIdx.x], sum = 0.0f;
    for (int from = 0; from < 32; from++) {
        float other = __shfl_sync(0xffffffff, v, from);
        if (from <= threadIdx.x % 32) sum += other;
    }
    y[threadIdx.x] = sum;
}
""",
    ],
    "compose_steps": [
        """def compose_steps(first, then):
    def both(h):
        return then[0] * (first[0] * h + first[1]) + then[1]
    return both(1.0) - both(0.0), both(0.0)
""",
        """def compose_steps(first, then):
    m = np.array([[then[0], then[1]], [0, 1]]) @ np.array([[first[0], first[1]], [0, 1]])
    return m[0, 0], m[0, 1]
""",
    ],
    "recurrence_scan": [
        """template <int THREADS>
__global__ void recurrence_scan(const float* a, const float* b, const float* start, float* h, int T) {
    if (threadIdx.x > 0) return;
    float state = start[blockIdx.x];
    for (int t = 0; t < T; t++) {
        state = a[blockIdx.x * T + t] * state + b[blockIdx.x * T + t];
        h[blockIdx.x * T + t] = state;
    }
}
""",
        Changed(
            ("    float state = start[blockIdx.x];", "    Affine state = {0.0f, start[blockIdx.x]};"),
            (
                "        if (t < T) h[row + t] = before.a * state + before.b;\n        state = all.a * state + all.b;",
                "        if (t < T) h[row + t] = Compose::of(state, before).b;\n        state = Compose::of(state, all);",
            ),
        ),
    ],
    "scan_tree": [
        Changed(
            ("const float left = tree[node - half];", "const float above = tree[node];"),
            ("tree[node - half] = tree[node];", "tree[node] = above + tree[node - half];"),
            ("tree[node] += left;", "tree[node - half] = above;"),
        ),
        Changed(
            (
                "    for (int half = THREADS; half > 0; half /= 2) {\n        __syncthreads();",
                "    __syncthreads();\n    for (int half = THREADS; half > 0; half >>= 1) {",
            ),
            (
                "            tree[node] += left;\n        }\n    }",
                "            tree[node] += left;\n        }\n        __syncthreads();\n    }",
            ),
        ),
    ],
    "chunked_attention": [
        """def chunked_attention(q, k, v, g, S, chunk):
    ys = []
    while len(q):
        qc, kc, vc, G = q[:chunk], k[:chunk], v[:chunk], np.cumsum(g[:chunk], 0)
        C = len(qc)
        apart = G[:, None] - G[None]
        apart[np.triu_indices(C, 1)] = -np.inf
        scores = (qc[:, None] * kc[None] * np.exp(apart)).sum(-1)
        ys.append(scores @ vc + (np.exp(G) * qc) @ S)
        S = (np.exp(G[-1]) * S.T).T + (np.exp(G[-1] - G) * kc).T @ vc
        q, k, v, g = q[chunk:], k[chunk:], v[chunk:], g[chunk:]
    return np.concatenate(ys), S
""",
        Changed(
            (
                'np.einsum("td,tsd,sd->ts", q[part], between, k[part])',
                "(q[part][:, None] * between * k[part][None]).sum(axis=2)",
            )
        ),
    ],
    "chunk_step": [
        Changed(("np.exp(G[-1] - G)[:, None] * k", "np.exp(np.sum(g) - G)[:, None] * k")),
        """def chunk_step(q, k, v, g, S):
    y = np.empty_like(v)
    for t in range(len(q)):
        S = np.exp(g[t]) * S + np.outer(k[t], v[t])
        y[t] = q[t] @ S
    return y, S
""",
    ],
    "segmented_sums": [
        Changed(
            (
                "return {right.head ? right.sum : left.sum + right.sum, left.head | right.head};",
                "if (right.head) return right;\n    return {left.sum + right.sum, left.head};",
            )
        ),
        Changed(
            (
                "return {right.head ? right.sum : left.sum + right.sum, left.head | right.head};",
                "right.sum += left.sum * (1 - right.head);\n    right.head = max(left.head, right.head);\n    return right;",
            )
        ),
    ],
    "short_convolution": [
        """template <int TAPS, int EACH>
__global__ void convolution_2_registers(const float* x, const float* w, float* y, int T, int C) {
    int c = blockIdx.x * blockDim.x + threadIdx.x, first = blockIdx.y * EACH;
    if (c >= C) return;
    x += blockIdx.z * T * C + c;
    y += blockIdx.z * T * C + c;
    float weight[TAPS], all[EACH + TAPS];
    for (int tap = 0; tap < TAPS; tap++) weight[tap] = w[tap * C + c];
    for (int i = 0; i < EACH + TAPS - 1; i++) {
        int t = first - TAPS + 1 + i;
        all[i] = t >= 0 && t < T ? x[t * C] : 0.0f;
    }
    for (int i = 0; i < EACH && first + i < T; i++) {
        float sum = 0.0f;
        for (int tap = 0; tap < TAPS; tap++) sum += weight[tap] * all[i + TAPS - 1 - tap];
        y[(first + i) * C] = sum;
    }
}
""",
        Changed(
            (
                "        last[0] = x[(long long)t * C];\n        float sum = 0.0f;",
                "        const float now = x[(long long)t * C];\n        last[0] = now;\n        float sum = 0.0f;",
            )
        ),
    ],
    "look_back": [
        Changed(
            ("for (int other = tile - 1; other >= 0;) {", "int other = tile - 1;\n        while (other >= 0) {"),
            (
                "            if (flag == PREFIX) break;\n            other--;",
                "            other = flag == PREFIX ? -1 : other - 1;",
            ),
        ),
        Changed(
            (
                "        for (int other = tile - 1; other >= 0;) {\n            const int flag = atomicAdd(&flags[other], 0);\n"
                "            if (flag == EMPTY) continue;  // its aggregate is on its way\n",
                "        for (int other = tile - 1, flag; other >= 0;) {\n"
                "            do flag = atomicAdd(&flags[other], 0);\n            while (flag == EMPTY);\n",
            )
        ),
    ],
    "private_counts": [
        Changed(
            (
                "    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)\n"
                "        if (x[i] >= 0 && x[i] < BINS) atomicAdd(&own[x[i]], 1);\n",
                "    int each = (n + gridDim.x - 1) / gridDim.x, end = min(n, (int)(blockIdx.x + 1) * each);\n"
                "    for (int i = blockIdx.x * each + threadIdx.x; i < end; i += blockDim.x) {\n"
                "        unsigned bin = x[i];\n        if (bin < BINS) atomicAdd(own + bin, 1);\n    }\n",
            )
        ),
        Changed(
            (
                "    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)\n"
                "        if (x[i] >= 0 && x[i] < BINS) atomicAdd(&own[x[i]], 1);\n",
                "    for (int bin = threadIdx.x; bin < BINS; bin += blockDim.x)\n"
                "        for (int i = blockIdx.x; i < n; i += gridDim.x) own[bin] += x[i] == bin;\n",
            )
        ),
    ],
    "state_in_registers": [
        Changed(
            (
                "        for (int i = 0; i < OWN; i++) S[i] *= chunk.over[row_of(i, lane)];\n#pragma unroll\n"
                "        for (int t = 0; t < STEPS; t++) add_own(S, chunk.to_end[t], u[t], lane);\n",
                "        for (int i = 0; i < OWN; i++) {\n            const int row = row_of(i, lane);\n"
                "            float sum = chunk.over[row] * S[i];\n"
                "            for (int t = 0; t < STEPS; t++) sum += chunk.to_end[t][row] * u[t];\n            S[i] = sum;\n"
                "        }\n",
            )
        ),
        Changed(
            (
                "        for (int i = 0; i < OWN; i++) S[i] *= chunk.over[row_of(i, lane)];\n",
                "        for (int i = OWN - 1; i >= 0; i--) S[i] = S[i] * chunk.over[row_of(i, lane)];\n",
            ),
            (
                "for (int t = 0; t < STEPS; t++) add_own(S, chunk.to_end[t], u[t], lane);",
                "for (int t = STEPS - 1; t >= 0; t--) add_own(S, chunk.to_end[t], u[t], lane);",
            ),
        ),
    ],
    "state_backwards": [
        Changed(
            (
                "        for (int t = 0; t < STEPS; t++) {\n            add_own(dS, chunk.q[t], dyt[t], lane);\n"
                "            if (KIND == Delta) add_own(dS, chunk.k[t], -du[t], lane);\n        }\n",
                "        for (int i = 0; i < OWN; i++)\n            for (int t = 0; t < STEPS; t++) {\n"
                "                dS[i] += chunk.q[t][row_of(i, lane)] * dyt[t];\n"
                "                if (KIND == Delta) dS[i] -= chunk.k[t][row_of(i, lane)] * du[t];\n            }\n",
            )
        ),
        Changed(
            (
                "            if (KIND == Delta) add_own(dS, chunk.k[t], -du[t], lane);\n        }\n",
                "        }\n        if (KIND == Delta)\n            for (int t = STEPS - 1; t >= 0; t--) "
                "add_own(dS, chunk.k[t], -du[t], lane);\n",
            )
        ),
    ],
}
