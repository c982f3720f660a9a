// LayerNorm: forward and backward. (Ba, Kiros and Hinton 2016) Twin of layernorm.cu.
//
// Promise: y = (x - mean) rstd weight + bias for each row of x (rows, C), mean and rstd = 1 / sqrt(variance + eps) kept; dx.
//   layernorm_weights leaves sums of dy xhat and of dy over 64 rows as a row of `partial` (parts, 2C), which reduce_columns.wgsl
//   adds up to dweight and dbias: no atomics. A group owns a row.
// Constants: BIAS, DTOTAL.

// include "norm_row.wgsl"

const RMS = false;
const RESIDUAL = false;

@compute @workgroup_size(THREADS)
fn layernorm_forward(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
                     @builtin(local_invocation_index) lane: u32) {
    forward(group_index(group, groups), lane);
}

@compute @workgroup_size(THREADS)
fn layernorm_backward(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
                      @builtin(local_invocation_index) lane: u32) {
    backward(group_index(group, groups), lane);
}

@compute @workgroup_size(THREADS)
fn layernorm_weights(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
                     @builtin(local_invocation_index) lane: u32) {
    collect(element_index(group, groups, lane));
}
