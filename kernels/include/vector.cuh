// N consecutive elements, moved by one instruction (vector access).
//
//   Pack<T, N>     an array of N that begins at a multiple of its own size; Pack<float, 4> is 16 bytes, the most there is
//
// Architectures: all.
#pragma once

template <class T, int N> struct alignas(N * sizeof(T)) Pack {
    T item[N];
};
