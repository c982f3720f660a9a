// The model in plain JavaScript: course_lib/model.py with a cache of keys and values, one text at a time.
//
// Letters: T tokens of this call, C channels, H heads, G key-value heads, D head size, F hidden, V vocabulary. Arrays are float32,
// sums are float64. Quantised weights are written out as floats when they are loaded.

import {matrix} from './quantised.js';
import {ropeTables} from './rope.js';
import {take} from './safetensors.js';

/**
 * @typedef {import('./files.js').Config} Config
 * @typedef {import('./safetensors.js').Weight} Weight
 * @typedef {{weight: Float32Array, bias: Float32Array | null}} Affine
 */

export class CpuModel {
  /**
   * @param {Config} config
   * @param {Map<string, Weight>} weights
   */
  constructor(config, weights) {
    this.config = config;
    const {channels: C, heads: H, kv_heads: G, hidden: F, context, vocab_size: V} = config;
    this.D = C / H;
    const kv = G * this.D;
    const normed = config.bias && config.norm === 'layernorm';
    /** @type {(name: string, biased: boolean, ...shape: number[]) => Affine} */
    const affine = (name, biased, ...shape) => ({
      weight: shape.length === 2 ? matrix(weights, `${name}.weight`, shape[0], shape[1]) : take(weights, `${name}.weight`, ...shape),
      bias: biased ? take(weights, `${name}.bias`, shape[0]) : null,
    });
    this.tokens = matrix(weights, 'tokens.weight', V, C);
    this.positions = config.positions === 'learned' ? take(weights, 'positions.weight', context, C) : null;
    this.rotation = config.positions === 'rope' ? ropeTables(config) : null;
    this.blocks = Array.from({length: config.layers}, (_, n) => ({
      norm1: affine(`blocks.${n}.norm1`, normed, C),
      qkv: affine(`blocks.${n}.attention.qkv`, config.bias, C + 2 * kv, C),
      out: affine(`blocks.${n}.attention.out`, config.bias, C, C),
      norm2: affine(`blocks.${n}.norm2`, normed, C),
      up: affine(`blocks.${n}.mlp.up`, config.bias, config.activation === 'swiglu' ? 2 * F : F, C),
      down: affine(`blocks.${n}.mlp.down`, config.bias, C, F),
      keys: new Float32Array(context * kv), // (context, G, D)
      values: new Float32Array(context * kv),
    }));
    this.norm = affine('norm', normed, C);
    this.headBias = config.bias ? take(weights, 'head_bias', V) : null;
    this.length = 0; // tokens read so far
  }

  forget() {
    this.length = 0;
  }

  /**
   * Logits (V) of what comes after `ids`, which continue what was read.
   * @param {number[]} ids
   * @returns {Float32Array}
   */
  read(ids) {
    const {channels: C, vocab_size: V} = this.config;
    const T = ids.length;
    const stream = new Float32Array(T * C);
    ids.forEach((id, t) => {
      for (let c = 0; c < C; c++) {
        stream[t * C + c] = this.tokens[id * C + c] + (this.positions ? this.positions[(this.length + t) * C + c] : 0);
      }
    });
    for (const block of this.blocks) {
      add(stream, this.attention(block, this.normalised(stream, block.norm1))); // (T, C)
      const up = linear(this.normalised(stream, block.norm2), block.up, C); // (T, F) or (T, 2F)
      const activated = this.config.activation === 'swiglu' ? swiglu(up, this.config.hidden) : gelu(up); // (T, F)
      add(stream, linear(activated, block.down, this.config.hidden)); // (T, C)
    }
    this.length += T;
    const last = this.normalised(stream.subarray((T - 1) * C), this.norm); // (1, C)
    return linear(last, {weight: this.tokens, bias: this.headBias}, C, V);
  }

  /**
   * LayerNorm or RMSNorm of each row.
   * @param {Float32Array} x (T, C)
   * @param {Affine} norm
   */
  normalised(x, {weight, bias}) {
    const {channels: C, eps, norm} = this.config;
    const y = new Float32Array(x.length);
    for (let row = 0; row < x.length; row += C) {
      let mean = 0;
      if (norm === 'layernorm') for (let c = 0; c < C; c++) mean += x[row + c] / C;
      let variance = 0;
      for (let c = 0; c < C; c++) variance += (x[row + c] - mean) ** 2 / C;
      const rstd = 1 / Math.sqrt(variance + eps);
      for (let c = 0; c < C; c++) y[row + c] = (x[row + c] - mean) * rstd * weight[c] + (bias ? bias[c] : 0);
    }
    return y;
  }

  /**
   * Causal self-attention over what was read and x (T, C), whose keys and values are kept.
   * @param {CpuModel['blocks'][0]} block
   * @param {Float32Array} x
   */
  attention({qkv, out, keys, values}, x) {
    const {channels: C, heads: H, kv_heads: G} = this.config;
    const D = this.D;
    const kv = G * D;
    const all = linear(x, qkv, C); // (T, C + 2 G D)
    const width = C + 2 * kv;
    const T = all.length / width;
    const y = new Float32Array(T * C);
    const scores = new Float64Array(this.length + T);
    for (let t = 0; t < T; t++) {
      const row = t * width;
      const position = this.length + t;
      for (let head = 0; this.rotation && head < H + G; head++) this.rotate(all, row + head * D, position);
      keys.set(all.subarray(row + C, row + C + kv), position * kv);
      values.set(all.subarray(row + C + kv, row + width), position * kv);
      for (let h = 0; h < H; h++) {
        const q = row + h * D;
        const own = Math.floor((h * G) / H) * D; // the key-value head that this head reads
        let largest = -Infinity;
        for (let s = 0; s <= position; s++) {
          let score = 0;
          for (let d = 0; d < D; d++) score += all[q + d] * keys[s * kv + own + d];
          scores[s] = score / Math.sqrt(D);
          largest = Math.max(largest, scores[s]);
        }
        let sum = 0;
        for (let s = 0; s <= position; s++) sum += scores[s] = Math.exp(scores[s] - largest);
        for (let d = 0; d < D; d++) {
          let mixed = 0;
          for (let s = 0; s <= position; s++) mixed += scores[s] * values[s * kv + own + d];
          y[t * C + h * D + d] = mixed / sum;
        }
      }
    }
    return linear(y, out, C);
  }

  /**
   * A head's numbers rotated by the angles of a position: element i with i + D/2.
   * @param {Float32Array} x
   * @param {number} at
   * @param {number} position
   */
  rotate(x, at, position) {
    const {cosines, sines} = /** @type {NonNullable<CpuModel['rotation']>} */ (this.rotation);
    const half = this.D / 2;
    for (let i = 0; i < half; i++) {
      const [c, s] = [cosines[position * half + i], sines[position * half + i]];
      const [first, second] = [x[at + i], x[at + half + i]];
      x[at + i] = first * c - second * s;
      x[at + half + i] = second * c + first * s;
    }
  }
}

/**
 * y (T, M) = x (T, K) weight (M, K) transposed + bias (M).
 * @param {Float32Array} x
 * @param {Affine} affine
 * @param {number} K
 * @param {number} M
 * @returns {Float32Array}
 */
function linear(x, {weight, bias}, K, M = weight.length / K) {
  const T = x.length / K;
  const y = new Float32Array(T * M);
  for (let m = 0; m < M; m++) {
    const row = m * K; // read once for all tokens
    for (let t = 0; t < T; t++) {
      const from = t * K;
      let [a, b, c, d] = [0, 0, 0, 0]; // four sums that need not wait for each other
      let k = 0;
      for (; k + 3 < K; k += 4) {
        a += weight[row + k] * x[from + k];
        b += weight[row + k + 1] * x[from + k + 1];
        c += weight[row + k + 2] * x[from + k + 2];
        d += weight[row + k + 3] * x[from + k + 3];
      }
      for (; k < K; k++) a += weight[row + k] * x[from + k];
      y[t * M + m] = a + b + c + d + (bias ? bias[m] : 0);
    }
  }
  return y;
}

/**
 * @param {Float32Array} stream
 * @param {Float32Array} branch
 */
function add(stream, branch) {
  for (let i = 0; i < stream.length; i++) stream[i] += branch[i];
}

/**
 * The tanh form. (Hendrycks and Gimpel 2016)
 * @param {Float32Array} x
 */
function gelu(x) {
  return x.map((z) => 0.5 * z * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (z + 0.044715 * z * z * z))));
}

/**
 * silu(first half) * second half of each row (2F). (Shazeer 2020)
 * @param {Float32Array} x
 * @param {number} F
 */
function swiglu(x, F) {
  const y = new Float32Array(x.length / 2);
  for (let i = 0; i < y.length; i++) {
    const at = i + Math.floor(i / F) * F;
    y[i] = (x[at] / (1 + Math.exp(-x[at]))) * x[at + F];
  }
  return y;
}
