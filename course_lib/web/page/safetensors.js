// Reads a safetensors file: 8 bytes that say how long the header is, the header as JSON, then the arrays one after the other.
//
// Float32 arrays are looked at where they lie; float16 becomes float32; bytes, with a sign or without, stay bytes. Throws Problem for
// a file that is anything else.

import {Problem} from './problem.js';

const WIDTH = {F32: 4, F16: 2, I8: 1, U8: 1};

/** @typedef {{shape: number[], values: Float32Array | Int8Array | Uint8Array}} Weight */

/**
 * @param {ArrayBuffer} buffer
 * @param {string} source the file's name, for what is said of it
 * @returns {Map<string, Weight>}
 */
export function readSafetensors(buffer, source) {
  /** @type {(why: string) => never} */
  const refuse = (why) => {
    throw new Problem(`${source} is no whole safetensors file: ${why}. Export the model again, with course export.`);
  };
  if (buffer.byteLength < 8) refuse('it is too short');
  const length = Number(new DataView(buffer).getBigUint64(0, true));
  if (length > buffer.byteLength - 8) refuse('its header is cut off');
  const data = 8 + length;
  let header;
  try {
    header = JSON.parse(new TextDecoder('utf-8', {fatal: true}).decode(new Uint8Array(buffer, 8, length)));
  } catch {
    refuse('its header is not JSON');
  }
  const weights = new Map();
  let end = 0;
  const entries = Object.entries(header ?? {}).filter(([name]) => name !== '__metadata__');
  entries.sort(([, a], [, b]) => a?.data_offsets?.[0] - b?.data_offsets?.[0]);
  for (const [name, entry] of entries) {
    const {dtype, shape, data_offsets: offsets} = entry ?? {};
    const width = WIDTH[/** @type {keyof WIDTH} */ (dtype)] ?? refuse(`${name} is of the type ${dtype}`);
    if (!Array.isArray(shape) || !shape.every((side) => Number.isInteger(side) && side >= 0)) refuse(`${name} has no shape`);
    const size = shape.reduce((product, side) => product * side, 1);
    if (!Array.isArray(offsets) || offsets[0] !== end) refuse(`${name} does not begin where the array before it ends`);
    if (offsets[1] - offsets[0] !== size * width) refuse(`the size of ${name} does not fit its shape`);
    end = offsets[1];
    if (data + end > buffer.byteLength) refuse(`${name} is cut off`);
    weights.set(name, {shape, values: READ[/** @type {keyof WIDTH} */ (dtype)](buffer, data + offsets[0], size)});
  }
  if (data + end !== buffer.byteLength) refuse('something follows its last array');
  return weights;
}

/**
 * @param {ArrayBuffer} buffer
 * @param {number} at
 * @param {number} size
 */
function floats(buffer, at, size) {
  return at % 4 ? new Float32Array(buffer.slice(at, at + 4 * size)) : new Float32Array(buffer, at, size);
}

/**
 * @param {ArrayBuffer} buffer
 * @param {number} at
 * @param {number} size
 */
function halves(buffer, at, size) {
  const bits = new Uint16Array(buffer.slice(at, at + 2 * size));
  return Float32Array.from(bits, fromHalf);
}

/** @type {Record<keyof WIDTH, (buffer: ArrayBuffer, at: number, size: number) => Weight['values']>} */
const READ = {
  F32: floats,
  F16: halves,
  I8: (buffer, at, size) => new Int8Array(buffer, at, size),
  U8: (buffer, at, size) => new Uint8Array(buffer, at, size),
};

/**
 * The number that a float16 stands for: a sign, 5 bits of exponent, 10 bits of fraction. (IEEE 754)
 * @param {number} bits
 */
export function fromHalf(bits) {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (exponent ? 2 ** (exponent - 15) * (1 + fraction / 1024) : 2 ** -24 * fraction);
}

/**
 * One array of floats out of a file, of the shape that the model needs. Throws Problem where it has none.
 * @param {Map<string, Weight>} weights
 * @param {string} name
 * @param {number[]} shape
 * @returns {Float32Array}
 */
export function take(weights, name, ...shape) {
  return /** @type {Float32Array} */ (taken(weights, name, shape, Float32Array));
}

/**
 * One array of a kind out of a file, of the shape that the model needs. Throws Problem where it has none.
 * @param {Map<string, Weight>} weights
 * @param {string} name
 * @param {number[]} shape
 * @param {Function} kind
 */
export function taken(weights, name, shape, kind) {
  const found = weights.get(name);
  if (found?.shape.join() !== shape.join() || !(found.values instanceof kind)) {
    const there = found ? `is of the shape (${found.shape.join(', ')})` : 'is not there';
    throw new Problem(`The weights do not fit the model: ${name} ${there}, and should be of the shape (${shape.join(', ')}).`);
  }
  return found.values;
}
