// The engine's worker: one call after the other.
import { core } from './core.mjs';

core.onProgress = progress => postMessage({ progress });
let before = Promise.resolve();
onmessage = ({ data: { number, what, values } }) => {
  before = before.then(async () => {
    try {
      postMessage({ number, result: await core[what](...values) });
    } catch (error) {
      postMessage({ number, error: String(error.message ?? error) });
    }
  });
};
