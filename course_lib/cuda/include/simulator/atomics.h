// Atomics on global and shared memory, with CUDA's overloads. In the checked build each calls its hook first.
#pragma once
#include "sync.h"

#ifdef SIM_CHECKED
#pragma GCC visibility push(default)
extern "C" void sim_check_block_scope();  // of the next atomic
#define SIM_OF_BLOCK sim_check_block_scope()
#if defined(__wasm__)
extern "C" void sim_check_atomic(void* address, unsigned bytes);
#define SIM_ATOMIC_ACCESS(p) sim_check_atomic((void*)(p), sizeof(*(p)));
#else
extern "C" void sim_check_atomic(void* address, unsigned bytes, void* pc);
#define SIM_ATOMIC_ACCESS(p) sim_check_atomic((void*)(p), sizeof(*(p)), __builtin_return_address(0));
#endif
#pragma GCC visibility pop
#else
#define SIM_ATOMIC_ACCESS(p)
#define SIM_OF_BLOCK (void)0
#endif

// Replace the value by EXPRESSION of `old` and `value`; returns the old one.
#define SIM_ATOMIC_LOOP(NAME, T, EXPRESSION)                                                                \
    SIM_WAITS T NAME(T* p, T value) {                                                                    \
        SIM_ATOMIC_ACCESS(p)                                                                                \
        T old, fresh;                                                                                       \
        __atomic_load(p, &old, __ATOMIC_RELAXED);                                                           \
        do fresh = EXPRESSION;                                                                              \
        while (!__atomic_compare_exchange(p, &old, &fresh, true, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));      \
        return old;                                                                                         \
    }
#define SIM_ATOMIC_FETCH(NAME, T, BUILTIN, SAME)                                                            \
    SIM_WAITS T NAME(T* p, T value) {                                                                    \
        SIM_ATOMIC_ACCESS(p)                                                                                \
        T old = BUILTIN(p, value, __ATOMIC_ACQ_REL);                                                        \
        SIM_MAY_SPIN(value == (T)(SAME))                                                                    \
        return old;                                                                                         \
    }
#define SIM_ATOMIC_CAS(T)                                                                                   \
    SIM_WAITS T atomicCAS(T* p, T expected, T value) {                                                   \
        SIM_ATOMIC_ACCESS(p)                                                                                \
        if (!__atomic_compare_exchange_n(p, &expected, value, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) { \
            SIM_MAY_SPIN(true)                                                                              \
        }                                                                                                   \
        return expected;                                                                                    \
    }
#define SIM_ATOMIC_INTEGER(T)                                                                               \
    SIM_ATOMIC_FETCH(atomicAdd, T, __atomic_fetch_add, 0)                                                   \
    SIM_ATOMIC_FETCH(atomicExch, T, __atomic_exchange_n, old)                                               \
    SIM_ATOMIC_FETCH(atomicAnd, T, __atomic_fetch_and, ~0ull)                                               \
    SIM_ATOMIC_FETCH(atomicOr, T, __atomic_fetch_or, 0)                                                     \
    SIM_ATOMIC_FETCH(atomicXor, T, __atomic_fetch_xor, 0)                                                   \
    SIM_ATOMIC_LOOP(atomicMin, T, (old < value ? old : value))                                              \
    SIM_ATOMIC_LOOP(atomicMax, T, (old < value ? value : old))                                              \
    SIM_ATOMIC_CAS(T)

SIM_ATOMIC_INTEGER(int)
SIM_ATOMIC_INTEGER(unsigned)
SIM_ATOMIC_INTEGER(unsigned long long)
SIM_ATOMIC_FETCH(atomicSub, int, __atomic_fetch_sub, 0)
SIM_ATOMIC_FETCH(atomicSub, unsigned, __atomic_fetch_sub, 0)
SIM_ATOMIC_LOOP(atomicMin, long long, (old < value ? old : value))
SIM_ATOMIC_LOOP(atomicMax, long long, (old < value ? value : old))
SIM_ATOMIC_LOOP(atomicInc, unsigned, (old >= value ? 0 : old + 1))
SIM_ATOMIC_LOOP(atomicDec, unsigned, (old == 0 || old > value ? value : old - 1))
SIM_ATOMIC_LOOP(atomicAdd, float, (old + value))
SIM_ATOMIC_LOOP(atomicAdd, double, (old + value))
SIM_ATOMIC_LOOP(atomicExch, float, ((void)old, value))
SIM_ATOMIC_CAS(unsigned short)

// Atomics for one block, or for host and device: their values are the same. The checked build reports those for one block where
// several blocks update one address.
#define SIM_SCOPE(NAME, SCOPE, CHECK)                                                                                \
    template <class T, class V> SIM_INLINE auto NAME##SCOPE(T* p, V v) -> decltype(NAME(p, (T)v)) { CHECK; return NAME(p, (T)v); }
#define SIM_SCOPES(NAME) SIM_SCOPE(NAME, _block, SIM_OF_BLOCK) SIM_SCOPE(NAME, _system, (void)0)
#define SIM_SCOPE_CAS(SCOPE, CHECK)                                                                                  \
    template <class T, class E, class V>                                                                             \
    SIM_INLINE auto atomicCAS##SCOPE(T* p, E e, V v) -> decltype(atomicCAS(p, (T)e, (T)v)) {                         \
        CHECK;                                                                                                       \
        return atomicCAS(p, (T)e, (T)v);                                                                             \
    }
SIM_SCOPES(atomicAdd) SIM_SCOPES(atomicSub) SIM_SCOPES(atomicMin) SIM_SCOPES(atomicMax) SIM_SCOPES(atomicExch)
SIM_SCOPES(atomicAnd) SIM_SCOPES(atomicOr) SIM_SCOPES(atomicXor) SIM_SCOPES(atomicInc) SIM_SCOPES(atomicDec)
SIM_SCOPE_CAS(_block, SIM_OF_BLOCK) SIM_SCOPE_CAS(_system, (void)0)
