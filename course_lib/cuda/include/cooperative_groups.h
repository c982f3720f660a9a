// Cooperative groups: the block, tiles of a warp, coalesced groups; reduce and scan.
#pragma once
#include "simulator/sync.h"

namespace cooperative_groups {

// What is not simulated stops the compiler with a sentence that has its name, and only that: what it returns can be kept.
#define SIM_NO_GROUP(NAME, ...)                                                                                   \
    template <class Never = void, class... Any> static int NAME(Any&&...) {                                       \
        static_assert(!std::is_void<Never>::value, #NAME "_is_not_simulated: " __VA_ARGS__);                      \
        return 0;                                                                                                 \
    }

struct sim_tile_memory;
struct thread_block {
    sim_tile_memory* sim_memory = nullptr;  // for tiles of more than a warp
    static void sync(SIM_HERE) { __syncthreads(file, line); }
    SIM_NO_GROUP(barrier_arrive, "call sync()")
    SIM_NO_GROUP(barrier_wait, "call sync()")
    static unsigned thread_rank() { return sim_thread(); }
    static unsigned size() { return blockDim.x * blockDim.y * blockDim.z; }
    static unsigned num_threads() { return size(); }
    static dim3 group_index() { return dim3(blockIdx); }
    static dim3 thread_index() { return dim3(threadIdx); }
    static dim3 group_dim() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
    static dim3 dim_threads() { return group_dim(); }
};
SIM_INLINE thread_block this_thread_block() { return {}; }

SIM_FUNCTION bool sim_resident() { return sim_block->launch->resident; }
struct grid_group {
    static unsigned long long num_blocks() { return (unsigned long long)gridDim.x * gridDim.y * gridDim.z; }
    static unsigned long long block_rank() {
        return ((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    }
    static dim3 block_index() { return dim3(blockIdx); }
    static dim3 dim_blocks() { return dim3(gridDim.x, gridDim.y, gridDim.z); }
    static dim3 group_dim() { return dim_blocks(); }
    static unsigned long long size() { return num_blocks() * thread_block::size(); }
    static unsigned long long num_threads() { return size(); }
    static unsigned long long thread_rank() { return block_rank() * thread_block::size() + sim_thread(); }
#if defined(__wasm__)  // one worker, one block at a time
    static bool is_valid() { return false; }
    template <class Never = void> static void sync(const char* = nullptr, int = 0) {
        static_assert(!std::is_void<Never>::value, "grid_sync_is_not_simulated");
    }
#else
    static bool is_valid() { return sim_resident(); }
    static void sync(SIM_HERE) {
        sim_wait_for_block(file, line);
        sim_grid_sync(file, line);
    }
#endif
    SIM_NO_GROUP(barrier_arrive, "call sync()")
    SIM_NO_GROUP(barrier_wait, "call sync()")
};
SIM_INLINE grid_group this_grid() { return {}; }

SIM_INLINE SIM_UNCHECKED void sim_copy(void* to, const void* from, size_t bytes) { __builtin_memcpy(to, from, bytes); }

// What tiles and coalesced groups share: a mask of lanes, and the rank of each lane among them.
template <class Group>
struct lanes {
    const Group& self() const { return static_cast<const Group&>(*this); }
    void sync(SIM_HERE) const { __syncwarp(self().mask(), file, line); }
    int any(int p, SIM_HERE) const { return __any_sync(self().mask(), p, file, line); }
    int all(int p, SIM_HERE) const { return __all_sync(self().mask(), p, file, line); }
    unsigned ballot(int p, SIM_HERE) const { return self().to_ranks(__ballot_sync(self().mask(), p, file, line)); }
    template <class T> unsigned match_all(T v, int& all_same, SIM_HERE) const {
        return self().to_ranks(__match_all_sync(self().mask(), v, &all_same, file, line));
    }
    template <class T> unsigned match_any(T v, SIM_HERE) const {
        return self().to_ranks(__match_any_sync(self().mask(), v, file, line));
    }
    // A value of up to 32 bytes is exchanged in parts of 8.
    template <class T> T sim_shuffle_any(T v, unsigned lane, const char* file, int line) const {
        static_assert(std::is_trivially_copyable<T>::value && sizeof(T) <= 32,
                      "a group's shuffle moves values of at most 32 bytes that can be copied byte by byte");
        if constexpr (sizeof(T) <= 8) return sim_shuffle(self().mask(), v, lane, file, line);
        else {
            uint64_t parts[(sizeof(T) + 7) / 8] = {};
            sim_copy(parts, &v, sizeof(T));
            for (uint64_t& part : parts) part = sim_shuffle(self().mask(), part, lane, file, line);
            sim_copy(&v, parts, sizeof(T));
            return v;
        }
    }
    template <class T> T shfl(T v, unsigned rank, SIM_HERE) const {
        return sim_shuffle_any(v, self().lane_of(rank % self().size()), file, line);
    }
    template <class T> T shfl_down(T v, unsigned delta, SIM_HERE) const {
        unsigned rank = self().thread_rank(), source = rank + delta;
        return sim_shuffle_any(v, self().lane_of(source < self().size() ? source : rank), file, line);
    }
    template <class T> T shfl_up(T v, unsigned delta, SIM_HERE) const {
        unsigned rank = self().thread_rank();
        return sim_shuffle_any(v, self().lane_of(rank >= delta ? rank - delta : rank), file, line);
    }
    template <class T> T shfl_xor(T v, unsigned bits, SIM_HERE) const {
        unsigned rank = self().thread_rank(), source = rank ^ bits;
        return sim_shuffle_any(v, self().lane_of(source < self().size() ? source : rank), file, line);
    }
};

// The rank of a tile among its parent's. thread_block_tile<N> forgets its parent, so it carries the numbers.
template <unsigned N, class Parent> struct sim_tile_of {
    static unsigned meta_group_rank() { return Parent::thread_rank() / N; }
    static unsigned meta_group_size() { return (Parent::size() + N - 1) / N; }
};
template <unsigned N> struct sim_tile_of<N, void> {
    unsigned meta_rank = 0, meta_size = 1;
    unsigned meta_group_rank() const { return meta_rank; }
    unsigned meta_group_size() const { return meta_size; }
};

template <unsigned N, class Parent = void>
struct thread_block_tile : lanes<thread_block_tile<N, Parent>>, sim_tile_of<N, Parent> {
    static_assert(N >= 1 && N <= 32 && (N & (N - 1)) == 0, "a tile has 1, 2, 4, 8, 16 or 32 threads");
    thread_block_tile() = default;
    template <class Other> thread_block_tile(const thread_block_tile<N, Other>& other) {
        if constexpr (std::is_void<Parent>::value) {
            this->meta_rank = other.meta_group_rank();
            this->meta_size = other.meta_group_size();
        }
    }
    static unsigned first() { return sim_lane() & ~(N - 1); }
    static unsigned mask() { return N == 32 ? 0xffffffffu : ((1u << (N & 31)) - 1) << first(); }
    static unsigned lane_of(unsigned rank) { return first() + rank; }
    static unsigned to_ranks(unsigned mask) { return mask >> first() & (N == 32 ? 0xffffffffu : (1u << (N & 31)) - 1); }
    static constexpr unsigned size() { return N; }
    static constexpr unsigned num_threads() { return N; }
    static unsigned thread_rank() { return sim_thread() & (N - 1); }
};
#include "simulator/large_tiles.h"
template <unsigned THREADS> SIM_INLINE thread_block this_thread_block(block_tile_memory<THREADS>& memory, SIM_HERE) {
    if (sim_thread() < 31) memory.sim_memory.arrived[sim_thread()] = memory.sim_memory.phase[sim_thread()] = 0;
    __syncthreads(file, line);
    return {&memory.sim_memory};
}
template <unsigned N, class Parent> SIM_INLINE thread_block_tile<N, Parent> tiled_partition(const Parent& parent) {
    if constexpr (N > 32) {
        static_assert(std::is_same<Parent, thread_block>::value, "a tile of more than a warp is a part of a block");
        return thread_block_tile<N, Parent>(parent);
    } else {
        (void)parent;
        return {};
    }
}

struct coalesced_group : lanes<coalesced_group> {
    unsigned members, meta_rank, meta_size;
    explicit coalesced_group(unsigned mask, unsigned rank = 0, unsigned size = 1)
        : members(mask), meta_rank(rank), meta_size(size) {}
    unsigned meta_group_rank() const { return meta_rank; }
    unsigned meta_group_size() const { return meta_size; }
    unsigned mask() const { return members; }
    unsigned size() const { return __builtin_popcount(members); }
    unsigned num_threads() const { return size(); }
    unsigned thread_rank() const { return __builtin_popcount(members & ((1u << sim_lane()) - 1)); }
    unsigned lane_of(unsigned rank) const {
        unsigned left = members;
        while (rank--) left &= left - 1;
        return __builtin_ctz(left);
    }
    unsigned to_ranks(unsigned mask) const {
        unsigned ranks = 0;
        for (unsigned left = members, rank = 0; left; left &= left - 1, rank++)
            if (mask >> __builtin_ctz(left) & 1) ranks |= 1u << rank;
        return ranks;
    }
};
// Any of these groups, for functions that take all kinds.
struct thread_group {
    unsigned members = 0;  // lanes of the warp; 0 for the whole block
    thread_group(const thread_block&) {}
    thread_group(const coalesced_group& group) : members(group.mask()) {}
    template <unsigned N, class Parent> thread_group(const thread_block_tile<N, Parent>& tile) : members(tile.mask()) {}
    void sync(SIM_HERE) const {
        if (members) __syncwarp(members, file, line);
        else __syncthreads(file, line);
    }
    unsigned size() const { return members ? __builtin_popcount(members) : thread_block::size(); }
    unsigned num_threads() const { return size(); }
    unsigned thread_rank() const { return members ? __builtin_popcount(members & ((1u << sim_lane()) - 1)) : sim_thread(); }
};
SIM_INLINE coalesced_group coalesced_threads(SIM_HERE) { return coalesced_group(__activemask(file, line)); }

#include "simulator/partitions.h"

template <class Group> SIM_INLINE void sync(const Group& group, SIM_HERE) { group.sync(file, line); }
template <class Group> SIM_INLINE auto thread_rank(const Group& group) { return group.thread_rank(); }
template <class Group> SIM_INLINE auto group_size(const Group& group) { return group.num_threads(); }

// One thread of the group runs the function; which one is left open on a GPU.
template <class Group, class F, class... A> SIM_INLINE void invoke_one(const Group& group, F&& function, A&&... arguments) {
    if (group.thread_rank() == 0) function(arguments...);
}
template <class Group, class F, class... A>
SIM_INLINE auto invoke_one_broadcast(const Group& group, F&& function, A&&... arguments) {
    std::decay_t<decltype(function(arguments...))> result{};
    if (group.thread_rank() == 0) result = function(arguments...);
    return group.shfl(result, 0);
}

template <class T> struct plus { T operator()(T a, T b) const { return a + b; } };
template <class T> struct less { T operator()(T a, T b) const { return b < a ? b : a; } };
template <class T> struct greater { T operator()(T a, T b) const { return a < b ? b : a; } };
template <class T> struct bit_and { T operator()(T a, T b) const { return a & b; } };
template <class T> struct bit_or { T operator()(T a, T b) const { return a | b; } };
template <class T> struct bit_xor { T operator()(T a, T b) const { return a ^ b; } };

template <class Group, class T, class F>
SIM_INLINE T sim_reduce(const Group& group, T value, F combine, const char* file, int line) {
    const unsigned size = group.size(), rank = group.thread_rank();
    for (unsigned step = 1; step < size; step *= 2) {
        T other = group.shfl_down(value, step, file, line);
        if (rank + step < size) value = combine(value, other);
    }
    return group.shfl(value, 0, file, line);
}
template <class Group, class T, class F> SIM_INLINE T reduce(const Group& group, T value, F combine, SIM_HERE) {
    return sim_reduce(group, value, combine, file, line);
}
template <unsigned N, class Parent, class T, class F>
SIM_INLINE T reduce(const thread_block_tile<N, Parent>& tile, T value, F combine, SIM_HERE) {
    if constexpr (N <= 32) return sim_reduce(tile, value, combine, file, line);
    else return tile.sim_combined(sim_reduce(thread_block_tile<32>(), value, combine, file, line), combine);
}
template <class Group, class T, class F>
SIM_INLINE T inclusive_scan(const Group& group, T value, F combine, SIM_HERE) {
    const unsigned size = group.size(), rank = group.thread_rank();
    for (unsigned step = 1; step < size; step *= 2) {
        T other = group.shfl_up(value, step, file, line);
        if (rank >= step) value = combine(other, value);
    }
    return value;
}
template <class Group, class T> SIM_INLINE T inclusive_scan(const Group& group, T value, SIM_HERE) {
    return inclusive_scan(group, value, plus<T>(), file, line);
}
template <class Group, class T, class F>
SIM_INLINE T exclusive_scan(const Group& group, T value, F combine, SIM_HERE) {
    T before = group.shfl_up(inclusive_scan(group, value, combine, file, line), 1, file, line);
    return group.thread_rank() ? before : T(0);
}
template <class Group, class T> SIM_INLINE T exclusive_scan(const Group& group, T value, SIM_HERE) {
    return exclusive_scan(group, value, plus<T>(), file, line);
}

}  // namespace cooperative_groups
