// Groups cut into smaller ones. Included by cooperative_groups.h, inside its namespace.
#pragma once

// The lanes of the running thread's warp that exist: the last warp of a block may be cut short.
SIM_INLINE unsigned sim_lanes_of_warp() {
    const unsigned left = thread_block::size() - sim_thread() / sim::WARP * sim::WARP;
    return left < sim::WARP ? (1u << left) - 1 : 0xffffffffu;
}

// Every `size` lanes of a group, in the order of their ranks. Of a block: of its warps.
SIM_INLINE coalesced_group sim_tile_of_lanes(unsigned members, unsigned size) {
    const unsigned below = members & ((1u << sim_lane()) - 1), part = __builtin_popcount(below) / size;
    unsigned mask = 0, rank = 0;
    for (unsigned left = members; left; left &= left - 1, rank++)
        if (rank / size == part) mask |= left & -left;
    return coalesced_group(mask, part, (__builtin_popcount(members) + size - 1) / size);
}
SIM_INLINE thread_group tiled_partition(const thread_group& group, unsigned size) {
    return sim_tile_of_lanes(group.members ? group.members & sim_lanes_of_warp() : sim_lanes_of_warp(), size);
}
SIM_INLINE coalesced_group tiled_partition(const coalesced_group& group, unsigned size) {
    return sim_tile_of_lanes(group.mask(), size);
}

// The lanes with the same predicate, or the same label.
template <class Group> SIM_INLINE coalesced_group binary_partition(const Group& group, bool predicate, SIM_HERE) {
    const unsigned all = group.mask() & sim_lanes_of_warp(), yes = __ballot_sync(group.mask(), predicate, file, line);
    if (yes == all || !yes) return coalesced_group(all);
    return coalesced_group(predicate ? yes : all & ~yes, predicate, 2);
}
template <class Group, class T> SIM_INLINE coalesced_group labeled_partition(const Group& group, T label, SIM_HERE) {
    static_assert(std::is_integral<T>::value || std::is_pointer<T>::value, "labeled_partition takes an integer or a pointer");
    if constexpr (std::is_same<T, bool>::value) return binary_partition(group, label, file, line);
    const unsigned same = __match_any_sync(group.mask(), label, file, line), first = __builtin_ctz(same);
    const unsigned leaders = __ballot_sync(group.mask(), (int)first == sim_lane(), file, line);
    return coalesced_group(same, __builtin_popcount(leaders & ((1u << first) - 1)), __builtin_popcount(leaders));
}
