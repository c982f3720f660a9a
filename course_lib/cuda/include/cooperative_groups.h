// Cooperative groups: the block, tiles of a warp, the lanes that happen to be together; reduce and scan.
#pragma once
#include "simulator/sync.h"

namespace cooperative_groups {

struct thread_block {
    static void sync(SIM_HERE) { __syncthreads(file, line); }
    static unsigned thread_rank() { return sim_thread(); }
    static unsigned size() { return blockDim.x * blockDim.y * blockDim.z; }
    static unsigned num_threads() { return size(); }
    static dim3 group_index() { return dim3(blockIdx); }
    static dim3 thread_index() { return dim3(threadIdx); }
    static dim3 group_dim() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
    static dim3 dim_threads() { return group_dim(); }
};
SIM_INLINE thread_block this_thread_block() { return {}; }

struct grid_group {
    static unsigned long long size() {
        return (unsigned long long)gridDim.x * gridDim.y * gridDim.z * thread_block::size();
    }
    static unsigned long long thread_rank() {
        return ((unsigned long long)(blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x) * thread_block::size() +
               sim_thread();
    }
    static unsigned long long num_threads() { return size(); }
    static dim3 group_dim() { return dim3(gridDim.x, gridDim.y, gridDim.z); }
    static bool is_valid() { return false; }
    template <class Never = void> static void sync() {
        static_assert(!std::is_void<Never>::value, "grid_sync_is_not_simulated");
    }
};
SIM_INLINE grid_group this_grid() { return {}; }

// What tiles and coalesced groups share: a mask of lanes, and the rank of each lane among them.
template <class Group>
struct lanes {
    const Group& self() const { return static_cast<const Group&>(*this); }
    void sync(SIM_HERE) const { __syncwarp(self().mask(), file, line); }
    int any(int p, SIM_HERE) const { return __any_sync(self().mask(), p, file, line); }
    int all(int p, SIM_HERE) const { return __all_sync(self().mask(), p, file, line); }
    unsigned ballot(int p, SIM_HERE) const { return self().to_ranks(__ballot_sync(self().mask(), p, file, line)); }
    template <class T> unsigned match_any(T v, SIM_HERE) const {
        return self().to_ranks(__match_any_sync(self().mask(), v, file, line));
    }
    template <class T> T shfl(T v, unsigned rank, SIM_HERE) const {
        return sim_shuffle(self().mask(), v, self().lane_of(rank % self().size()), file, line);
    }
    template <class T> T shfl_down(T v, unsigned delta, SIM_HERE) const {
        unsigned rank = self().thread_rank(), source = rank + delta;
        return sim_shuffle(self().mask(), v, self().lane_of(source < self().size() ? source : rank), file, line);
    }
    template <class T> T shfl_up(T v, unsigned delta, SIM_HERE) const {
        unsigned rank = self().thread_rank();
        return sim_shuffle(self().mask(), v, self().lane_of(rank >= delta ? rank - delta : rank), file, line);
    }
    template <class T> T shfl_xor(T v, unsigned bits, SIM_HERE) const {
        unsigned rank = self().thread_rank(), source = rank ^ bits;
        return sim_shuffle(self().mask(), v, self().lane_of(source < self().size() ? source : rank), file, line);
    }
};

template <unsigned N, class Parent = void>
struct thread_block_tile : lanes<thread_block_tile<N, Parent>> {
    static_assert(N >= 1 && N <= 32 && (N & (N - 1)) == 0, "a tile has 1, 2, 4, 8, 16 or 32 threads");
    thread_block_tile() = default;
    template <class Other> thread_block_tile(const thread_block_tile<N, Other>&) {}
    static unsigned first() { return sim_lane() & ~(N - 1); }
    static unsigned mask() { return N == 32 ? 0xffffffffu : ((1u << (N & 31)) - 1) << first(); }
    static unsigned lane_of(unsigned rank) { return first() + rank; }
    static unsigned to_ranks(unsigned mask) { return mask >> first() & (N == 32 ? 0xffffffffu : (1u << (N & 31)) - 1); }
    static constexpr unsigned size() { return N; }
    static constexpr unsigned num_threads() { return N; }
    static unsigned thread_rank() { return sim_thread() & (N - 1); }
    static unsigned meta_group_rank() { return sim_thread() / N; }
    static unsigned meta_group_size() { return (thread_block::size() + N - 1) / N; }
};
template <unsigned N, class Parent> SIM_INLINE thread_block_tile<N, Parent> tiled_partition(const Parent&) { return {}; }

struct coalesced_group : lanes<coalesced_group> {
    unsigned members;
    explicit coalesced_group(unsigned mask) : members(mask) {}
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
// Any of these groups, for functions that take whichever they are given.
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
SIM_INLINE thread_group tiled_partition(const thread_group&, unsigned size) {
    return coalesced_group((size == 32 ? 0xffffffffu : (1u << size) - 1) << (sim_lane() & ~(size - 1)));
}

SIM_INLINE coalesced_group coalesced_threads(SIM_HERE) { return coalesced_group(__activemask(file, line)); }

template <class Group> SIM_INLINE void sync(const Group& group, SIM_HERE) { group.sync(file, line); }

template <class T> struct plus { T operator()(T a, T b) const { return a + b; } };
template <class T> struct less { T operator()(T a, T b) const { return b < a ? b : a; } };
template <class T> struct greater { T operator()(T a, T b) const { return a < b ? b : a; } };
template <class T> struct bit_and { T operator()(T a, T b) const { return a & b; } };
template <class T> struct bit_or { T operator()(T a, T b) const { return a | b; } };
template <class T> struct bit_xor { T operator()(T a, T b) const { return a ^ b; } };

template <class Group, class T, class F>
SIM_INLINE T reduce(const Group& group, T value, F combine, SIM_HERE) {
    const unsigned size = group.size(), rank = group.thread_rank();
    for (unsigned step = 1; step < size; step *= 2) {
        T other = group.shfl_down(value, step, file, line);
        if (rank + step < size) value = combine(value, other);
    }
    return group.shfl(value, 0, file, line);
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
