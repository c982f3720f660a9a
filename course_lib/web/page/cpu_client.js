// The plain JavaScript model as the page sees it: a worker computes, one request after the other.

import {Problem} from './problem.js';

/**
 * @typedef {import('./files.js').Description} Description
 * @typedef {import('./generate.js').Model} Model
 * @typedef {import('./worker.js').Request} Request
 * @typedef {import('./worker.js').Reply} Reply
 */

/**
 * @param {Description} description
 * @param {(bytes: number) => void} progress
 * @returns {Promise<Model>}
 */
export async function loadCpuModel(description, progress) {
  const worker = new Worker(new URL('worker.js', import.meta.url), {type: 'module'});
  /** @type {(request: Request) => Promise<Reply>} */
  const ask = (request) =>
    new Promise((resolve, reject) => {
      worker.onmessage = (/** @type {MessageEvent<Reply>} */ {data}) => {
        if (data.problem !== undefined) reject(new Problem(data.problem));
        else if (data.bytes !== undefined) progress(data.bytes);
        else resolve(data);
      };
      worker.onerror = (event) => reject(new Problem(`The model's worker stopped: ${event.message ?? 'it did not load'}.`));
      worker.postMessage(request);
    });
  try {
    await ask({ids: null, fresh: true});
  } catch (error) {
    worker.terminate();
    throw error;
  }
  let fresh = true;
  return {
    config: description.config,
    async read(ids) {
      const asked = ask({ids, fresh});
      fresh = false;
      return /** @type {Float32Array} */ ((await asked).logits);
    },
    forget() {
      fresh = true;
    },
    close: () => worker.terminate(),
  };
}
