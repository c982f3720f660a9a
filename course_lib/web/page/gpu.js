// The model on WebGPU, with the WGSL kernels of the course: course_lib/model.py with a cache of keys and values, one text at a time.
//
// Letters: T tokens of this call, C channels, H heads, G key-value heads, D head size, F hidden, V vocabulary, S keys so far.

import {fetchWhole} from './files.js';
import {Launcher} from './launching.js';
import {Problem} from './problem.js';
import {ropeTables} from './rope.js';
import {readSafetensors, take} from './safetensors.js';

/**
 * @typedef {import('./files.js').Config} Config
 * @typedef {import('./files.js').Description} Description
 * @typedef {import('./generate.js').Model} Model
 * @typedef {import('./launching.js').Kernel} Kernel
 * @typedef {import('./safetensors.js').Weight} Weight
 * @typedef {{weight: GPUBuffer, bias: GPUBuffer | null, M: number, K: number}} Affine
 */

const THREADS = 256; // of a group in most kernels
const TILE = 64; // side of a tile of gemm.wgsl
const OWN = 16; // queries of a group of flash_attention_forward.wgsl

/**
 * @param {Description} description
 * @param {GPUAdapter} adapter
 * @param {(bytes: number) => void} progress
 * @param {(why: string) => void} lost called when the GPU goes away
 * @returns {Promise<Model>}
 */
export async function loadGpuModel(description, adapter, progress, lost) {
  const {maxBufferSize, maxStorageBufferBindingSize} = adapter.limits;
  const device = await adapter.requestDevice({requiredLimits: {maxBufferSize, maxStorageBufferBindingSize}}).catch((error) => {
    throw new Problem(`The GPU could not be opened: ${error.message}`);
  });
  device.lost.then(({reason, message}) => {
    if (reason !== 'destroyed') lost(`The GPU was lost: ${message || 'its driver was reset, or it was taken away'}.`);
  });
  try {
    const name = 'weights.safetensors';
    const weights = readSafetensors(await fetchWhole(name, description, progress), name);
    const largest = Math.max(...[...weights.values()].map(({values}) => values.byteLength));
    if (largest > maxStorageBufferBindingSize) {
      const sizes = `${largest.toLocaleString('en')} bytes, and the GPU binds ${maxStorageBufferBindingSize.toLocaleString('en')}`;
      throw new Problem(`The model's largest array has ${sizes} at once, at most.`);
    }
    device.pushErrorScope('validation');
    device.pushErrorScope('out-of-memory');
    const model = new GpuModel(device, description.config, weights);
    await model.compile();
    await model.read([0]); // the first launch shows whether all of it works
    if (await device.popErrorScope()) throw new Problem('The GPU has too little memory for this model.');
    const fault = await device.popErrorScope();
    if (fault) throw new Problem(`WebGPU refused: ${fault.message}`);
    return model;
  } catch (error) {
    device.destroy();
    throw error;
  }
}

/** @implements {Model} */
class GpuModel {
  /**
   * @param {GPUDevice} device
   * @param {Config} config
   * @param {Map<string, Weight>} weights
   */
  constructor(device, config, weights) {
    this.config = config;
    this.device = device;
    const gpu = (this.gpu = new Launcher(device, 20 * (config.layers + 1)));
    const {channels: C, heads: H, kv_heads: G, hidden: F, context, vocab_size: V} = config;
    this.D = C / H;
    const kv = G * this.D;
    const wide = config.activation === 'swiglu' ? 2 * F : F;
    const normed = config.bias && config.norm === 'layernorm';
    /** @type {(name: string, first: number, rows: number, of: number, K: number) => Affine} rows `first` on of a linear layer */
    const affine = (name, first, rows, of, K) => ({
      weight: gpu.array(take(weights, `${name}.weight`, of, K).subarray(first * K, (first + rows) * K)),
      bias: config.bias ? gpu.array(take(weights, `${name}.bias`, of).subarray(first, first + rows)) : null,
      M: rows,
      K,
    });
    /** @type {(name: string) => Affine} */
    const norm = (name) => ({
      weight: gpu.array(take(weights, `${name}.weight`, C)),
      bias: normed ? gpu.array(take(weights, `${name}.bias`, C)) : null,
      M: C,
      K: C,
    });
    this.head = {
      weight: gpu.array(take(weights, 'tokens.weight', V, C)),
      bias: config.bias ? gpu.array(take(weights, 'head_bias', V)) : null,
      M: V,
      K: C,
    };
    this.places = config.positions === 'learned' ? gpu.array(take(weights, 'places.weight', context, C)) : null;
    const tables = config.positions === 'rope' ? ropeTables(config) : null;
    this.rotation = tables && {cosines: gpu.array(tables.cosines), sines: gpu.array(tables.sines)};
    this.blocks = Array.from({length: config.layers}, (_, n) => ({
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
    }));
    this.norm = norm('norm');
    // What is computed on the way, with room for a whole context.
    this.ids = gpu.array(context);
    this.positions = gpu.array(context);
    this.stream = gpu.array(context * C);
    this.total = gpu.array(context * C);
    this.branch = gpu.array(context * C);
    this.x = gpu.array(context * C);
    this.q = gpu.array(context * C);
    this.k = gpu.array(context * kv);
    this.v = gpu.array(context * kv);
    this.turned = gpu.array(context * C);
    this.turnedKeys = gpu.array(context * kv);
    this.cosines = gpu.array((context * this.D) / 2);
    this.sines = gpu.array((context * this.D) / 2);
    this.attended = gpu.array(context * C);
    this.logsumexp = gpu.array(context * H);
    this.up = gpu.array(context * wide);
    this.bent = gpu.array(context * F);
    this.statistics = gpu.array(context * 2);
    this.unused = gpu.array(1);
    this.last = gpu.array(C);
    this.logits = gpu.array(V);
    this.length = 0; // tokens read so far
    /** @type {Object<string, Kernel>} */
    this.kernels = {};
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
    if (activation === 'swiglu') wanted.bend = gpu.kernel('swiglu.wgsl', 'swiglu_forward');
    else if (bias) wanted.bend = gpu.kernel('bias_gelu.wgsl', 'bias_gelu_forward');
    else wanted.bend = gpu.kernel('gelu.wgsl', 'gelu_forward');
    if (this.rotation) wanted.rope = gpu.kernel('rope.wgsl', 'rope_forward');
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
    const {gpu, kernels, D} = this;
    const C = this.config.channels;
    const T = ids.length;
    gpu.device.queue.writeBuffer(this.ids, 0, Int32Array.from(ids));
    gpu.device.queue.writeBuffer(this.positions, 0, Int32Array.from(ids, (_, t) => this.length + t));
    this.gather(this.head.weight, this.config.vocab_size, C, this.ids, T, this.stream); // (T) -> (T, C)
    if (this.places) {
      this.gather(this.places, this.config.context, C, this.positions, T, this.branch); // (T, C)
      this.add(T * C);
    }
    if (this.rotation) {
      this.gather(this.rotation.cosines, this.config.context, D / 2, this.positions, T, this.cosines); // (T, D/2)
      this.gather(this.rotation.sines, this.config.context, D / 2, this.positions, T, this.sines);
    }
    this.blocks.forEach((block, n) => {
      if (n) this.addedNorm(block.norm1, T);
      else this.normalised(this.stream, block.norm1, T);
      this.attend(block, T); // -> branch (T, C)
      this.addedNorm(block.norm2, T);
      this.mlp(block, T); // -> branch (T, C)
    });
    this.addedNorm(this.norm, T);
    const view = {sizes: [C], strides: [1], axes: 1, offset: (T - 1) * C, n: C};
    gpu.launch(kernels.copy, groups(C), {x: this.x, y: this.last, ...view});
    this.linear(this.last, this.head, 1, this.logits); // (1, C) -> (1, V)
    this.length += T;
    return gpu.readBack(this.logits);
  }

  /**
   * Keys and values of x (T, C) written behind those of before; branch (T, C) = attention over all of them.
   * @param {GpuModel['blocks'][0]} block
   * @param {number} T
   */
  attend({q, k, v, out, keys, values}, T) {
    const {gpu, kernels, D} = this;
    const {channels: C, heads: H, kv_heads: G} = this.config;
    this.linear(this.x, q, T, this.q); // (T, C)
    this.linear(this.x, k, T, this.k); // (T, G D)
    this.linear(this.x, v, T, this.v);
    if (this.rotation) {
      const angles = {cosines: this.cosines, sines: this.sines, T, half: D / 2};
      gpu.launch(kernels.rope, groups((T * C) / 2), {x: this.q, y: this.turned, ...angles, H, n: (T * C) / 2});
      gpu.launch(kernels.rope, groups((T * G * D) / 2), {x: this.k, y: this.turnedKeys, ...angles, H: G, n: (T * G * D) / 2});
    }
    const n = T * G * D;
    const behind = {sizes: [n], strides: [1], axes: 1, offset: this.length * G * D, n};
    gpu.launch(kernels.write, groups(n), {x: this.rotation ? this.turnedKeys : this.k, y: keys, ...behind});
    gpu.launch(kernels.write, groups(n), {x: this.v, y: values, ...behind});
    gpu.launch(kernels.attention, [Math.ceil(T / OWN), H], {
      q: this.rotation ? this.turned : this.q,
      k: keys,
      v: values,
      y: this.attended,
      logsumexp: this.logsumexp,
      T,
      S: this.length + T,
      H,
      G,
      scale: 1 / Math.sqrt(D),
    });
    this.linear(this.attended, out, T, this.branch); // (T, C)
  }

  /**
   * branch (T, C) = down(bend(up(x))).
   * @param {GpuModel['blocks'][0]} block
   * @param {number} T
   */
  mlp({up, down}, T) {
    const {gpu, kernels} = this;
    const {hidden: F, activation} = this.config;
    const given = {x: this.up, y: this.bent, n: T * F};
    if (activation === 'gelu' && up.bias) {
      this.linear(this.x, {...up, bias: null}, T, this.up); // (T, F)
      gpu.launch(kernels.bend, groups(T * F), {...given, bias: up.bias, F});
    } else {
      this.linear(this.x, up, T, this.up); // (T, F) or (T, 2F)
      gpu.launch(kernels.bend, groups(T * F), activation === 'swiglu' ? {...given, F} : given); // (T, F)
    }
    this.linear(this.bent, down, T, this.branch);
  }

  /**
   * y (T, M) = x (T, K) weight (M, K) transposed + bias.
   * @param {GPUBuffer} x
   * @param {Affine} affine
   * @param {number} T
   * @param {GPUBuffer} y
   */
  linear(x, {weight, bias, M, K}, T, y) {
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
    this.gpu.launch(this.kernels.add, groups(n), {a: this.stream, b: this.branch, y: this.total, n});
    [this.stream, this.total] = [this.total, this.stream]; // no launch may write what it reads
  }

  /**
   * x (T, C) = the norm of each row of `from`.
   * @param {GPUBuffer} from
   * @param {Affine} norm
   * @param {number} T
   */
  normalised(from, norm, T) {
    this.normalise(this.kernels.norm, from, from, this.unused, norm, T);
  }

  /**
   * stream = branch + stream, and x (T, C) = the norm of each of its rows.
   * @param {Affine} norm
   * @param {number} T
   */
  addedNorm(norm, T) {
    if (this.config.norm === 'rmsnorm') {
      this.add(T * this.config.channels);
      this.normalised(this.stream, norm, T);
    } else {
      this.normalise(this.kernels.addedNorm, this.branch, this.stream, this.total, norm, T);
      [this.stream, this.total] = [this.total, this.stream];
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
    const arrays = {x, residual, total, weight, bias: bias ?? weight, y: this.x, statistics: this.statistics};
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
