// Brings the model to a GPU: arrays that fit, kernels that compile, a first launch that works.

import {GpuModel} from './gpu_model.js';
import {Problem} from './problem.js';

/**
 * @typedef {import('./files.js').Config} Config
 * @typedef {import('./generate.js').Model} Model
 * @typedef {import('./safetensors.js').Weight} Weight
 */

/**
 * @param {Config} config
 * @param {Map<string, Weight>} weights
 * @param {GPUAdapter} adapter
 * @param {(why: string) => void} lost called when the GPU goes away
 * @returns {Promise<Model>}
 */
export async function loadGpuModel(config, weights, adapter, lost) {
  const {maxBufferSize, maxStorageBufferBindingSize} = adapter.limits;
  const device = await adapter.requestDevice({requiredLimits: {maxBufferSize, maxStorageBufferBindingSize}}).catch((error) => {
    throw new Problem(`The GPU could not be opened: ${error.message}`);
  });
  device.lost.then(({reason, message}) => {
    if (reason !== 'destroyed') lost(`The GPU was lost: ${message || 'its driver was reset, or it was taken away'}.`);
  });
  try {
    const table = 4 * config.vocab_size * config.channels; // of the embedding, in floats though the file may hold fewer bits
    const largest = Math.max(table, ...[...weights.values()].map(({values}) => values.byteLength));
    if (largest > maxStorageBufferBindingSize) {
      const sizes = `${largest.toLocaleString('en')} bytes, and the GPU binds ${maxStorageBufferBindingSize.toLocaleString('en')}`;
      throw new Problem(`The model's largest array has ${sizes} at once, at most.`);
    }
    device.pushErrorScope('validation');
    device.pushErrorScope('out-of-memory');
    const model = new GpuModel(device, config, weights);
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
