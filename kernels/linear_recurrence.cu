// Linear recurrences in chunks: gated linear attention, the gated delta rule, and the state space of Mamba-2 and Mamba-3.
//
// A block owns a head and 32 columns of its state, which stays in registers from the first step to the last: four lanes share a column.
// Chunk by chunk the steps among themselves are a triangle of scores, and the state is read and written once for 16 steps. The backward
// goes through the chunks from the last to the first with the gradient of the state in registers; all other gradients are found
// chunk by chunk, independently, from the states and their gradients that were kept.
//
// Promise: forward: y (heads, T, E), last (heads, d, E); kept (heads, chunks, d, E): the state before each chunk; errors (heads, T, E) of
//   the delta rule: what v differs by from what was stored. backward_states: dends (heads, chunks, d, E): the gradient of the state after
//   each chunk; dv, and for the delta rule dwritten (heads, T, E), the gradient of what beta multiplies; dstate (heads, d, E).
//   backward_chunks: dq, dk, dg, drate, dweight, of the shapes of q, k, g, rate, weight. state, dlast may be null: zeros. The same bits
//   on every run. Kind K is 0 gated linear attention, 1 gated delta rule, 2 state space.
// Limits: d at most D, which is 32, 64 or 128; 128 threads; float32.
// Bytes: forward 4 heads T (3 d + 2 E) for each 32 columns, and d E / 4 for each step that a backward needs.
// FLOPs: about 6 d E for each step of a head forward, 8 d E with the delta rule, and 32 d for the scores.
// Architectures: sm_75 and newer.
// Chapter: 23, built.
#include "recurrence_chunk.cuh"

// region columns
constexpr int COLUMNS = 32, LANES = 4;  // of a block; that share a column

// Which row of the state the i-th number of a lane is: four in a row, so that one access to shared memory gets their factors.
__device__ __forceinline__ int row_of(int i, int lane) { return i / 4 * 4 * LANES + 4 * lane + i % 4; }

// The sum over this lane's rows of row[c] S[c].
template <int OWN> __device__ __forceinline__ float dot_own(const float* row, const float (&S)[OWN], int lane) {
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < OWN; i += 4) sum += dot(four(row, row_of(i, lane)), make_float4(S[i], S[i + 1], S[i + 2], S[i + 3]));
    return sum;
}

// S[c] += row[c] times a number, for this lane's rows.
template <int OWN> __device__ __forceinline__ void add_own(float (&S)[OWN], const float* row, float times, int lane) {
#pragma unroll
    for (int i = 0; i < OWN; i += 4) {
        const float4 factor = four(row, row_of(i, lane));
        S[i] += factor.x * times, S[i + 1] += factor.y * times, S[i + 2] += factor.z * times, S[i + 3] += factor.w * times;
    }
}

// Row c of a state (d, E) at this thread's column; zero outside.
__device__ __forceinline__ float state_at(const float* state, int c, int column, int d, int E) {
    return state && c < d && column < E ? state[(long long)c * E + column] : 0.0f;
}
// endregion

template <int K, int D>
__global__ void __launch_bounds__(CHUNK_THREADS)
recurrence_forward(const float* q, const float* k, const float* v, const float* g, const float* rate, const float* weight,
                   const float* state, float* y, float* last, float* kept, float* errors, int T, int d, int E) {
    constexpr Kind KIND = (Kind)K;
    constexpr int OWN = D / LANES;
    __shared__ ScoredChunk<KIND, D> chunk;
    const long long head = blockIdx.y;
    const int column = blockIdx.x * COLUMNS + threadIdx.x / LANES, lane = threadIdx.x % LANES, chunks = (T + STEPS - 1) / STEPS;
    const Inputs in = Inputs{q, k, v, g, rate, weight, T, d, E}.of(KIND, head);
    if (state) state += head * d * E;
    float S[OWN];  // of this column, the rows row_of(i, lane)
#pragma unroll
    for (int i = 0; i < OWN; i++) S[i] = state_at(state, row_of(i, lane), column, d, E);

    for (int n = 0; n < chunks; n++) {
        const int start = n * STEPS;
#pragma unroll
        for (int i = 0; i < OWN; i++) {
            const int c = row_of(i, lane);
            if (c < d && column < E) kept[((head * chunks + n) * d + c) * E + column] = S[i];
        }
        chunk.load(in, start);
        chunk.scores();
        chunk.decay();
        float u[STEPS];  // what each step writes into this column; all four lanes find it
#pragma unroll
        for (int t = 0; t < STEPS; t++) {
            const bool inside = start + t < T && column < E;
            const long long at = (head * T + start + t) * E + column;
            float read = warp_sum<LANES>(dot_own(chunk.q[t], S, lane));
            u[t] = inside ? v[at] : 0.0f;
            if (KIND == Delta) {
                u[t] -= warp_sum<LANES>(dot_own(chunk.k[t], S, lane));
#pragma unroll
                for (int s = 0; s < t; s++) u[t] -= chunk.L[t][s] * u[s];
                if (inside && lane == 0) errors[at] = u[t];
                u[t] *= chunk.rate[t];
            }
#pragma unroll
            for (int s = 0; s <= t; s++) read += chunk.A[t][s] * u[s];
            if (inside && lane == t % LANES) y[at] = read;
        }
        // yours: the state decays over the whole chunk, and gains what each step wrote
#pragma unroll
        for (int i = 0; i < OWN; i++) S[i] *= chunk.over[row_of(i, lane)];
#pragma unroll
        for (int t = 0; t < STEPS; t++) add_own(S, chunk.to_end[t], u[t], lane);
        // end
        __syncthreads();  // the next chunk overwrites this one
    }
#pragma unroll
    for (int i = 0; i < OWN; i++) {
        const int c = row_of(i, lane);
        if (c < d && column < E) last[(head * d + c) * E + column] = S[i];
    }
}

template <int K, int D>
__global__ void __launch_bounds__(CHUNK_THREADS)
recurrence_backward_states(const float* dy, const float* dlast, const float* q, const float* k, const float* g, const float* rate,
                           const float* weight, float* dends, float* dv, float* dwritten, float* dstate, int T, int d, int E) {
    constexpr Kind KIND = (Kind)K;
    constexpr int OWN = D / LANES;
    __shared__ ScoredChunk<KIND, D> chunk;
    const long long head = blockIdx.y;
    const int column = blockIdx.x * COLUMNS + threadIdx.x / LANES, lane = threadIdx.x % LANES, chunks = (T + STEPS - 1) / STEPS;
    const Inputs in = Inputs{q, k, dy, g, rate, weight, T, d, E}.of(KIND, head);
    if (dlast) dlast += head * d * E;
    float dS[OWN];
#pragma unroll
    for (int i = 0; i < OWN; i++) dS[i] = state_at(dlast, row_of(i, lane), column, d, E);

    for (int n = chunks - 1; n >= 0; n--) {
        const int start = n * STEPS;
#pragma unroll
        for (int i = 0; i < OWN; i++) {
            const int c = row_of(i, lane);
            if (c < d && column < E) dends[((head * chunks + n) * d + c) * E + column] = dS[i];
        }
        chunk.load(in, start);
        chunk.scores();
        chunk.decay();
        float dyt[STEPS], du[STEPS];  // du: of what a step writes; then of what it writes without beta
#pragma unroll
        for (int t = 0; t < STEPS; t++)
            dyt[t] = start + t < T && column < E ? dy[(head * T + start + t) * E + column] : 0.0f;
#pragma unroll
        for (int s = STEPS - 1; s >= 0; s--) {
            float sum = warp_sum<LANES>(dot_own(chunk.to_end[s], dS, lane));
#pragma unroll
            for (int t = s; t < STEPS; t++) sum += chunk.A[t][s] * dyt[t];
            if (KIND == Delta)
#pragma unroll
                for (int t = s + 1; t < STEPS; t++) sum -= chunk.L[t][s] * du[t];
            du[s] = KIND == Delta ? sum * chunk.rate[s] : sum;
            if (start + s < T && column < E && lane == 0) {
                const long long at = (head * T + start + s) * E + column;
                dv[at] = du[s];
                if (KIND == Delta) dwritten[at] = sum;
            }
        }
        // yours: its decay, and what each step read of the state before it
#pragma unroll
        for (int i = 0; i < OWN; i++) dS[i] *= chunk.over[row_of(i, lane)];
#pragma unroll
        for (int t = 0; t < STEPS; t++) {
            add_own(dS, chunk.q[t], dyt[t], lane);
            if (KIND == Delta) add_own(dS, chunk.k[t], -du[t], lane);
        }
        // end
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < OWN; i++) {
        const int c = row_of(i, lane);
        if (dstate && c < d && column < E) dstate[(head * d + c) * E + column] = dS[i];
    }
}

constexpr int TILE = 16;  // columns that pass through shared memory together

// Block (n, head) owns a chunk, thread c its channel c. written: v, or for the delta rule its errors.
template <int K, int D>
__global__ void __launch_bounds__(CHUNK_THREADS)
recurrence_backward_chunks(const float* dy, const float* q, const float* k, const float* written, const float* g, const float* rate,
                           const float* weight, const float* kept, const float* dends, const float* dv, const float* dwritten,
                           float* dq, float* dk, float* dg, float* drate, float* dweight, int T, int d, int E) {
    constexpr Kind KIND = (Kind)K;
    __shared__ Chunk<KIND, D> chunk;
    __shared__ float S[D][TILE + 1], dS[D][TILE + 1], dys[STEPS][TILE + 1], us[STEPS][TILE + 1], dvs[STEPS][TILE + 1];
    __shared__ float dA[STEPS][STEPS + 1], dL[STEPS][STEPS + 1];
    const long long head = blockIdx.y;
    const int start = blockIdx.x * STEPS, c = threadIdx.x;
    const long long of_state = (head * gridDim.x + blockIdx.x) * d * E, of_steps = (head * T + start) * E;
    chunk.load(Inputs{q, k, written, g, rate, weight, T, d, E}.of(KIND, head), start);

    float from_q[STEPS] = {}, from_k[STEPS] = {}, to_end[STEPS] = {}, over = 0.0f;  // gradients, channel c
    float pairs[2] = {}, stored[2] = {}, errors[2] = {};  // thread c owns the pairs c and c + 128 of dA and dL
    for (int first = 0; first < E; first += TILE) {
        for (int i = threadIdx.x; i < D * TILE; i += CHUNK_THREADS) {
            const int row = i / TILE, e = i % TILE;
            const bool inside = row < d && first + e < E;
            S[row][e] = inside ? kept[of_state + (long long)row * E + first + e] : 0.0f;
            dS[row][e] = inside ? dends[of_state + (long long)row * E + first + e] : 0.0f;
        }
        for (int i = threadIdx.x; i < STEPS * TILE; i += CHUNK_THREADS) {
            const int t = i / TILE, e = i % TILE;
            const bool inside = start + t < T && first + e < E;
            const long long at = of_steps + (long long)t * E + first + e;
            dys[t][e] = inside ? dy[at] : 0.0f;
            us[t][e] = inside ? written[at] * (KIND == Delta ? chunk.rate[t] : 1.0f) : 0.0f;
            dvs[t][e] = KIND == Delta && inside ? dv[at] : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int j = 0; j < 2; j++) {
            const int t = (c + j * CHUNK_THREADS) / STEPS, s = (c + j * CHUNK_THREADS) % STEPS;
            for (int e = 0; e < TILE; e++) {
                pairs[j] += dys[t][e] * us[s][e];
                if (KIND == Delta) stored[j] -= dvs[t][e] * us[s][e];
            }
        }
        if (KIND == Delta && c < STEPS && start + c < T)
            for (int e = 0; e < TILE && first + e < E; e++) {
                const long long at = of_steps + (long long)c * E + first + e;
                errors[0] += dwritten[at] * written[at];
            }
        for (int e = 0; c < D && e < TILE; e++) {
            const float own = S[c][e], down = dS[c][e];
            over += own * down;
#pragma unroll
            for (int t = 0; t < STEPS; t++) {
                from_q[t] += dys[t][e] * own;
                if (KIND == Delta) from_k[t] -= dvs[t][e] * own;
                to_end[t] += us[t][e] * down;
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int j = 0; j < 2; j++) {
        const int t = (c + j * CHUNK_THREADS) / STEPS, s = (c + j * CHUNK_THREADS) % STEPS;
        dA[t][s] = s <= t ? pairs[j] : 0.0f;
        dL[t][s] = s < t ? stored[j] : 0.0f;
    }
    if (KIND == Delta && c < STEPS && start + c < T) drate[head * T + start + c] = errors[0];
    __syncthreads();

    // Within the chunk. What reads at step t gains by e^(G_t), what is read loses by e^(-G_s): dG is of those sums G.
    float own_dq[STEPS], reading[STEPS], read[STEPS], of_gamma[STEPS], of_weight[STEPS], prefix = 1.0f, suffix = 1.0f, ends = 0.0f;
    const bool channel = c < D;
    const int row = channel ? c : 0;  // threads beyond the channels compute values that are not written
#pragma unroll
    for (int t = 0; t < STEPS; t++) {
        prefix *= chunk.a[t][row];
        own_dq[t] = from_q[t] * prefix;
        reading[t] = from_k[t] * prefix;
        of_gamma[t] = 0.0f;
    }
#pragma unroll
    for (int s = STEPS - 1; s >= 0; s--) {
        const float k_s = chunk.k[s][row], into_end = to_end[s] * suffix;
        suffix *= chunk.a[s][row];
        float carried = k_s, back = 0.0f;
        of_weight[s] = into_end * k_s;
#pragma unroll
        for (int t = s; t < STEPS; t++) {
            if (t > s) carried *= chunk.a[t][row];
            const float mask = KIND != StateSpace ? 1.0f : t == s ? chunk.rate[t] : chunk.weight[s];
            own_dq[t] += dA[t][s] * mask * carried;
            if (KIND == Delta && t > s) reading[t] += dL[t][s] * carried;
            if (KIND == StateSpace) (t == s ? of_gamma : of_weight)[s] += dA[t][s] * chunk.q[t][row] * carried;
        }
#pragma unroll
        for (int t = STEPS - 1; t >= s; t--) {
            const float mask = KIND != StateSpace ? 1.0f : t == s ? chunk.rate[t] : chunk.weight[s];
            if (t < STEPS - 1) back *= chunk.a[t + 1][row];
            back += dA[t][s] * mask * chunk.q[t][row];
            if (KIND == Delta && t > s) back += dL[t][s] * chunk.k[t][row];
        }
        const float weighted = KIND == StateSpace ? into_end * chunk.weight[s] : into_end;
        read[s] = back + weighted;
        ends += k_s * weighted;
    }
    float dG = ends + prefix * over;  // of the decay to the chunk's end, on which every step of it acts
#pragma unroll
    for (int t = STEPS - 1; t >= 0; t--) {
        const float k_t = chunk.k[t][row];
        dG += chunk.q[t][row] * own_dq[t] + k_t * (reading[t] - read[t]);
        const bool inside = start + t < T;
        const long long at = (head * T + start + t) * d + c;
        if (inside && c < d) {
            dq[at] = own_dq[t];
            dk[at] = reading[t] + read[t];
            if (KIND != StateSpace) dg[at] = dG;
        }
        if (KIND == StateSpace) {  // the same for all threads, so that all meet in the sums
            const float all_dG = block_sum<CHUNK_THREADS>(channel ? dG : 0.0f);
            const float all_gamma = block_sum<CHUNK_THREADS>(channel ? of_gamma[t] : 0.0f);
            const float all_weight = block_sum<CHUNK_THREADS>(channel ? of_weight[t] : 0.0f);
            if (inside && c == 0) {
                dg[head * T + start + t] = all_dG;
                drate[head * T + start + t] = all_gamma;
                dweight[head * T + start + t] = all_weight;
            }
        }
    }
}
