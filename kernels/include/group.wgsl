// The index of a workgroup or element in a one-dimensional launch; beyond the limit of a dimension workgroups are folded into rows.

const THREADS = 256u;

fn group_index(group: vec3<u32>, groups: vec3<u32>) -> u32 {
    return group.x + group.y * groups.x;
}

// The element of thread `lane` where each of 256 threads owns one.
fn element_index(group: vec3<u32>, groups: vec3<u32>, lane: u32) -> u32 {
    return group_index(group, groups) * THREADS + lane;
}
