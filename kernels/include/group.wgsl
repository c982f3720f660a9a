// Which element or group of a one-dimensional launch: more groups than one dimension may have come folded into rows.

const THREADS = 256u;

fn group_index(group: vec3<u32>, groups: vec3<u32>) -> u32 {
    return group.x + group.y * groups.x;
}

// The element of thread `lane` where each of 256 threads minds its own.
fn element_index(group: vec3<u32>, groups: vec3<u32>, lane: u32) -> u32 {
    return group_index(group, groups) * THREADS + lane;
}
