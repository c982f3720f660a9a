// The engine's worker: one call after the other.
import { core } from './core.mjs';
import { kept } from './download.mjs';

core.onProgress = progress => postMessage({ progress });
let before = Promise.resolve(), told = 0;
onmessage = ({ data: { number, what, values, taken } }) => {
  if (taken) return taken.forEach((value, name) => kept.set(name, value));
  before = before.then(async () => {
    let answer;
    try {
      answer = { result: await core[what](...values) };
    } catch (error) {
      answer = { error: String(error.message ?? error) };
    }
    if (kept.size > told) postMessage({ kept });  // first, since the worker may end with its answer
    told = kept.size;
    postMessage({ number, ...answer });
  });
};
