// Atomics that are no CUDA functions: __sync_*, __atomic_* and std::atomic, which a program's host code has. g++ calls these
// instead of the processor's instructions; clang leaves them alone (flags.py).
#include "hooks.h"

using namespace sim;

#define CHECK(WRITE) access_event((char*)at, sizeof *at, WRITE, true, SIM_CALLER, true)
#define FETCH(BITS, T, NAME)                                                                                                 \
    T __tsan_atomic##BITS##_##NAME(volatile T* at, T value, int) {                                                          \
        CHECK(true);                                                                                                         \
        return __atomic_##NAME(at, value, __ATOMIC_SEQ_CST);                                                                 \
    }
#define COMPARE(BITS, T, NAME)                                                                                              \
    int __tsan_atomic##BITS##_compare_exchange_##NAME(volatile T* at, T* expected, T value, int, int) {                     \
        CHECK(true);                                                                                                         \
        return __atomic_compare_exchange_n(at, expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                  \
    }
#define ATOMICS(BITS, T)                                                                                                    \
    T __tsan_atomic##BITS##_load(const volatile T* at, int) { return CHECK(false), __atomic_load_n(at, __ATOMIC_SEQ_CST); } \
    void __tsan_atomic##BITS##_store(volatile T* at, T value, int) {                                                        \
        CHECK(true);                                                                                                         \
        __atomic_store_n(at, value, __ATOMIC_SEQ_CST);                                                                       \
    }                                                                                                                        \
    T __tsan_atomic##BITS##_exchange(volatile T* at, T value, int) {                                                        \
        return CHECK(true), __atomic_exchange_n(at, value, __ATOMIC_SEQ_CST);                                                \
    }                                                                                                                        \
    FETCH(BITS, T, fetch_add) FETCH(BITS, T, fetch_sub) FETCH(BITS, T, fetch_and) FETCH(BITS, T, fetch_or)                   \
    FETCH(BITS, T, fetch_xor) FETCH(BITS, T, fetch_nand)                                                                     \
    COMPARE(BITS, T, strong) COMPARE(BITS, T, weak)                                                                          \
    T __tsan_atomic##BITS##_compare_exchange_val(volatile T* at, T expected, T value, int, int) {                           \
        CHECK(true);                                                                                                         \
        __atomic_compare_exchange_n(at, &expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                        \
        return expected;                                                                                                     \
    }

extern "C" {
ATOMICS(8, uint8_t) ATOMICS(16, uint16_t) ATOMICS(32, uint32_t) ATOMICS(64, uint64_t)
}
