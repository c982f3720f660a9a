// Exercises in WGSL, run by the browser's own WebGPU: their values are judged, against the same cases/NAME.json.
//
// Nothing watches a shader here: races, accesses outside an array and counters are seen by the installed course alone
// (course_lib/wgsl/sanitizer.py), so that right values are said to be right, and nobody passes. Errors are the browser's own words.
import { decode } from './arrays.mjs';
import { casesOf, differenceOf, elements, isMistake, numberOf } from './judge.mjs';

// course_lib/devices/webgpu/source.py reads declarations so, too, but passes over comments.
const BUFFER = /@group\(0\) @binding\((\d+)\) var<storage, (read|read_write)> (\w+)/g, UNIFORM = /@group\(0\) @binding\((\d+)\) var<uniform> (\w+): (\w+);/g;
const STRUCT = /struct (\w+) \{([^}]*)\}/g, FIELD = /(\w+): (array<vec4<[ui]32>, 2>|vec4<[ui]32>|[uif]32),/g, INCLUDE = /^\/\/ include "(\w+\.wgsl)"$/;
const WORD = 4, RUNS = 2;
let device = null;

class Refused extends Error {}  // what is wrong with an answer, as a sentence

export const shaders = {
  async ready() {},
  stop() { device?.destroy(); },

  async judge(name, text) {
    const exercise = await casesOf(name), began = performance.now();
    const answer = { passed: false, headline: '', lines: [], issues: [], counters: [], case: null, expected: null, got: null, compileErrors: [], hints: exercise.hints, solution: null };
    const ended = more => ({ ...answer, ...more, seconds: (performance.now() - began) / 1000 });
    const adapter = await navigator.gpu?.requestAdapter();
    if (!adapter) return ended({ undecided: true, headline: `This browser has no WebGPU for this page, so WGSL cannot run here. Copy your answer to a computer with the course, and say there: course check ${name}` });
    device = await adapter.requestDevice();
    const lost = device.lost.then(({ message }) => { throw new Error(`The GPU ended the run: ${message}`); });
    lost.catch(() => {});
    try {
      return ended(await Promise.race([judged(exercise, text), lost]));
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      return ended({ headline: error.message, compileErrors: error.errors ?? [] });
    } finally {
      device.destroy();
      device = null;
    }
  },
};

async function judged(exercise, text) {
  const source = expanded(`${text}\n${exercise.given}`, exercise.includes), kernels = new Map(), tried = [];
  for (const kernel of exercise.kernels) kernels.set(kernel, await compiled(kernel, exercise.fronts[kernel], source, text));
  for (const one of exercise.cases) tried.push(await trial(exercise, one, kernels));
  const failing = tried.findIndex(one => !one.right), right = tried.filter(one => one.right).length;
  if (failing < 0) return {
    undecided: true, headline: 'All values are right, in all cases and in two runs of each.',
    lines: [...exercise.left_out.map(what => `Not looked at in this page: ${what}.`),
      `Races, barriers and accesses outside of arrays are watched by the installed course only. To pass, copy your answer to a computer with it, and say there: course check ${exercise.name}`],
  };
  const { difference } = tried[failing], mistake = exercise.mistakes.find(({ like }) => isMistake(exercise, tried, like))?.says;
  const lines = [`${right} of ${tried.length} cases ${right === 1 ? 'is' : 'are'} right.`];
  return { headline: mistake ?? `${difference.says}.`, lines, case: exercise.cases[failing].label, expected: difference.expected ?? null, got: difference.got ?? null };
}

// A text with its includes: { text, lines }, the learner's line of each, null for a line of a file.
function expanded(text, includes) {
  const lines = [], seen = new Set(), read = (content, own) => content.split('\n').forEach((line, i) => {
    const [, file] = INCLUDE.exec(line) ?? [];
    if (!file) return void lines.push([line, own ? i + 1 : null]);
    if (!(file in includes)) throw new Refused(`There is no file ${file} in kernels/ or kernels/include/.`);
    if (seen.has(file)) return;
    seen.add(file);
    read(includes[file], false);
  });
  read(text, true);
  return { text: lines.map(([line]) => line).join('\n'), lines: lines.map(([, number]) => number) };
}

// front: constants, before the first line.
async function compiled(kernel, front, source, text) {
  device.pushErrorScope('validation');  // what is wrong is told here, and by no warning
  const module = device.createShaderModule({ code: front + source.text }), { messages } = await module.getCompilationInfo();
  await device.popErrorScope();
  const errors = messages.filter(({ type }) => type === 'error').map(({ lineNum, message }) => ({ line: source.lines[lineNum - 1], message }));
  for (const error of errors) if (error.line > text.split('\n').length) error.line = null;
  if (errors.length) {
    const [{ line, message }] = errors, refused = new Refused(`${line ? `Line ${line}: ` : 'This does not compile: '}${message}`);
    refused.errors = errors;
    throw refused;
  }
  const structs = new Map([...source.text.matchAll(STRUCT)].map(([, name, body]) => [name, [...body.matchAll(FIELD)].map(([, field, kind]) => ({ field, kind }))]));
  const buffers = new Map([...source.text.matchAll(BUFFER)].map(([, binding, access, name]) => [name, { binding: Number(binding), written: access === 'read_write' }]));
  const uniforms = [...source.text.matchAll(UNIFORM)].map(([, binding, , name]) => ({ binding: Number(binding), fields: structs.get(name) ?? [] }));
  return { module, entryPoint: kernel.split('<')[0], buffers, uniforms };
}

// One case, RUNS times: { right, got, difference }.
async function trial(exercise, { launches, results }, kernels) {
  let got;
  for (let run = 0; run < RUNS; run++) {
    const arrays = [], before = got;
    for (const { kernel, grid, args, set } of launches) {
      for (const { array, bytes, zeros, empty } of set) arrays[array] = bytes !== undefined ? decode('uint8', bytes) : empty ? filled(empty, exercise.unwritten) : new Uint8Array(zeros);
      await launch(kernels.get(kernel), grid, args, arrays);
    }
    got = results.map(result => elements(arrays[result.array].buffer, 0, result));
    const difference = differenceOf(exercise, results, got);
    if (difference) return { right: false, got, difference };
    if (before?.some((one, i) => String(new Uint8Array(one.buffer)) !== String(new Uint8Array(got[i].buffer))))
      return { right: false, got, difference: { says: 'Two runs of the same launch give different results: two threads use the same number at once' } };
  }
  return { right: true, got, difference: null };
}

const filled = (bytes, word) => new Uint8Array(new Uint32Array(bytes / WORD).fill(word).buffer);

// Arrays are copied to the adapter, and what may be written is copied back, as wgsl/shader.py does.
async function launch({ module, entryPoint, buffers, uniforms }, grid, args, arrays) {
  const layout = [], entries = [], back = [], bind = (binding, type, bytes) => {
    const size = Math.max(WORD, Math.ceil(bytes.length / WORD) * WORD);
    const buffer = device.createBuffer({ size, usage: GPUBufferUsage.COPY_DST | (type === 'uniform' ? GPUBufferUsage.UNIFORM : GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC), mappedAtCreation: true });
    new Uint8Array(buffer.getMappedRange()).set(bytes);
    buffer.unmap();
    layout.push({ binding, visibility: GPUShaderStage.COMPUTE, buffer: { type } });
    entries.push({ binding, resource: { buffer } });
    return buffer;
  };
  device.pushErrorScope('validation');
  for (const [name, { array, offset, bytes }] of Object.entries(args)) {
    if (array === undefined) continue;
    const declared = buffers.get(name);
    if (!declared) throw new Refused(`The launch gives an array \`${name}\`, but the text has no storage buffer of that name: keep its binding.`);
    const part = arrays[array].subarray(offset, offset + bytes), buffer = bind(declared.binding, declared.written ? 'storage' : 'read-only-storage', part);
    if (declared.written) back.push([buffer, part]);
  }
  const numbers = Object.keys(args).filter(name => args[name].array === undefined);
  if (numbers.length) {
    const uniform = uniforms.find(({ fields }) => fields.length === numbers.length && fields.every(({ field }) => numbers.includes(field)));
    if (!uniform) throw new Refused(`The launch gives the numbers ${numbers.map(name => `\`${name}\``).join(', ')}, but the text has no uniform struct with just these fields: keep \`struct Args\` and its binding as they were.`);
    bind(uniform.binding, 'uniform', packed(uniform.fields, args));
  }
  const bindings = device.createBindGroupLayout({ entries: layout });
  const pipeline = device.createComputePipeline({ layout: device.createPipelineLayout({ bindGroupLayouts: [bindings] }), compute: { module, entryPoint } });
  const commands = device.createCommandEncoder(), pass = commands.beginComputePass();
  pass.setPipeline(pipeline);
  pass.setBindGroup(0, device.createBindGroup({ layout: bindings, entries }));
  pass.dispatchWorkgroups(...grid);
  pass.end();
  const read = back.map(([buffer, part]) => {
    const to = device.createBuffer({ size: buffer.size, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });
    commands.copyBufferToBuffer(buffer, 0, to, 0, buffer.size);
    return [to, part];
  });
  device.queue.submit([commands.finish()]);
  const error = await device.popErrorScope();
  if (error) throw new Refused(`The kernel does not fit its launch. ${error.message}`);
  for (const [buffer, part] of read) {
    await buffer.mapAsync(GPUMapMode.READ);
    part.set(new Uint8Array(buffer.getMappedRange(), 0, part.length));
  }
}

// The bytes of a struct in a uniform buffer; vectors begin at a multiple of 16 bytes.
function packed(fields, args) {
  const view = new DataView(new ArrayBuffer(256));
  let at = 0;
  for (const { field, kind } of fields) {
    const count = { a: 8, v: 4 }[kind[0]] ?? 1, { numbers } = args[field];
    if (count > 1) at = Math.ceil(at / 16) * 16;
    for (let i = 0; i < count; i++, at += WORD) {
      const value = Number(numberOf(numbers[i] ?? 0));
      if (kind.includes('f32')) view.setFloat32(at, value, true);
      else if (kind.includes('i32')) view.setInt32(at, value, true);
      else view.setUint32(at, value, true);
    }
  }
  return new Uint8Array(view.buffer, 0, Math.ceil(at / 16) * 16);
}
