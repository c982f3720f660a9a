// A text, token by token. As course_lib/generation.py does it: the end token first, then the prompt, and when the context is full
// the last half of it stays and everything before is forgotten. A question must fit, or its beginning would be lost.

import {Problem} from './problem.js';
import {draw, likeliest, softmax, topK} from './sampling.js';

/**
 * @typedef {import('./files.js').Config} Config
 * @typedef {import('./tokenizer.js').Tokenizer} Tokenizer
 */

/**
 * A model that keeps the keys and values of what it has read.
 * @typedef {object} Model
 * @property {Config} config
 * @property {(ids: number[]) => Promise<Float32Array>} read logits (V) of what comes after these ids, which continue those read
 * @property {() => void} forget everything that was read
 * @property {() => void} close give back what it holds
 */

/**
 * @typedef {object} Settings
 * @property {number} tokens      at most
 * @property {number} temperature 0 always takes the likeliest
 * @property {number | null} topK null takes any
 * @property {() => number} [random] numbers in [0, 1)
 */

/**
 * @typedef {object} Step
 * @property {number} id
 * @property {number} chance                             of this token, by the model's own probabilities
 * @property {{id: number, chance: number}[]} likeliest  by the model's own probabilities
 */

const SHOWN = 8; // alternatives

/**
 * Ends after the end token, which comes too.
 * @param {Model} model
 * @param {Tokenizer} tokenizer
 * @param {string} prompt
 * @param {Settings} settings
 * @returns {AsyncGenerator<Step, void, void>}
 */
export async function* generate(model, tokenizer, prompt, settings) {
  const {context, vocab_size: room} = model.config;
  const opening = tokenizer.opening(prompt);
  if (tokenizer.answers && opening.length > context) {
    throw new Problem(`That is ${opening.length} tokens, and this model reads ${context} at most: ask a shorter one.`);
  }
  let seen = opening.slice(-context);
  let fresh = seen; // what the model has not read yet
  model.forget();
  for (let count = 0; count < settings.tokens; count++) {
    const logits = (await model.read(fresh)).subarray(0, Math.min(tokenizer.size, room)); // a model may have room for more ids
    const own = softmax(logits);
    let chances = softmax(logits, settings.temperature);
    if (settings.topK !== null) chances = topK(chances, settings.topK);
    const id = draw(chances, (settings.random ?? Math.random)());
    yield {id, chance: own[id], likeliest: likeliest(own, SHOWN)};
    if (id === tokenizer.endId) return;
    fresh = [id];
    seen = [...seen, id];
    if (seen.length > context) {
      fresh = seen = seen.slice(-Math.max(Math.floor(context / 2), 1));
      model.forget();
    }
  }
}
