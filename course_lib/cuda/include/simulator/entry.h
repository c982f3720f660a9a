// From a kernel's type to a function that runs threads of a block, and to a description of its parameters.
#pragma once
#include "ending.h"
#include "sync.h"

namespace sim {

// How a parameter is passed: kind 'f' float, 'i' signed, 'u' unsigned, 'b' bool, 's' struct, 'v' void, 'h' half, 'g' bf16.
struct Parameter {
    char kind;
    bool pointer, constant;
    unsigned bytes;          // of the value, or of what the pointer points to (0 for void)
    unsigned element_bytes;  // of one component, for vector types
    unsigned alignment;
};

template <class T> struct Kind {
    static constexpr char kind = std::is_same<T, bool>::value       ? 'b'
                                 : std::is_floating_point<T>::value ? 'f'
                                 : std::is_enum<T>::value           ? 'i'
                                 : std::is_unsigned<T>::value       ? 'u'
                                 : std::is_integral<T>::value       ? 'i'
                                                                    : 's';
    static constexpr unsigned element = sizeof(T);
};
template <> struct Kind<void> { static constexpr char kind = 'v'; static constexpr unsigned element = 0; };

#define SIM_KIND(TYPE, KIND, ELEMENT) \
    template <> struct Kind<TYPE> { static constexpr char kind = KIND; static constexpr unsigned element = ELEMENT; };
#define SIM_KINDS(NAME, KIND, ELEMENT) \
    SIM_KIND(NAME##1, KIND, ELEMENT) SIM_KIND(NAME##2, KIND, ELEMENT) SIM_KIND(NAME##3, KIND, ELEMENT) SIM_KIND(NAME##4, KIND, ELEMENT)
SIM_KINDS(char, 'i', 1) SIM_KINDS(uchar, 'u', 1) SIM_KINDS(short, 'i', 2) SIM_KINDS(ushort, 'u', 2)
SIM_KINDS(int, 'i', 4) SIM_KINDS(uint, 'u', 4) SIM_KINDS(long, 'i', 8) SIM_KINDS(ulong, 'u', 8)
SIM_KINDS(longlong, 'i', 8) SIM_KINDS(ulonglong, 'u', 8) SIM_KINDS(float, 'f', 4) SIM_KINDS(double, 'f', 8)

template <class T> struct SizeOf { static constexpr unsigned value = sizeof(T), alignment = alignof(T); };
template <> struct SizeOf<void> { static constexpr unsigned value = 0, alignment = 1; };

template <class A> constexpr Parameter describe() {
    using Value = std::decay_t<A>;
    using Target = std::remove_pointer_t<Value>;
    using Bare = std::remove_cv_t<Target>;
    return {Kind<Bare>::kind, std::is_pointer<Value>::value, std::is_const<Target>::value, SizeOf<Bare>::value,
            Kind<Bare>::element, SizeOf<Bare>::alignment};
}

#ifdef SIM_CHECKED
// A thread's own copy of an argument, made without hooks.
template <class T> struct Copy {
    alignas(T) char bytes[sizeof(T)];
    SIM_UNCHECKED explicit Copy(const void* from) {
#if defined(__clang__)
        void* to = bytes;
        __builtin_memcpy_inline(to, from, sizeof(T));  // no call, which would be checked
        __asm__ volatile("" : : "r"(to) : "memory");   // nor one from `from` to where the kernel finds its argument
#else
        __builtin_memcpy(bytes, from, sizeof(T));
#endif
    }
    SIM_UNCHECKED T& value() { return *reinterpret_cast<T*>(bytes); }
};
#endif

#if defined(__wasm__)
template <class T> __attribute__((noinline)) SIM_UNCHECKED static T argument(const Launch* launch, size_t i) {
    return *static_cast<T*>(launch->arguments[i]);
}
#endif

template <auto KERNEL> struct Entry;
template <class... A, void (*KERNEL)(A...)> struct Entry<KERNEL> {
    static int describe_parameters(Parameter* out) {
        int count = 0;
        ((out[count++] = describe<A>()), ...);
        return count;
    }

#if defined(__wasm__)
    // The kernel is a part of this, as of whatever else it calls that waits: a coroutine has one frame.
    template <size_t... I> SIM_INLINE void run(const Launch* launch, std::index_sequence<I...>) {
        KERNEL(argument<std::decay_t<A>>(launch, I)...);
    }
    using Numbers = std::index_sequence_for<A...>;
#else
    static void run(const Launch* launch, Index block, unsigned first, unsigned last) {
        run_threads(launch, block, first, last, std::index_sequence_for<A...>{});
    }

#ifdef SIM_CHECKED
    template <size_t... I>
    SIM_UNCHECKED static void run_threads(const Launch* launch, Index, unsigned first, unsigned last,
                                          std::index_sequence<I...>) {
        void (*volatile kernel)(A...) = KERNEL;  // not inlined: its threadIdx must not be taken for a constant here
        Block* state = sim_block;
        if (last - first == 1) return kernel(Copy<std::decay_t<A>>(launch->arguments[I]).value()...);
        for (unsigned thread = first; thread < last; thread++) {
            state->current = thread;
            kernel(Copy<std::decay_t<A>>(launch->arguments[I]).value()...);
            if (!(state->mode & PLAIN)) return;
        }
    }
#else
    template <size_t... I>
    static void run_threads(const Launch* launch, Index block, unsigned first, unsigned last, std::index_sequence<I...>) {
        run_loop(launch, block, first, last, *static_cast<std::decay_t<A>*>(launch->arguments[I])...);
    }

    // Not inlined: its frame on the fiber's stack stays small.
    static void call(A... arguments) {
        void (*volatile kernel)(A...) = KERNEL;
        kernel(arguments...);
    }

    // The arguments are copies: what a kernel stores cannot change the launcher's.
    __attribute__((flatten)) static void run_loop(const Launch* launch, Index block, unsigned first, unsigned last,
                                                  A... arguments) {
        const unsigned X = launch->block.x, Y = launch->block.y, Z = launch->block.z;
        gridDim = dim3(launch->grid.x, launch->grid.y, launch->grid.z);
        blockDim = dim3(X, Y, Z);
        blockIdx = uint3{block.x, block.y, block.z};
        if (last - first < X * Y * Z) {  // one thread, on a fiber of its own
            threadIdx = uint3{first % X, first / X % Y, first / (X * Y)};
            return call(arguments...);
        }
        if (X == 0 || X > 1024) __builtin_unreachable();
        if (block.x * X > 0x7fffffffu - 1024) __builtin_unreachable();  // the launch has made sure: lets loops vectorise
        sim_waited = false;
        for (unsigned z = 0; z < Z; ++z)
            for (unsigned y = 0; y < Y; ++y)
                for (unsigned x = 0; x < X; ++x) {
                    threadIdx = uint3{x, y, z};
#ifdef SIM_NEVER_WAITS
                    KERNEL(arguments...);  // inlined, and vectorised if it can be
#else
                    call(arguments...);  // the same code as on a fiber: the same bits in every order
#endif
                    if (__builtin_expect(sim_waited, 0)) return;
                }
    }
#endif
#endif
};

}  // namespace sim

#if defined(SIM_CHECKED) && !defined(__wasm__)
// Lies at a fixed offset from this worker's copies of the shared arrays: so the checker finds them.
SIM_EXPORT SIM_UNCHECKED char* sim_find_anchor() {
    static thread_local char sim_anchor[64];
    return sim_anchor;
}
#endif
