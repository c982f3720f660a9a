// RMSNorm: each row divided by its root mean square. Forward and backward. (Zhang and Sennrich 2019) Twin of rmsnorm.cu.
//
// Promise: y = x rstd weight for each row of x (rows, C), rstd = 1 / sqrt(mean(x^2) + eps) kept; dx.
//   rmsnorm_weights leaves sums of dy xhat and of dy over 64 rows as a row of `partial` (parts, 2C), which reduce_columns.wgsl
//   adds up to dweight: no atomics. A group owns a row.
// Constants: BIAS, DTOTAL.

// include "norm_row.wgsl"

const RMS = true;
const RESIDUAL = false;

@compute @workgroup_size(THREADS)
fn rmsnorm_forward(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
                   @builtin(local_invocation_index) lane: u32) {
    forward(group_index(group, groups), lane);
}

@compute @workgroup_size(THREADS)
fn rmsnorm_backward(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
                    @builtin(local_invocation_index) lane: u32) {
    backward(group_index(group, groups), lane);
}

@compute @workgroup_size(THREADS)
fn rmsnorm_weights(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
                   @builtin(local_invocation_index) lane: u32) {
    collect(element_index(group, groups, lane));
}
