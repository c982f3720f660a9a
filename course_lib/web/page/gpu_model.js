// The model on WebGPU, with the WGSL kernels of the course: course_lib/model.py with a cache of keys and values, one text at a time.
//
// Letters: T tokens of this call, C channels, H heads, G key-value heads, D head size, F hidden, V vocabulary, S keys so far.

import {sizes, upload, workspace} from './gpu_arrays.js';
import {Launcher} from './launching.js';

/**
 * @typedef {import('./files.js').Config} Config
 * @typedef {import('./generate.js').Model} Model
 * @typedef {import('./gpu_arrays.js').Affine} Affine
 * @typedef {import('./gpu_arrays.js').Block} Block
 * @typedef {import('./launching.js').Kernel} Kernel
 * @typedef {import('./safetensors.js').Weight} Weight
 */

const THREADS = 256; // of a group in most kernels
const TILE = 64; // side of a tile of gemm.wgsl
const OUTPUTS = 32; // of a group of linear_int4.wgsl and linear_int8.wgsl
const OWN = 16; // queries of a group of flash_attention_forward.wgsl
const MOST = 18; // launches of a block, and as many around the blocks, at most

/** @implements {Model} */
export class GpuModel {
  /**
   * @param {GPUDevice} device
   * @param {Config} config
   * @param {Map<string, Weight>} weights
   */
  constructor(device, config, weights) {
    this.config = config;
    this.device = device;
    this.D = sizes(config).D;
    this.gpu = new Launcher(device, MOST * (config.layers + 1));
    this.weights = upload(this.gpu, config, weights);
    this.work = workspace(this.gpu, config);
    /** @type {Object<string, Kernel>} */
    this.kernels = {};
    this.length = 0; // tokens read so far
  }

  /** Compiles what this model needs, all at once. */
  async compile() {
    const {norm, bias, activation} = this.config;
    const gpu = this.gpu;
    const keys = this.D <= 32 ? 32 : this.D <= 64 ? 16 : 8; // rows that 16 KB of workgroup memory hold
    const normed = {BIAS: bias && norm === 'layernorm', DTOTAL: false};
    const binary = {T: 'f32', U: 'f32', FIRST: false};
    /** @type {Object<string, Promise<Kernel>>} */
    const wanted = {
      gather: gpu.kernel('gather.wgsl', 'gather'),
      add: gpu.kernel('arithmetic.wgsl', 'binary', {...binary, OP: 0}),
      gemm: gpu.kernel('gemm.wgsl', 'gemm', {A_ROWS: true, B_ROWS: false, BIAS: false}),
      gemmBias: gpu.kernel('gemm.wgsl', 'gemm', {A_ROWS: true, B_ROWS: false, BIAS: true}),
      write: gpu.kernel('strided_copy.wgsl', 'strided_write'),
      copy: gpu.kernel('strided_copy.wgsl', 'strided_copy'),
      attention: gpu.kernel('flash_attention_forward.wgsl', 'flash_attention_forward', {D: this.D, KEYS: keys, CAUSAL: true}),
    };
    if (norm === 'rmsnorm') {
      wanted.norm = gpu.kernel('rmsnorm.wgsl', 'rmsnorm_forward', normed);
    } else {
      wanted.norm = gpu.kernel('layernorm.wgsl', 'layernorm_forward', normed);
      wanted.addedNorm = gpu.kernel('residual_layernorm.wgsl', 'residual_layernorm_forward', normed);
    }
    if (activation === 'swiglu') wanted.activation = gpu.kernel('swiglu.wgsl', 'swiglu_forward');
    else if (bias) wanted.activation = gpu.kernel('bias_gelu.wgsl', 'bias_gelu_forward');
    else wanted.activation = gpu.kernel('gelu.wgsl', 'gelu_forward');
    const {bits} = this.weights.head; // the matrices are all of one kind
    if (bits === 4) {
      wanted.linear = gpu.kernel('linear_int4.wgsl', 'linear_int4', {ZEROS: false, BIAS: false});
      wanted.linearBias = gpu.kernel('linear_int4.wgsl', 'linear_int4', {ZEROS: false, BIAS: true});
    } else if (bits === 8) {
      wanted.linear = gpu.kernel('linear_int8.wgsl', 'linear_int8', {BIAS: false});
      wanted.linearBias = gpu.kernel('linear_int8.wgsl', 'linear_int8', {BIAS: true});
    }
    if (this.weights.rotation) wanted.rope = gpu.kernel('rope.wgsl', 'rope_forward');
    for (const [name, kernel] of Object.entries(wanted)) this.kernels[name] = await kernel;
  }

  forget() {
    this.length = 0;
  }

  close() {
    this.device.destroy();
  }

  /**
   * Logits (V) of what comes after `ids`, which continue what was read.
   * @param {number[]} ids
   * @returns {Promise<Float32Array>}
   */
  read(ids) {
    const {gpu, kernels, weights, work, D} = this;
    const C = this.config.channels;
    const T = ids.length;
    gpu.device.queue.writeBuffer(work.ids, 0, Int32Array.from(ids));
    gpu.device.queue.writeBuffer(work.positions, 0, Int32Array.from(ids, (_, t) => this.length + t));
    this.gather(weights.tokens, this.config.vocab_size, C, work.ids, T, work.stream); // (T) -> (T, C)
    if (weights.positions) {
      this.gather(weights.positions, this.config.context, C, work.positions, T, work.branch); // (T, C)
      this.add(T * C);
    }
    if (weights.rotation) {
      this.gather(weights.rotation.cosines, this.config.context, D / 2, work.positions, T, work.cosines); // (T, D/2)
      this.gather(weights.rotation.sines, this.config.context, D / 2, work.positions, T, work.sines);
    }
    weights.blocks.forEach((block, n) => {
      if (n) this.addedNorm(block.norm1, T);
      else this.normalised(work.stream, block.norm1, T);
      this.attend(block, T); // -> branch (T, C)
      this.addedNorm(block.norm2, T);
      this.mlp(block, T); // -> branch (T, C)
    });
    this.addedNorm(weights.norm, T);
    const view = {sizes: [C], strides: [1], axes: 1, offset: (T - 1) * C, n: C};
    gpu.launch(kernels.copy, groups(C), {x: work.x, y: work.last, ...view});
    this.linear(work.last, weights.head, 1, work.logits); // (1, C) -> (1, V)
    this.length += T;
    return gpu.readBack(work.logits);
  }

  /**
   * Keys and values of x (T, C) written behind those of before; branch (T, C) = attention over all of them.
   * @param {Block} block
   * @param {number} T
   */
  attend({q, k, v, out, keys, values}, T) {
    const {gpu, kernels, weights, work, D} = this;
    const {channels: C, heads: H, kv_heads: G} = this.config;
    this.linear(work.x, q, T, work.q); // (T, C)
    this.linear(work.x, k, T, work.k); // (T, G D)
    this.linear(work.x, v, T, work.v);
    if (weights.rotation) {
      const angles = {cosines: work.cosines, sines: work.sines, T, half: D / 2};
      gpu.launch(kernels.rope, groups((T * C) / 2), {x: work.q, y: work.rotated, ...angles, H, n: (T * C) / 2});
      gpu.launch(kernels.rope, groups((T * G * D) / 2), {x: work.k, y: work.turnedKeys, ...angles, H: G, n: (T * G * D) / 2});
    }
    const n = T * G * D;
    const behind = {sizes: [n], strides: [1], axes: 1, offset: this.length * G * D, n};
    gpu.launch(kernels.write, groups(n), {x: weights.rotation ? work.turnedKeys : work.k, y: keys, ...behind});
    gpu.launch(kernels.write, groups(n), {x: work.v, y: values, ...behind});
    gpu.launch(kernels.attention, [Math.ceil(T / OWN), H], {
      q: weights.rotation ? work.rotated : work.q,
      k: keys,
      v: values,
      y: work.attended,
      logsumexp: work.logsumexp,
      T,
      S: this.length + T,
      H,
      G,
      scale: 1 / Math.sqrt(D),
    });
    this.linear(work.attended, out, T, work.branch); // (T, C)
  }

  /**
   * branch (T, C) = down(activation(up(x))).
   * @param {Block} block
   * @param {number} T
   */
  mlp({up, down}, T) {
    const {gpu, kernels, work} = this;
    const {hidden: F, activation} = this.config;
    const given = {x: work.up, y: work.activated, n: T * F};
    if (activation === 'gelu' && up.bias) {
      this.linear(work.x, {...up, bias: null}, T, work.up); // (T, F)
      gpu.launch(kernels.activation, groups(T * F), {...given, bias: up.bias, F});
    } else {
      this.linear(work.x, up, T, work.up); // (T, F) or (T, 2F)
      gpu.launch(kernels.activation, groups(T * F), activation === 'swiglu' ? {...given, F} : given); // (T, F)
    }
    this.linear(work.activated, down, T, work.branch);
  }

  /**
   * y (T, M) = x (T, K) weight (M, K) transposed + bias.
   * @param {GPUBuffer} x
   * @param {Affine} affine
   * @param {number} T
   * @param {GPUBuffer} y
   */
  linear(x, {weight, bias, M, K, scales, bits}, T, y) {
    if (scales) {
      const arrays = {x, words: weight, scales, bias: bias ?? scales, y, ...(bits === 4 && {zeros: scales})};
      const kernel = bias ? this.kernels.linearBias : this.kernels.linear;
      this.gpu.launch(kernel, [Math.ceil(M / OUTPUTS), T], {...arrays, n: T, K, M, first: 0});
      return;
    }
    const whole = {batch: [1, 1, 1, 1], a_batch: [0, 0, 0, 0], b_batch: [0, 0, 0, 0], N: T, M, K, first: 0};
    const strides = {a_row: K, a_column: 1, b_row: 1, b_column: K};
    this.gpu.launch(bias ? this.kernels.gemmBias : this.kernels.gemm, [Math.ceil(M / TILE), Math.ceil(T / TILE)], {
      a: x,
      b: weight,
      bias: bias ?? weight,
      y,
      ...whole,
      ...strides,
    });
  }

  /**
   * y (n, C) = the rows of x (rows, C) with these numbers.
   * @param {GPUBuffer} x
   * @param {number} rows
   * @param {number} C
   * @param {GPUBuffer} indices
   * @param {number} n
   * @param {GPUBuffer} y
   */
  gather(x, rows, C, indices, n, y) {
    this.gpu.launch(this.kernels.gather, groups(n * C), {x, indices, y, rows, C, n});
  }

  /**
   * stream = stream + branch.
   * @param {number} n
   */
  add(n) {
    this.gpu.launch(this.kernels.add, groups(n), {a: this.work.stream, b: this.work.branch, y: this.work.total, n});
    [this.work.stream, this.work.total] = [this.work.total, this.work.stream];
  }

  /**
   * x (T, C) = the norm of each row of `from`.
   * @param {GPUBuffer} from
   * @param {Affine} norm
   * @param {number} T
   */
  normalised(from, norm, T) {
    this.normalise(this.kernels.norm, from, from, this.work.unused, norm, T);
  }

  /**
   * stream = branch + stream, and x (T, C) = the norm of each of its rows.
   * @param {Affine} norm
   * @param {number} T
   */
  addedNorm(norm, T) {
    if (this.config.norm === 'rmsnorm') {
      this.add(T * this.config.channels);
      this.normalised(this.work.stream, norm, T);
    } else {
      this.normalise(this.kernels.addedNorm, this.work.branch, this.work.stream, this.work.total, norm, T);
      [this.work.stream, this.work.total] = [this.work.total, this.work.stream];
    }
  }

  /**
   * @param {Kernel} kernel
   * @param {GPUBuffer} x
   * @param {GPUBuffer} residual
   * @param {GPUBuffer} total
   * @param {Affine} norm
   * @param {number} T
   */
  normalise(kernel, x, residual, total, {weight, bias}, T) {
    const {channels: C, eps} = this.config;
    const arrays = {x, residual, total, weight, bias: bias ?? weight, y: this.work.x, statistics: this.work.statistics};
    this.gpu.launch(kernel, T, {...arrays, rows: T, C, eps});
  }
}

/**
 * How many groups of one thread per element.
 * @param {number} n
 */
function groups(n) {
  return Math.ceil(n / THREADS);
}
