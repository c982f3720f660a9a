// What the model keeps in the GPU's memory: its weights, the keys and values that it has read, and what it computes on the way.
//
// Letters as in gpu_model.js.

import {matrix, packed} from './quantised.js';
import {ropeTables} from './rope.js';
import {take} from './safetensors.js';

/**
 * @typedef {import('./files.js').Config} Config
 * @typedef {import('./launching.js').Launcher} Launcher
 * @typedef {import('./safetensors.js').Weight} Weight
 * @typedef {{weight: GPUBuffer, bias: GPUBuffer | null, M: number, K: number, scales: GPUBuffer | null, bits: number}} Affine
 *     weight (M, K) of 32 bits, or of 8 or 4 in words, with scales; or (C) of a norm
 */

/** @param {Config} config */
export function sizes({channels: C, heads: H, kv_heads: G, hidden: F, activation}) {
  const D = C / H;
  return {D, kv: G * D, wide: activation === 'swiglu' ? 2 * F : F};
}

/**
 * Throws Problem where a weight is missing, or of another shape than the configuration says.
 * @param {Launcher} gpu
 * @param {Config} config
 * @param {Map<string, Weight>} weights
 */
export function upload(gpu, config, weights) {
  const {channels: C, hidden: F, context, vocab_size: V} = config;
  const {kv, wide} = sizes(config);
  const normed = config.bias && config.norm === 'layernorm';
  /** @type {(name: string, bias: string, first: number, rows: number, of: number, K: number) => Affine} rows `first` on of a layer */
  const layer = (name, bias, first, rows, of, K) => {
    const found = packed(weights, name, of, K);
    /** @type {(values: Float32Array | Uint32Array, line: number) => GPUBuffer} */
    const part = (values, line) => gpu.array(values.subarray(first * line, (first + rows) * line));
    return {
      weight: found ? part(found.words, found.line) : part(take(weights, name, of, K), K),
      bias: config.bias ? part(take(weights, bias, of), 1) : null,
      M: rows,
      K,
      scales: found && part(found.scales, found.groups),
      bits: found ? found.bits : 32,
    };
  };
  /** @type {(name: string, first: number, rows: number, of: number, K: number) => Affine} */
  const affine = (name, first, rows, of, K) => layer(`${name}.weight`, `${name}.bias`, first, rows, of, K);
  /** @type {(name: string) => Affine} */
  const norm = (name) => ({
    weight: gpu.array(take(weights, `${name}.weight`, C)),
    bias: normed ? gpu.array(take(weights, `${name}.bias`, C)) : null,
    M: C,
    K: C,
    scales: null,
    bits: 32,
  });
  const tables = config.positions === 'rope' ? ropeTables(config) : null;
  const head = layer('tokens.weight', 'head_bias', 0, V, V, C);
  return {
    head,
    tokens: head.scales ? gpu.array(matrix(weights, 'tokens.weight', V, C)) : head.weight, // rows are picked from floats
    positions: config.positions === 'learned' ? gpu.array(take(weights, 'positions.weight', context, C)) : null,
    rotation: tables && {cosines: gpu.array(tables.cosines), sines: gpu.array(tables.sines)},
    blocks: Array.from({length: config.layers}, (_, n) => ({
      norm1: norm(`blocks.${n}.norm1`),
      q: affine(`blocks.${n}.attention.qkv`, 0, C, C + 2 * kv, C),
      k: affine(`blocks.${n}.attention.qkv`, C, kv, C + 2 * kv, C),
      v: affine(`blocks.${n}.attention.qkv`, C + kv, kv, C + 2 * kv, C),
      out: affine(`blocks.${n}.attention.out`, 0, C, C, C),
      norm2: norm(`blocks.${n}.norm2`),
      up: affine(`blocks.${n}.mlp.up`, 0, wide, wide, C),
      down: affine(`blocks.${n}.mlp.down`, 0, C, C, F),
      keys: gpu.array(context * kv), // (context, G, D)
      values: gpu.array(context * kv),
    })),
    norm: norm('norm'),
  };
}

/** @typedef {ReturnType<typeof upload>['blocks'][0]} Block */

/**
 * Arrays with room for a whole context.
 * @param {Launcher} gpu
 * @param {Config} config
 */
export function workspace(gpu, config) {
  const {channels: C, heads: H, hidden: F, context, vocab_size: V} = config;
  const {D, kv, wide} = sizes(config);
  return {
    ids: gpu.array(context),
    positions: gpu.array(context),
    cosines: gpu.array((context * D) / 2),
    sines: gpu.array((context * D) / 2),
    stream: gpu.array(context * C),
    total: gpu.array(context * C), // what the stream becomes: no launch may write what it reads
    branch: gpu.array(context * C),
    x: gpu.array(context * C),
    statistics: gpu.array(context * 2),
    unused: gpu.array(1),
    q: gpu.array(context * C),
    k: gpu.array(context * kv),
    v: gpu.array(context * kv),
    rotated: gpu.array(context * C),
    turnedKeys: gpu.array(context * kv),
    attended: gpu.array(context * C),
    logsumexp: gpu.array(context * H),
    up: gpu.array(context * wide),
    activated: gpu.array(context * F),
    last: gpu.array(C),
    logits: gpu.array(V),
  };
}
