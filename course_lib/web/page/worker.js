// Runs the plain JavaScript model aside, so that the page stays alive. It answers each request in turn: see cpu_client.js.

import {CpuModel} from './cpu.js';
import {fetchDescription, fetchWeights} from './files.js';
import {sentence} from './problem.js';

/**
 * @typedef {{ids: number[] | null, fresh: boolean}} Request without ids: load the weights; fresh: forget first
 * @typedef {{bytes?: number, logits?: Float32Array, ready?: true, problem?: string}} Reply
 */

/** @typedef {{onmessage: ((event: MessageEvent<Request>) => void) | null, postMessage(reply: Reply): void}} Scope */
const worker = /** @type {Scope} */ (/** @type {unknown} */ (self));

/** @type {CpuModel | undefined} */
let model;

async function load() {
  const description = await fetchDescription();
  const weights = await fetchWeights(description, (bytes) => worker.postMessage({bytes}));
  model = new CpuModel(description.config, weights);
}

worker.onmessage = async (/** @type {MessageEvent<Request>} */ {data: {ids, fresh}}) => {
  try {
    if (ids === null) {
      await load();
      worker.postMessage({ready: true});
    } else if (model) {
      if (fresh) model.forget();
      worker.postMessage({logits: model.read(ids)});
    }
  } catch (error) {
    worker.postMessage({problem: sentence(error)});
  }
};
