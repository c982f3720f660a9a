// Kernels on a WebGPU device: compiled once, launched by the names that their files declare, handed in together.
//
// The numbers of all launches of one batch lie in one uniform buffer, a slot for each.

import {Problem} from './problem.js';
import {pack, readSource} from './wgsl.js';

/**
 * @typedef {import('./wgsl.js').Constant} Constant
 * @typedef {import('./wgsl.js').Value} Value
 * @typedef {import('./wgsl.js').Source} Source
 * @typedef {{source: Source, pipeline: GPUComputePipeline, name: string}} Kernel
 */

const USAGE = {MAP_READ: 0x1, COPY_SRC: 0x4, COPY_DST: 0x8, UNIFORM: 0x40, STORAGE: 0x80}; // GPUBufferUsage
const READ = 0x1; // GPUMapMode
const SLOT = 256; // bytes: a uniform may begin at each multiple on any adapter

export class Launcher {
  /**
   * @param {GPUDevice} device
   * @param {number} most launches of a batch, at most
   */
  constructor(device, most) {
    this.device = device;
    this.uniforms = device.createBuffer({size: most * SLOT, usage: USAGE.UNIFORM | USAGE.COPY_DST});
    this.numbers = new DataView(new ArrayBuffer(most * SLOT));
    this.launches = 0;
    /** @type {GPUBuffer | null} */
    this.staging = null;
    /** @type {GPUCommandEncoder | null} */
    this.encoder = null;
    /** @type {GPUComputePassEncoder | null} */
    this.pass = null;
    /** @type {Map<string, Promise<Kernel>>} */
    this.kernels = new Map();
  }

  /**
   * A function of a file of kernels/, compiled for these constants. Throws Problem where it does not compile.
   * @param {string} file
   * @param {string} name
   * @param {Object<string, Constant>} constants
   * @returns {Promise<Kernel>}
   */
  kernel(file, name, constants = {}) {
    const key = JSON.stringify([file, name, constants]);
    const made = this.kernels.get(key) ?? this.compile(file, name, constants);
    this.kernels.set(key, made);
    return made;
  }

  /**
   * @private
   * @param {string} file
   * @param {string} name
   * @param {Object<string, Constant>} constants
   */
  async compile(file, name, constants) {
    const source = await readSource(file, constants);
    const module = this.device.createShaderModule({code: source.text});
    const fault = (await module.getCompilationInfo()).messages.find(({type}) => type === 'error');
    try {
      if (fault) throw new Error(`${source.origins[fault.lineNum - 1]}: ${fault.message}`);
      const pipeline = await this.device.createComputePipelineAsync({layout: 'auto', compute: {module, entryPoint: name}});
      return {source, pipeline, name};
    } catch (error) {
      throw new Problem(`This browser does not compile ${name} of ${file}: ${/** @type {Error} */ (error).message}.`);
    }
  }

  /**
   * Memory for so many words, or for these values.
   * @param {number | Float32Array | Uint32Array} content
   * @returns {GPUBuffer}
   */
  array(content) {
    const words = typeof content === 'number' ? content : content.length;
    const buffer = this.device.createBuffer({size: 4 * words, usage: USAGE.STORAGE | USAGE.COPY_SRC | USAGE.COPY_DST});
    if (typeof content !== 'number') this.device.queue.writeBuffer(buffer, 0, content);
    return buffer;
  }

  /**
   * Writes a launch down.
   * @param {Kernel} kernel
   * @param {number | [number, number]} groups
   * @param {Object<string, Value | GPUBuffer>} given what the kernel's file declares, by name
   */
  launch(kernel, groups, given) {
    const {source, pipeline, name} = kernel;
    /** @type {Object<string, Value>} */
    const numbers = {};
    /** @type {GPUBindGroupEntry[]} */
    const entries = [];
    for (const [key, value] of Object.entries(given)) {
      if (typeof value === 'number' || Array.isArray(value)) numbers[key] = value;
      else entries.push({binding: /** @type {number} */ (source.buffers.get(key)), resource: {buffer: value}});
    }
    const names = Object.keys(numbers);
    const struct = source.structs.find(({fields}) => fields.length === names.length && fields.every((f) => f.name in numbers));
    if (!struct) throw new Error(`${name} takes no struct of ${names.join(', ')}`);
    const at = this.launches++ * SLOT;
    pack(struct.fields, numbers, this.numbers, at);
    entries.push({binding: struct.binding, resource: {buffer: this.uniforms, offset: at, size: SLOT}});
    this.encoder ??= this.device.createCommandEncoder();
    this.pass ??= this.encoder.beginComputePass();
    this.pass.setPipeline(pipeline);
    this.pass.setBindGroup(0, this.device.createBindGroup({layout: pipeline.getBindGroupLayout(0), entries}));
    const [x, y] = typeof groups === 'number' ? [groups, 1] : groups;
    this.pass.dispatchWorkgroups(x, y);
  }

  /**
   * Hands in what was written down, and gives the content of an array after it.
   * @param {GPUBuffer} array
   * @returns {Promise<Float32Array>}
   */
  async readBack(array) {
    const encoder = /** @type {GPUCommandEncoder} */ (this.encoder);
    this.staging ??= this.device.createBuffer({size: array.size, usage: USAGE.MAP_READ | USAGE.COPY_DST});
    this.pass?.end();
    encoder.copyBufferToBuffer(array, 0, this.staging, 0, array.size);
    this.device.queue.writeBuffer(this.uniforms, 0, this.numbers.buffer, 0, this.launches * SLOT);
    this.device.queue.submit([encoder.finish()]);
    [this.encoder, this.pass, this.launches] = [null, null, 0];
    await this.staging.mapAsync(READ);
    const values = new Float32Array(this.staging.getMappedRange().slice(0));
    this.staging.unmap();
    return values;
  }
}
