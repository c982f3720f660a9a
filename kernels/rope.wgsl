// RoPE: every pair (i, i + D/2) of a head rotated by the angle of its position; forward and backward. (Su et al. 2021)
//
// Promise: y of x (B, T, H, D) with cosines and sines (T, D/2); backward rotates back. A thread owns a pair. Twin of rope.cu.

// include "group.wgsl"

struct Args {
    n: u32,
    T: u32,
    H: u32,
    half: u32,
}
@group(0) @binding(0) var<uniform> args: Args;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> cosines: array<f32>;
@group(0) @binding(3) var<storage, read> sines: array<f32>;
@group(0) @binding(4) var<storage, read_write> y: array<f32>;

fn rotate(pair: u32, sign: f32) {
    if (pair >= args.n) {
        return;
    }
    let i = pair % args.half;
    let row = pair / args.half;
    let angle = row / args.H % args.T * args.half + i;
    let c = cosines[angle];
    let s = sign * sines[angle];
    let at = row * 2 * args.half + i;
    let first = x[at];
    let second = x[at + args.half];
    y[at] = first * c - second * s;
    y[at + args.half] = second * c + first * s;
}

@compute @workgroup_size(THREADS)
fn rope_forward(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
                @builtin(local_invocation_index) lane: u32) {
    rotate(element_index(group, groups, lane), 1.0);
}

@compute @workgroup_size(THREADS)
fn rope_backward(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
                 @builtin(local_invocation_index) lane: u32) {
    rotate(element_index(group, groups, lane), -1.0);
}
