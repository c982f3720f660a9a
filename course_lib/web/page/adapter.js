// The GPU that the browser offers, or why there is none.

/**
 * @typedef {object} Found
 * @property {GPUAdapter | null} adapter
 * @property {string} name      "" where there is none
 * @property {boolean} software whether a processor only plays a GPU
 * @property {string} problem   why there is none, as a sentence
 */

/** @returns {Promise<Found>} */
export async function findAdapter() {
  /** @type {(problem: string) => Found} */
  const none = (problem) => ({adapter: null, name: '', software: false, problem});
  if (!navigator.gpu) {
    return none(
      window.isSecureContext
        ? 'This browser has no WebGPU.'
        : 'Browsers offer WebGPU only to pages on this machine or with https, and this is neither.',
    );
  }
  const adapter = await navigator.gpu.requestAdapter({powerPreference: 'high-performance'}).catch(() => null);
  if (!adapter) return none('This browser has WebGPU, but no GPU that it may use.');
  const {vendor, architecture, device, description, isFallbackAdapter} = adapter.info ?? {}; // older browsers tell nothing
  const name = description || [vendor, architecture, device].filter(Boolean).join(' ') || 'A GPU without a name';
  const software = isFallbackAdapter === true || /swiftshader|llvmpipe|software|basic render/i.test(`${name} ${architecture}`);
  return {adapter, name, software, problem: ''};
}
