// Residual and LayerNorm in one pass: total = x + residual, y = LayerNorm(total). Forward and backward. Twin of
// residual_layernorm.cu.
//
// Promise: as layernorm.wgsl, of total, which is kept; dx is the gradient of x and of residual alike, with dtotal added.
//   residual_layernorm_weights leaves sums of dy xhat and of dy over 64 rows as a row of `partial` (parts, 2C), which reduce_columns.wgsl
//   adds up to dweight and dbias: no atomics. A group owns a row.
// Constants: BIAS, DTOTAL.

// include "norm_row.wgsl"

const RMS = false;
const RESIDUAL = true;

@compute @workgroup_size(THREADS)
fn residual_layernorm_forward(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
                              @builtin(local_invocation_index) lane: u32) {
    forward(group_index(group, groups), lane);
}

@compute @workgroup_size(THREADS)
fn residual_layernorm_backward(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
                               @builtin(local_invocation_index) lane: u32) {
    backward(group_index(group, groups), lane);
}

@compute @workgroup_size(THREADS)
fn residual_layernorm_weights(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
                              @builtin(local_invocation_index) lane: u32) {
    collect(element_index(group, groups, lane));
}
