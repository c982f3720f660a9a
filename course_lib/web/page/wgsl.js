// WGSL text: includes, constants, and what a file declares. As course_lib/devices/webgpu/source.py does it, for the same
// files; but comments are read, too, so no declaration may stand in one.

import {fetchText} from './files.js';

/**
 * @typedef {boolean | number | string} Constant
 * @typedef {number | number[]} Value
 * @typedef {{name: string, kind: string}} Field
 * @typedef {object} Source
 * @property {string} text
 * @property {string[]} origins                                      the file and line that each line comes from
 * @property {Map<string, number>} buffers                           name -> binding
 * @property {{binding: number, fields: Field[]}[]} structs          in uniform buffers
 */

/** @type {Map<string, Promise<string>>} */
const fetched = new Map();

/**
 * A file with its includes, each once, and with its constants in front of the first line.
 * @param {string} file
 * @param {Object<string, Constant>} constants
 * @returns {Promise<Source>}
 */
export async function readSource(file, constants) {
  const lines = await included(`kernels/${file}`, new Set());
  const text = Object.entries(constants).map(declaration).join('') + lines.map((line) => line.text).join('\n');
  const buffers = [...text.matchAll(/@group\(0\) @binding\((\d+)\) var<storage, read(?:_write)?> (\w+)/g)];
  const structs = new Map(
    [...text.matchAll(/struct (\w+) \{([^}]*)\}/g)].map(([, name, body]) => [
      name,
      [...body.matchAll(/(\w+): (array<vec4<[ui]32>, 2>|vec4<[ui]32>|[uif]32),/g)].map(([, name, kind]) => ({name, kind})),
    ]),
  );
  const uniforms = [...text.matchAll(/@group\(0\) @binding\((\d+)\) var<uniform> \w+: (\w+);/g)];
  return {
    text,
    origins: lines.map((line) => line.origin),
    buffers: new Map(buffers.map(([, binding, name]) => [name, Number(binding)])),
    structs: uniforms.map(([, binding, name]) => ({binding: Number(binding), fields: structs.get(name) ?? []})),
  };
}

/**
 * @param {string} path
 * @param {Set<string>} seen
 * @returns {Promise<{text: string, origin: string}[]>}
 */
async function included(path, seen) {
  if (seen.has(path)) return [];
  seen.add(path);
  if (!fetched.has(path)) fetched.set(path, fetchText(path));
  const content = await /** @type {Promise<string>} */ (fetched.get(path));
  const lines = [];
  for (const [at, text] of content.replace(/\n$/, '').split('\n').entries()) {
    const name = text.match(/^\/\/ include "(\w+\.wgsl)"$/)?.[1];
    lines.push(...(name ? await included(`kernels/include/${name}`, seen) : [{text, origin: `${path}, line ${at + 1}`}]));
  }
  return lines;
}

/** @param {[string, Constant]} constant */
function declaration([name, value]) {
  if (typeof value === 'string') return `alias ${name} = ${value}; `;
  return `const ${name} = ${typeof value === 'number' ? `${value}u` : value}; `;
}

/**
 * Writes the values of a struct as a uniform buffer has them, from byte `at` on.
 * @param {Field[]} fields
 * @param {Object<string, Value>} values
 * @param {DataView} view
 * @param {number} at
 */
export function pack(fields, values, view, at) {
  const start = at;
  for (const {name, kind} of fields) {
    const count = kind.startsWith('array') ? 8 : kind.startsWith('vec4') ? 4 : 1;
    if (count > 1) at = start + Math.ceil((at - start) / 16) * 16; // vectors begin at a multiple of 16 bytes
    const numbers = [values[name]].flat();
    for (let i = 0; i < count; i++, at += 4) {
      if (kind.includes('f32')) view.setFloat32(at, numbers[i] ?? 0, true);
      else if (kind.includes('i32')) view.setInt32(at, numbers[i] ?? 0, true);
      else view.setUint32(at, numbers[i] ?? 0, true);
    }
  }
}
