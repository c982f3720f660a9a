// A chunk of a linear recurrence in shared memory: queries, keys and decays of STEPS steps of one head, and the scores among them.
//
//   kind                     Linear: gated linear attention; Delta: the gated delta rule; StateSpace: one decay for all channels
//   chunk.load(...)          q, k, e^g of the chunk's steps; beyond the last step zeros that decay nothing
//   chunk.scores()           A_ts = sum over d of q_t k_s decay(s, t), and for Delta L_ts = the same of k_t k_s, for s < t
//   chunk.decay()            q and k times the decay from the chunk's start; to_end: k times the decay to its end; over: both
//
// decay(s, t) is the product of e^g over the steps s + 1 .. t. Products of decays need one exponential for each step and channel, never
// overflow, and lose no digits, as a difference of long sums of g would.
// A block has CHUNK_THREADS threads and calls together; between the parts it waits. Rows have 8 numbers of padding, so that the four
// rows that a warp reads at once lie in different banks.
// Architectures: all.
#pragma once
#include "reduce.cuh"

constexpr int STEPS = 16, CHUNK_THREADS = 128;

enum Kind { Linear, Delta, StateSpace };

// What a launch is given: q, k, g (heads, T, d), v (heads, T, E); rate is beta of the delta rule or gamma of the state space, and
// weight the state space's, (heads, T) each; the state space's g is (heads, T) too.
struct Inputs {
    const float *q, *k, *v, *g, *rate, *weight;
    int T, d, E;

    // Those of one head alone.
    __device__ __forceinline__ Inputs of(Kind kind, long long head) const {
        Inputs own = *this;
        own.q += head * T * d, own.k += head * T * d, own.v += head * T * E;
        own.g += head * T * (kind == StateSpace ? 1 : d);
        if (kind != Linear) own.rate += head * T;
        if (kind == StateSpace) own.weight += head * T;
        return own;
    }
};

template <Kind KIND, int D> struct Chunk {
    static const int PITCH = D + 8;
    float q[STEPS][PITCH], k[STEPS][PITCH], a[STEPS][PITCH];  // a: e^g
    float rate[STEPS], weight[STEPS];

    __device__ void load(const Inputs& in, int start) {
        for (int i = threadIdx.x; i < STEPS * D; i += CHUNK_THREADS) {
            const int t = i / D, c = i % D;
            const bool inside = start + t < in.T && c < in.d;
            const long long at = (long long)(start + t) * in.d + c;
            q[t][c] = inside ? in.q[at] : 0.0f;
            k[t][c] = inside ? in.k[at] : 0.0f;
            a[t][c] = inside ? expf(in.g[KIND == StateSpace ? start + t : at]) : 1.0f;
        }
        if (threadIdx.x < STEPS) {
            const int t = threadIdx.x;
            const bool inside = start + t < in.T;
            rate[t] = KIND != Linear && inside ? in.rate[start + t] : 0.0f;
            weight[t] = KIND == StateSpace && inside ? in.weight[start + t] : 0.0f;
        }
        __syncthreads();
    }
};

// A chunk with what a pass over the states needs of it.
template <Kind KIND, int D> struct ScoredChunk : Chunk<KIND, D> {
    float to_end[STEPS][D + 8], A[STEPS][STEPS + 1], L[STEPS][STEPS + 1], over[D];

    // Eight lanes share a step s: they carry k_s on to each later step t, and multiply it there with q_t.
    __device__ void scores() {
        const int s = threadIdx.x / 8, lane = threadIdx.x % 8;
        float to_q[STEPS] = {}, to_k[STEPS] = {};
        for (int c = lane; c < D; c += 8) {
            float carried = this->k[s][c];
#pragma unroll
            for (int t = 0; t < STEPS; t++) {  // all lanes in lockstep, those whose s comes after t for nothing
                const float decay = this->a[t][c], query = this->q[t][c];
                carried *= t > s ? decay : 1.0f;
                to_q[t] += t >= s ? query * carried : 0.0f;
                if (KIND == Delta) {
                    const float key = this->k[t][c];
                    to_k[t] += t > s ? key * carried : 0.0f;
                }
            }
        }
#pragma unroll
        for (int t = 0; t < STEPS; t++) {
            float score = warp_sum<8>(to_q[t]);
            if (KIND == StateSpace) score *= t == s ? this->rate[t] : this->weight[s];
            if (lane == 0) A[t][s] = score;
            if (KIND == Delta) {
                const float stored = warp_sum<8>(to_k[t]);
                if (lane == 0) L[t][s] = stored;
            }
        }
        __syncthreads();
    }

    // Thread c owns channel c.
    __device__ void decay() {
        for (int c = threadIdx.x; c < D; c += CHUNK_THREADS) {
            float product = 1.0f;
            for (int t = STEPS - 1; t >= 0; t--) {
                to_end[t][c] = this->k[t][c] * product * (KIND == StateSpace ? this->weight[t] : 1.0f);
                product *= this->a[t][c];
            }
            over[c] = product;
            product = 1.0f;
            for (int t = 0; t < STEPS; t++) {
                product *= this->a[t][c];
                this->q[t][c] *= product;
                if (KIND == Delta) this->k[t][c] *= product;
            }
        }
        __syncthreads();
    }
};
