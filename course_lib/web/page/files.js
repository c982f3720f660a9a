// The files beside the page: fetched, and compared with the sizes and checksums that the export wrote down.

import {Problem} from './problem.js';
import {readSafetensors} from './safetensors.js';

/**
 * The shape of a model, as GPTConfig of course_lib/model.py has it.
 * @typedef {object} Config
 * @property {number} layers
 * @property {number} heads      H
 * @property {number} kv_heads   G
 * @property {number} channels   C; D = C / H
 * @property {number} context    the most tokens that are seen at once
 * @property {number} vocab_size V
 * @property {number} hidden     F
 * @property {'layernorm' | 'rmsnorm'} norm
 * @property {'gelu' | 'swiglu'} activation
 * @property {'learned' | 'rope'} positions
 * @property {boolean} bias
 * @property {number} eps
 * @property {number} rope_base
 */

/**
 * What model.json says.
 * @typedef {object} Description
 * @property {Config} config
 * @property {'float32' | 'float16' | 'int8' | 'int4'} dtype
 * @property {{preset: string, source: string, step: number, best: number | null, parameters: number, whose: string}} facts
 * @property {Object<string, {size: number, crc32: number}>} files
 */

const FORMAT = 'course page 1';
const AGAIN = 'Export the model again, with course export.';

/**
 * @param {string} name
 * @returns {Promise<Response>}
 */
async function request(name) {
  let response;
  try {
    response = await fetch(name, {cache: 'no-cache'}); // files of two exports must not mix
  } catch {
    throw new Problem(`${name} could not be fetched. Is the server of this page still running?`);
  }
  if (!response.ok) throw new Problem(`${name} is not there (${response.status} ${response.statusText}). ${AGAIN}`);
  return response;
}

/**
 * @param {string} name
 * @returns {Promise<string>}
 */
export async function fetchText(name) {
  return (await request(name)).text();
}

/** @returns {Promise<Description>} */
export async function fetchDescription() {
  const text = await fetchText('model.json');
  try {
    const description = JSON.parse(text);
    if (description.format === FORMAT) return description;
  } catch {
    // said below
  }
  throw new Problem(`model.json is damaged, or of another version of the course. ${AGAIN}`);
}

/**
 * The bytes of a file. Throws Problem where they are not what was exported.
 * @param {string} name
 * @param {Description} description
 * @param {(bytes: number) => void} [progress] called with how many bytes are here
 * @returns {Promise<ArrayBuffer>}
 */
export async function fetchWhole(name, description, progress = () => {}) {
  const expected = description.files[name];
  const bytes = new Uint8Array(expected.size);
  const reader = /** @type {ReadableStream<Uint8Array>} */ ((await request(name)).body).getReader();
  let length = 0;
  for (;;) {
    const {done, value} = await reader.read().catch(() => {
      throw new Problem(`${name} broke off after ${length.toLocaleString('en')} bytes. Reload the page to try again.`);
    });
    if (done) break;
    if (length + value.length <= bytes.length) bytes.set(value, length);
    length += value.length;
    progress(length);
  }
  if (length !== bytes.length) {
    const sizes = `${length.toLocaleString('en')} bytes, and ${bytes.length.toLocaleString('en')} were exported`;
    throw new Problem(`${name} is damaged: it has ${sizes}. ${AGAIN}`);
  }
  if (crc32(bytes) !== expected.crc32) throw new Problem(`${name} is damaged: its checksum does not fit. ${AGAIN}`);
  return bytes.buffer;
}

/**
 * @param {Description} description
 * @param {(bytes: number) => void} progress
 */
export async function fetchWeights(description, progress) {
  const name = 'weights.safetensors';
  return readSafetensors(await fetchWhole(name, description, progress), name);
}

const TABLE = Uint32Array.from({length: 256}, (_, byte) => {
  for (let bit = 0; bit < 8; bit++) byte = byte & 1 ? 0xedb88320 ^ (byte >>> 1) : byte >>> 1;
  return byte;
});

/**
 * The checksum of zlib and PNG.
 * @param {Uint8Array} bytes
 * @returns {number}
 */
export function crc32(bytes) {
  let sum = 0xffffffff;
  for (let i = 0; i < bytes.length; i++) sum = TABLE[(sum ^ bytes[i]) & 255] ^ (sum >>> 8);
  return (sum ^ 0xffffffff) >>> 0;
}
