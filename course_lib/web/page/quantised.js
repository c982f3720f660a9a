// Matrices of 8 or 4 bits, as course_lib/serving/quantise.py writes them: NAME.int8 or NAME.int4, and NAME.scales.
//
// int8 has a scale for each row; int4 one for each group of 32 along a row, and its codes stand for -8 .. 7 times that.

import {take, taken} from './safetensors.js';

/**
 * @typedef {import('./safetensors.js').Weight} Weight
 * @typedef {{words: Uint32Array, scales: Float32Array, bits: 8 | 4, line: number, groups: number}} Packed a matrix of `line` words
 *     and `groups` scales in each row
 */

const GROUP = 32; // codes of 4 bits with one scale
const ZERO = 8; // the code of 4 bits that stands for 0

/**
 * A matrix (N, K) as it lies in the file, if it is quantised there. Throws Problem where its parts do not fit.
 * @param {Map<string, Weight>} weights
 * @param {string} name
 * @param {number} N
 * @param {number} K
 * @returns {Packed | null}
 */
export function packed(weights, name, N, K) {
  if (weights.has(`${name}.int8`)) {
    const codes = taken(weights, `${name}.int8`, [N, K], Int8Array);
    const line = Math.ceil(K / 4); // each row begins with a word of its own
    const bytes = new Int8Array(N * line * 4);
    for (let m = 0; m < N; m++) bytes.set(codes.subarray(m * K, (m + 1) * K), m * line * 4);
    return {words: new Uint32Array(bytes.buffer), scales: take(weights, `${name}.scales`, N), bits: 8, line, groups: 1};
  }
  if (!weights.has(`${name}.int4`)) return null;
  const groups = Math.ceil(K / GROUP);
  const bytes = taken(weights, `${name}.int4`, [N, (groups * GROUP) / 2], Uint8Array);
  const words = new Uint32Array(Uint8Array.from(bytes).buffer);
  return {words, scales: take(weights, `${name}.scales`, N, groups), bits: 4, line: (groups * GROUP) / 8, groups};
}

/**
 * A matrix (N, K) in floats, whether it is quantised in the file or not. Throws Problem where it is not there.
 * @param {Map<string, Weight>} weights
 * @param {string} name
 * @param {number} N
 * @param {number} K
 * @returns {Float32Array}
 */
export function matrix(weights, name, N, K) {
  const found = packed(weights, name, N, K);
  if (!found) return take(weights, name, N, K);
  const {words, scales, bits, line, groups} = found;
  const values = new Float32Array(N * K);
  const each = 32 / bits; // codes of a word
  for (let m = 0; m < N; m++) {
    for (let k = 0; k < K; k++) {
      const word = words[m * line + Math.floor(k / each)];
      const shift = bits * (k % each);
      const code = bits === 8 ? (word << (24 - shift)) >> 24 : ((word >>> shift) & 15) - ZERO;
      values[m * K + k] = code * scales[bits === 8 ? m : m * groups + Math.floor(k / GROUP)];
    }
  }
  return values;
}
