// What flash_attention_forward.wgsl and flash_attention_backward.wgsl share: arguments, the lanes of a workgroup, and which keys
// a query attends to.
//
// Constants: D; CAUSAL.

const OWN = 16u; // rows of a group
const LANES = 8u; // threads of one row
const ITEMS = (D + LANES - 1) / LANES;
const ROW = D + 1; // padded, so that threads that read consecutive rows use different banks

struct Args {
    T: u32,
    S: u32,
    H: u32,
    G: u32,
    scale: f32,
}
@group(0) @binding(0) var<uniform> args: Args;
@group(0) @binding(1) var<storage, read> q: array<f32>;
@group(0) @binding(2) var<storage, read> k: array<f32>;
@group(0) @binding(3) var<storage, read> v: array<f32>;

// The keys of the group's head: + s G D.
fn keys_of(group: vec3<u32>) -> u32 {
    return (group.z * args.S * args.G + group.y * args.G / args.H) * D;
}

// How many of the last keys no query of a group sees whose queries begin at `first`.
fn hidden_from(first: u32) -> u32 {
    return select(0u, args.T - 1 - min(first + OWN - 1, args.T - 1), CAUSAL);
}

// How many keys query t sees.
fn seen_by(t: u32) -> u32 {
    return select(args.S, args.S - args.T + t + 1, CAUSAL);
}
