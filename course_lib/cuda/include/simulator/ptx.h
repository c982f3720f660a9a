// The functions of kernels/include/ptx.cuh for the simulator: what the three PTX instructions do, lane by lane.
#pragma once
#include "../cuda_bf16.h"
#include "../cuda_fp16.h"

namespace ptx {

// ---- mma.sync.m16n8k16 ----------------------------------------------------------------------------------------------

struct sim_mma {
    float* d;
    const unsigned *a, *b;
    const float* c;
};

template <class T> SIM_UNCHECKED inline float sim_half_of(unsigned pair, int which) {
    T value;
    value.bits = (unsigned short)(pair >> (16 * which));
    return value;
}

// With g = lane / 4 and t = lane % 4 a lane holds, two by two: of A rows g and g+8, columns 2t and 2t+8; of B rows 2t and
// 2t+8, column g; of C and D rows g and g+8, columns 2t.
template <class T> SIM_UNCHECKED inline void sim_multiply(uint64_t* values, uint32_t) {
    float a[16][16], b[16][8];
    for (int lane = 0; lane < 32; lane++) {
        const auto* mine = reinterpret_cast<const sim_mma*>(values[lane]);
        int g = lane / 4, t = lane % 4;
        for (int half = 0; half < 2; half++) {
            for (int i = 0; i < 4; i++) a[g + 8 * (i % 2)][2 * t + 8 * (i / 2) + half] = sim_half_of<T>(mine->a[i], half);
            for (int i = 0; i < 2; i++) b[2 * t + 8 * i + half][g] = sim_half_of<T>(mine->b[i], half);
        }
    }
    for (int lane = 0; lane < 32; lane++) {
        const auto* mine = reinterpret_cast<const sim_mma*>(values[lane]);
        float sums[4];
        for (int i = 0; i < 4; i++) {
            int row = lane / 4 + 8 * (i / 2), column = 2 * (lane % 4) + i % 2;
            sums[i] = mine->c[i];
            for (int k = 0; k < 16; k++) sums[i] += a[row][k] * b[k][column];
        }
        for (int i = 0; i < 4; i++) mine->d[i] = sums[i];
    }
}

template <class T>
SIM_FUNCTION void sim_mma_sync(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2], const float (&c)[4],
                               const char* file, int line) {
    sim_mma operands{d, a, b, c};
    SIM_MEET(ACTION, 0xffffffffu, reinterpret_cast<uint64_t>(&operands), sim_multiply<T>)
    (void)sim_met;
}
SIM_INLINE void mma_m16n8k16_f16(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2], const float (&c)[4], SIM_HERE) {
    sim_mma_sync<__half>(d, a, b, c, file, line);
}
SIM_INLINE void mma_m16n8k16_bf16(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2], const float (&c)[4], SIM_HERE) {
    sim_mma_sync<__nv_bfloat16>(d, a, b, c, file, line);
}

// ---- ldmatrix --------------------------------------------------------------------------------------------------------

struct sim_rows {
    unsigned short row[8];  // the 16 bytes at the address that this lane gave
    unsigned* out;
};

template <int COUNT, bool TRANSPOSED> SIM_UNCHECKED inline void sim_deal(uint64_t* values, uint32_t) {
    for (int lane = 0; lane < 32; lane++)
        for (int matrix = 0; matrix < COUNT; matrix++) {
            unsigned pair = 0;
            for (int half = 0; half < 2; half++) {
                int row = TRANSPOSED ? 2 * (lane % 4) + half : lane / 4, column = TRANSPOSED ? lane / 4 : 2 * (lane % 4) + half;
                pair |= unsigned(reinterpret_cast<sim_rows*>(values[8 * matrix + row])->row[column]) << (16 * half);
            }
            reinterpret_cast<sim_rows*>(values[lane])->out[matrix] = pair;
        }
}

template <int COUNT, bool TRANSPOSED>
SIM_FUNCTION void sim_meet_for_rows(sim_rows& rows, const char* file, int line) {
    SIM_MEET(ACTION, 0xffffffffu, reinterpret_cast<uint64_t>(&rows), (sim_deal<COUNT, TRANSPOSED>))
    (void)sim_met;
}

template <int COUNT, bool TRANSPOSED>
SIM_INLINE void sim_ldmatrix(unsigned* out, const void* row, const char* file, int line) {
    sim_rows rows;
    rows.out = out;
    if (sim_lane() < 8 * COUNT) {
        uint4 loaded = *(const uint4*)row;
        __builtin_memcpy(rows.row, &loaded, 16);
    }
    sim_meet_for_rows<COUNT, TRANSPOSED>(rows, file, line);
}
SIM_INLINE void ldmatrix_x1(unsigned (&r)[1], const void* row, SIM_HERE) { sim_ldmatrix<1, false>(r, row, file, line); }
SIM_INLINE void ldmatrix_x2(unsigned (&r)[2], const void* row, SIM_HERE) { sim_ldmatrix<2, false>(r, row, file, line); }
SIM_INLINE void ldmatrix_x4(unsigned (&r)[4], const void* row, SIM_HERE) { sim_ldmatrix<4, false>(r, row, file, line); }
SIM_INLINE void ldmatrix_x1_trans(unsigned (&r)[1], const void* row, SIM_HERE) { sim_ldmatrix<1, true>(r, row, file, line); }
SIM_INLINE void ldmatrix_x2_trans(unsigned (&r)[2], const void* row, SIM_HERE) { sim_ldmatrix<2, true>(r, row, file, line); }
SIM_INLINE void ldmatrix_x4_trans(unsigned (&r)[4], const void* row, SIM_HERE) { sim_ldmatrix<4, true>(r, row, file, line); }

// ---- cp.async ---------------------------------------------------------------------------------------------------------
//
// A copy reads when it is issued and writes when it is waited for. Who forgets to wait thus finds what was there before.

struct sim_copy {
    void* to;
    unsigned bytes, group, words[4];
};
struct sim_copies {
    uint64_t run;  // the block that the entries belong to
    unsigned count, group;
    sim_copy entry[64];
};
static thread_local sim_copies sim_pending[sim::MAX_THREADS];

SIM_FUNCTION sim_copies& sim_my_copies() {
    sim_copies& mine = sim_pending[sim_thread()];
    if (mine.run != sim_block->runs) {
        mine.run = sim_block->runs;
        mine.count = mine.group = 0;
    }
    return mine;
}
// Never by calling memcpy, which the checker would see.
SIM_INLINE SIM_UNCHECKED void sim_assign(sim_copy& to, const sim_copy& from) {
#if defined(__clang__)
    __builtin_memcpy_inline(&to, &from, sizeof to);
#else
    to = from;
#endif
}

// Take the oldest copy of a group before `end` off the list.
SIM_FUNCTION bool sim_take(unsigned end, sim_copy& out) {
    sim_copies& mine = sim_my_copies();
    if (mine.count == 0 || mine.entry[0].group >= end) return false;
    sim_assign(out, mine.entry[0]);
    for (unsigned i = 1; i < mine.count; i++) sim_assign(mine.entry[i - 1], mine.entry[i]);
    mine.count--;
    return true;
}
SIM_INLINE void sim_finish(unsigned end) {
    sim_copy copy;
    while (sim_take(end, copy)) {
        const unsigned* w = copy.words;
        if (copy.bytes == 4) *(unsigned*)copy.to = w[0];
        else if (copy.bytes == 8) *(uint2*)copy.to = make_uint2(w[0], w[1]);
        else *(uint4*)copy.to = make_uint4(w[0], w[1], w[2], w[3]);
    }
}
SIM_FUNCTION bool sim_add(void* to, const uint4& data, unsigned bytes) {
    sim_copies& mine = sim_my_copies();
    if (mine.count == 64) return false;
    sim_assign(mine.entry[mine.count++], sim_copy{to, bytes, mine.group, {data.x, data.y, data.z, data.w}});
    return true;
}
SIM_INLINE void sim_issue(void* to, const uint4& data, unsigned bytes) {
    if (sim_add(to, data, bytes)) return;
    sim_finish(~0u);
    sim_add(to, data, bytes);
}
SIM_FUNCTION unsigned sim_group(unsigned more) { return sim_my_copies().group += more; }
SIM_INLINE void cp_async_4(void* shared, const void* global) {
    sim_issue(shared, make_uint4(*(const unsigned*)global, 0, 0, 0), 4);
}
SIM_INLINE void cp_async_8(void* shared, const void* global) {
    uint2 v = *(const uint2*)global;
    sim_issue(shared, make_uint4(v.x, v.y, 0, 0), 8);
}
SIM_INLINE void cp_async_16(void* shared, const void* global) {
    uint4 v = *(const uint4*)global;  // here, where the checker looks
    sim_issue(shared, v, 16);
}
SIM_INLINE void cp_async_commit() { sim_group(1); }
template <int N> SIM_INLINE void cp_async_wait() {
    unsigned group = sim_group(0);
    sim_finish(group > N ? group - N : 0);
}
SIM_INLINE void cp_async_wait_all() { sim_finish(~0u); }

}  // namespace ptx
