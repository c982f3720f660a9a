// Philox4x32-10: random bits as a function of a counter and a key. (Salmon et al. 2011, section 3.3)
//
//   philox(counter, key)    four random words from four counter words and two key words
//
// It has no state: any thread can compute the bits of any element, in any order, and again in the backward.
// Architectures: all.
#pragma once

__device__ __forceinline__ uint4 philox(uint4 counter, uint2 key) {
#pragma unroll
    for (int round = 0; round < 10; round++) {
        // 32 x 32 -> 64 bits; the multipliers are those of the paper
        const unsigned high0 = __umulhi(0xD2511F53u, counter.x), low0 = 0xD2511F53u * counter.x;
        const unsigned high1 = __umulhi(0xCD9E8D57u, counter.z), low1 = 0xCD9E8D57u * counter.z;
        counter = make_uint4(high1 ^ counter.y ^ key.x, low1, high0 ^ counter.w ^ key.y, low0);
        key.x += 0x9E3779B9u;  // the golden ratio
        key.y += 0xBB67AE85u;  // sqrt(3) - 1
    }
    return counter;
}
