// The functions of kernels/include/ptx.cuh for the simulator: what the three PTX instructions do, lane by lane.
#pragma once
#include "../cuda_bf16.h"
#include "../cuda_fp16.h"
#include "matrices.h"

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
template <class T> SIM_UNCHECKED inline void sim_multiply(uint64_t* values, uint32_t members) {
    float a[16][16] = {}, b[16][8] = {};
    for (int lane = 0; lane < 32; lane++) {
        if (!(members >> lane & 1)) continue;
        const auto* operands = reinterpret_cast<const sim_mma*>(values[lane]);
        int g = lane / 4, t = lane % 4;
        for (int half = 0; half < 2; half++) {
            for (int i = 0; i < 4; i++) a[g + 8 * (i % 2)][2 * t + 8 * (i / 2) + half] = sim_half_of<T>(operands->a[i], half);
            for (int i = 0; i < 2; i++) b[2 * t + 8 * i + half][g] = sim_half_of<T>(operands->b[i], half);
        }
    }
    for (int lane = 0; lane < 32; lane++) {
        if (!(members >> lane & 1)) continue;
        const auto* operands = reinterpret_cast<const sim_mma*>(values[lane]);
        float sums[4];
        for (int i = 0; i < 4; i++) {
            int row = lane / 4 + 8 * (i / 2), column = 2 * (lane % 4) + i % 2;
            sums[i] = operands->c[i];
            for (int k = 0; k < 16; k++) sums[i] += a[row][k] * b[k][column];
        }
        for (int i = 0; i < 4; i++) operands->d[i] = sums[i];
    }
}

template <class T>
SIM_WAITS void sim_mma_sync(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2], const float (&c)[4],
                               const char* file, int line) {
    sim_mma operands{d, a, b, c};
    SIM_WARP_SYNC(MATRIX, 0xffffffffu, reinterpret_cast<uint64_t>(&operands), sim_multiply<T>)
    (void)sim_values;
    SIM_CHECK_WARP(file, line)
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

template <int COUNT, bool TRANSPOSED> SIM_UNCHECKED inline void sim_distribute(uint64_t* values, uint32_t members) {
    for (int lane = 0; lane < 32; lane++)
        for (int matrix = 0; matrix < COUNT; matrix++) {
            unsigned pair = 0;
            for (int half = 0; half < 2; half++) {
                int row = TRANSPOSED ? 2 * (lane % 4) + half : lane / 4, column = TRANSPOSED ? lane / 4 : 2 * (lane % 4) + half;
                int from = 8 * matrix + row;
                if (members >> from & 1) pair |= unsigned(reinterpret_cast<sim_rows*>(values[from])->row[column]) << (16 * half);
            }
            if (members >> lane & 1) reinterpret_cast<sim_rows*>(values[lane])->out[matrix] = pair;
        }
}

template <int COUNT, bool TRANSPOSED>
SIM_WAITS void sim_exchange_rows(sim_rows& rows, const char* file, int line) {
    SIM_WARP_SYNC(MATRIX, 0xffffffffu, reinterpret_cast<uint64_t>(&rows), (sim_distribute<COUNT, TRANSPOSED>))
    (void)sim_values;
    SIM_CHECK_WARP(file, line)
}

template <int COUNT, bool TRANSPOSED>
SIM_INLINE void sim_ldmatrix(unsigned* out, const void* row, const char* file, int line) {
    sim_rows rows;
    rows.out = out;
    if (sim_lane() < 8 * COUNT) {
        SIM_CHECK_ROW(row)
        uint4 loaded = *(const uint4*)row;
        __builtin_memcpy(rows.row, &loaded, 16);
    }
    sim_exchange_rows<COUNT, TRANSPOSED>(rows, file, line);
}
SIM_INLINE void ldmatrix_x1(unsigned (&r)[1], const void* row, SIM_HERE) { sim_ldmatrix<1, false>(r, row, file, line); }
SIM_INLINE void ldmatrix_x2(unsigned (&r)[2], const void* row, SIM_HERE) { sim_ldmatrix<2, false>(r, row, file, line); }
SIM_INLINE void ldmatrix_x4(unsigned (&r)[4], const void* row, SIM_HERE) { sim_ldmatrix<4, false>(r, row, file, line); }
SIM_INLINE void ldmatrix_x1_trans(unsigned (&r)[1], const void* row, SIM_HERE) { sim_ldmatrix<1, true>(r, row, file, line); }
SIM_INLINE void ldmatrix_x2_trans(unsigned (&r)[2], const void* row, SIM_HERE) { sim_ldmatrix<2, true>(r, row, file, line); }
SIM_INLINE void ldmatrix_x4_trans(unsigned (&r)[4], const void* row, SIM_HERE) { sim_ldmatrix<4, true>(r, row, file, line); }

// ---- cp.async ---------------------------------------------------------------------------------------------------------
//
// A copy reads when it is issued and writes when it is waited for: a thread that does not wait reads the old values. The
// checked build judges both ends at both times.

struct sim_copy {
    void* to;
    unsigned bytes, group, words[4];
#ifdef SIM_CHECKED
    void *from, *pc;
#endif
};
struct sim_copies {
    uint64_t run;  // the block that the entries belong to
    unsigned count, group;
    sim_copy entry[64];
};
static thread_local sim_copies sim_pending[sim::MAX_THREADS];

SIM_FUNCTION sim_copies& sim_own_copies() {
    sim_copies& own = sim_pending[sim_thread()];
    if (own.run != sim_block->runs) {
        own.run = sim_block->runs;
        own.count = own.group = 0;
    }
    return own;
}
// Never by calling memcpy, which would be checked.
SIM_INLINE SIM_UNCHECKED void sim_assign(sim_copy& to, const sim_copy& from) {
#if defined(__clang__)
    __builtin_memcpy_inline(&to, &from, sizeof to);
#else
    to = from;
#endif
}

// Take the oldest copy of a group before `end` off the list.
SIM_FUNCTION bool sim_take_oldest(unsigned end, sim_copy& out) {
    sim_copies& own = sim_own_copies();
    if (own.count == 0 || own.entry[0].group >= end) return false;
    sim_assign(out, own.entry[0]);
    for (unsigned i = 1; i < own.count; i++) sim_assign(own.entry[i - 1], own.entry[i]);
    own.count--;
    return true;
}
SIM_FUNCTION void sim_complete(const sim_copy& copy) {
    const unsigned* w = copy.words;
#ifdef SIM_CHECKED
    sim_check_completion(copy.to, copy.from, w, copy.bytes, copy.pc);
#endif
    if (copy.bytes == 4) *(unsigned*)copy.to = w[0];
    else if (copy.bytes == 8) *(uint2*)copy.to = uint2{w[0], w[1]};
    else *(uint4*)copy.to = uint4{w[0], w[1], w[2], w[3]};
}
SIM_INLINE void sim_complete_before(unsigned end) {
    sim_copy copy;
    while (sim_take_oldest(end, copy)) sim_complete(copy);
}
SIM_FUNCTION bool sim_add(void* to, const void* from, unsigned bytes, void* pc) {
    sim_copies& own = sim_own_copies();
    if (own.count == 64) return false;
    sim_copy& copy = own.entry[own.count++];
    const unsigned* words = (const unsigned*)from;
    copy.words[0] = words[0];  // no loop, which would become a call of memcpy
    if (bytes >= 8) copy.words[1] = words[1];
    if (bytes == 16) {
        copy.words[2] = words[2];
        copy.words[3] = words[3];
    }
    copy.to = to;
    copy.bytes = bytes;
    copy.group = own.group;
#ifdef SIM_CHECKED
    copy.from = (void*)from;
    copy.pc = pc;
#endif
    return true;
}
SIM_INLINE void sim_issue(void* to, const void* from, unsigned bytes) {
#ifdef SIM_CHECKED
    void* pc = sim_check_issue(to, (void*)from, bytes);
#else
    void* pc = nullptr;
#endif
    if (sim_add(to, from, bytes, pc)) return;
    sim_complete_before(~0u);
    sim_add(to, from, bytes, pc);
}
SIM_FUNCTION unsigned sim_group(unsigned more) { return sim_own_copies().group += more; }
SIM_INLINE void cp_async_4(void* shared, const void* global) { sim_issue(shared, global, 4); }
SIM_INLINE void cp_async_8(void* shared, const void* global) { sim_issue(shared, global, 8); }
SIM_INLINE void cp_async_16(void* shared, const void* global) { sim_issue(shared, global, 16); }
SIM_INLINE void cp_async_commit() { sim_group(1); }
template <int N> SIM_INLINE void cp_async_wait() {
    unsigned group = sim_group(0);
    sim_complete_before(group > N ? group - N : 0);
}
SIM_INLINE void cp_async_wait_all() { sim_complete_before(~0u); }

}  // namespace ptx
