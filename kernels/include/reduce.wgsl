// Reductions over the 256 threads of a workgroup, by a tree in workgroup memory: the same order on every run. All threads call.

// include "group.wgsl"

var<workgroup> tree: array<f32, THREADS>;

fn group_sum(lane: u32, value: f32) -> f32 {
    tree[lane] = value;
    for (var half = THREADS / 2; half > 0; half /= 2) {
        workgroupBarrier();
        if (lane < half) {
            tree[lane] += tree[lane + half];
        }
    }
    workgroupBarrier();
    let total = tree[0];
    workgroupBarrier();
    return total;
}

fn group_max(lane: u32, value: f32) -> f32 {
    tree[lane] = value;
    for (var half = THREADS / 2; half > 0; half /= 2) {
        workgroupBarrier();
        if (lane < half) {
            tree[lane] = max(tree[lane], tree[lane + half]);
        }
    }
    workgroupBarrier();
    let largest = tree[0];
    workgroupBarrier();
    return largest;
}
