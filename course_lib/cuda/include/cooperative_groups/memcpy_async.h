// cg::memcpy_async, cg::wait and cg::wait_prior. Each call is a group of copies of its own.
#pragma once
#include "../cooperative_groups.h"
#include "../cuda/barrier"
#include "../simulator/async_copies.h"

namespace cooperative_groups {

template <class Group, class T> SIM_INLINE void memcpy_async(const Group& group, T* to, const T* from, size_t bytes) {
    sim_copy_async(group.thread_rank(), group.size(), to, from, bytes);
    ptx::cp_async_commit();
}
template <class Group, class T, size_t ALIGNMENT>
SIM_INLINE void memcpy_async(const Group& group, T* to, const T* from, const cuda::aligned_size_t<ALIGNMENT>& bytes) {
    sim_copy_async<ALIGNMENT>(group.thread_rank(), group.size(), to, from, bytes);
    ptx::cp_async_commit();
}
// Numbers of elements: the shorter of the two counts.
template <class Group, class T>
SIM_INLINE void memcpy_async(const Group& group, T* to, size_t room, const T* from, size_t elements) {
    memcpy_async(group, to, from, (room < elements ? room : elements) * sizeof(T));
}
template <unsigned LEFT, class Group> SIM_INLINE void wait_prior(const Group& group, SIM_HERE) {
    ptx::cp_async_wait<LEFT>();
    group.sync(file, line);
}
template <class Group> SIM_INLINE void wait(const Group& group, SIM_HERE) {
    ptx::cp_async_wait_all();
    group.sync(file, line);
}

}  // namespace cooperative_groups
