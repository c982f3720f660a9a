// From logits to a token: temperature, top-k, a draw. As course_lib/sampling.py has it.

/**
 * Probabilities of logits divided by `temperature`; at 0 all on the largest, the first where several are equal.
 * @param {ArrayLike<number>} logits
 * @param {number} [temperature]
 * @returns {Float64Array}
 */
export function softmax(logits, temperature = 1) {
  const chances = Float64Array.from(logits);
  const largest = chances.reduce((a, b) => Math.max(a, b), -Infinity);
  if (temperature === 0) {
    const first = chances.indexOf(largest);
    return chances.map((_, id) => Number(id === first));
  }
  let sum = 0;
  for (let id = 0; id < chances.length; id++) sum += chances[id] = Math.exp((chances[id] - largest) / temperature);
  return chances.map((chance) => chance / sum);
}

/**
 * Only the k most likely, renormalised; those equal to the k-th stay too. (Fan et al. 2018)
 * @param {Float64Array} chances
 * @param {number} k
 * @returns {Float64Array}
 */
export function topK(chances, k) {
  const least = Float64Array.from(chances).sort()[Math.max(chances.length - k, 0)];
  const kept = chances.map((chance) => (chance >= least ? chance : 0));
  const sum = kept.reduce((a, b) => a + b, 0);
  return kept.map((chance) => chance / sum);
}

/**
 * The first id whose cumulative probability exceeds `uniform`, a number in [0, 1).
 * @param {Float64Array} chances
 * @param {number} uniform
 * @returns {number}
 */
export function draw(chances, uniform) {
  const total = chances.reduce((a, b) => a + b, 0);
  let sum = 0;
  let last = 0;
  for (let id = 0; id < chances.length; id++) {
    if (!chances[id]) continue;
    sum += chances[id];
    if (sum > uniform * total) return id;
    last = id;
  }
  return last;
}

/**
 * The most likely ids with their probabilities, likeliest first.
 * @param {Float64Array} chances
 * @param {number} count
 * @returns {{id: number, chance: number}[]}
 */
export function likeliest(chances, count) {
  const ids = Array.from(chances.keys()).sort((a, b) => chances[b] - chances[a] || a - b);
  return ids.slice(0, count).map((id) => ({id, chance: chances[id]}));
}
