// Tiles of more than a warp: 64 to 1024 threads of a block that has given them memory (block_tile_memory).
// Included by cooperative_groups.h, inside its namespace.
//
// They synchronise by atomics in that memory, which the checker knows as an order; the counters count them among the kernel's own.
#pragma once

struct sim_tile_memory {
    unsigned arrived[31], phase[31];  // of one tile of 1024 threads, of two of 512, ... of sixteen of 64
    uint64_t slots[32][4];            // a value of each warp, which it writes itself
};
template <unsigned THREADS = 1024> struct block_tile_memory {
    static_assert(THREADS <= 1024, "a block has at most 1024 threads");
    sim_tile_memory sim_memory;
};

template <unsigned N> struct large_tile {
    sim_tile_memory* memory = nullptr;
    static unsigned thread_rank() { return sim_thread() % N; }
    static constexpr unsigned size() { return N; }
    static constexpr unsigned num_threads() { return N; }
    static unsigned meta_group_rank() { return sim_thread() / N; }
    static unsigned meta_group_size() { return (thread_block::size() + N - 1) / N; }

    void sync(SIM_HERE) const {
        (void)file, (void)line;
        unsigned tile = 1024 / N - 1 + meta_group_rank(), phase = atomicAdd(&memory->phase[tile], 0u);
        __threadfence_block();
        if (atomicAdd(&memory->arrived[tile], 1u) + 1 == N) {
            atomicExch(&memory->arrived[tile], 0u);
            __threadfence_block();
            atomicAdd(&memory->phase[tile], 1u);
        }
        while (atomicAdd(&memory->phase[tile], 0u) == phase) {}
        __threadfence_block();
    }
    template <class T> T* sim_slot(unsigned warp) const {
        static_assert(std::is_trivially_copyable<T>::value && sizeof(T) <= 32,
                      "a group exchanges values of at most 32 bytes that can be copied byte by byte");
        return reinterpret_cast<T*>(memory->slots[warp]);
    }
    // Where other threads wrote: never watched, as it is the group's own.
    template <class T> T sim_read(unsigned warp) const {
        T value;
        sim_copy(&value, sim_slot<T>(warp), sizeof(T));
        return value;
    }
    template <class T> T shfl(T value, unsigned rank) const {
        unsigned slot = (sim_thread() / N * N + rank) / sim::WARP;
        if (thread_rank() == rank) sim_copy(sim_slot<T>(slot), &value, sizeof(T));
        sync();
        value = sim_read<T>(slot);
        sync();
        return value;
    }
    // Each warp's first lane gives its warp's value; `combine` puts them together, from the first warp on.
    template <class T, class F> T sim_combined(T of_warp, F combine) const {
        unsigned warp = sim_thread() / sim::WARP, first = sim_thread() / N * N / sim::WARP;
        if (sim_lane() == 0) sim_copy(sim_slot<T>(warp), &of_warp, sizeof(T));
        sync();
        T all = sim_read<T>(first);
        for (unsigned i = 1; i < N / sim::WARP; i++) all = combine(all, sim_read<T>(first + i));
        sync();
        return all;
    }
    int any(int predicate, SIM_HERE) const {
        return sim_combined(__any_sync(0xffffffffu, predicate, file, line), [](int a, int b) { return a | b; });
    }
    int all(int predicate, SIM_HERE) const {
        return sim_combined(__all_sync(0xffffffffu, predicate, file, line), [](int a, int b) { return a & b; });
    }
};
#define SIM_LARGE_TILE(N)                                                                                     \
    template <class Parent> struct thread_block_tile<N, Parent> : large_tile<N> {                             \
        thread_block_tile() = default;                                                                        \
        template <class Other> thread_block_tile(const thread_block_tile<N, Other>& other) : large_tile<N>(other) {} \
        explicit thread_block_tile(const thread_block& block) : large_tile<N>{block.sim_memory} {}            \
    };
SIM_LARGE_TILE(64) SIM_LARGE_TILE(128) SIM_LARGE_TILE(256) SIM_LARGE_TILE(512) SIM_LARGE_TILE(1024)
#undef SIM_LARGE_TILE
