// The engine itself: in a page it runs in a worker (worker.mjs), in Node in the calling process. engine.mjs says what it answers.
import { pack, unpack } from './arrays.mjs';
import { compile, precompile } from './compile.mjs';
import { loadCompiler } from './compiler.mjs';
import { compiled, kept, onDownload, unpacked } from './download.mjs';
import { codeOf, factsOf } from './facts.mjs';
import { judge } from './judge.mjs';
import { Simulator } from './simulate.mjs';

const HERE = new URL('./', import.meta.url), MOST_THREADS = 1024;

export const core = {
  onProgress: () => {},
  simulator: null,
  course: null,

  ready() { return this.started ??= this.begin(); },

  async begin() {
    const began = performance.now(), edition = await (await this.fetch('sizes.json')).text(), total = Object.values(JSON.parse(edition)).reduce((a, b) => a + b, 0);
    if (kept.get('sizes.json') !== edition) kept.clear();  // the host has other files by now
    kept.set('sizes.json', edition);
    let done = 0;
    onDownload((name, bytes) => {
      done += bytes;
      const seconds = (performance.now() - began) / 1000;
      this.onProgress({ what: 'Fetching the compiler', done, total, secondsLeft: Math.max(0, (total - done) * seconds / done) });
    });
    const compiler = loadCompiler();
    const [module, course] = await Promise.all([compiled(new URL('simulator.wasm', HERE)), unpacked(new URL('course.json', HERE))]);
    this.simulator = await Simulator.start(module);
    await compiler;
    this.course = JSON.parse(new TextDecoder().decode(course));
    this.onProgress({ what: 'Reading the headers', done: total, total, secondsLeft: 2 });
    await precompile(this.course, true);
    this.onProgress({ what: 'Ready', done: total, total, secondsLeft: 0 });
  },

  async fetch(name) {
    const url = new URL(name, HERE);
    if (url.protocol !== 'file:') return fetch(url);
    const { readFile } = await import('node:fs/promises');
    return new Response(await readFile(url));
  },

  // A text with these kernels, compiled and loaded. { errors, log } where it does not compile.
  async build(text, names, options) {
    await this.ready();
    const made = await compile(this.course, text, names, options);
    if (!made.errors) await this.simulator.load(made);
    return made;
  },

  async run({ text, kernel, grid, block, args = [], checked = true, sharedBytes = 0, seed = 0, timeout = 10 }) {
    const began = performance.now(), answer = { arrays: {}, issues: [], counters: [], printed: '', error: null, compileErrors: [] };
    const ended = more => ({ ...answer, ...more, seconds: (performance.now() - began) / 1000 });
    const name = kernel ?? /__global__[^;{]*?\b(\w+)\s*\(/.exec(codeOf(text))?.[1];
    if (!name) return ended({ error: 'The text holds no kernel: a function that begins with __global__ void.' });
    const [threeGrid, threeBlock] = [grid, block].map(three), wrong = sizeError(threeGrid, threeBlock);
    if (wrong) return ended({ error: wrong });
    const made = await this.build(text, [name], { checked });
    if (made.errors) return ended({ compileErrors: made.errors, error: 'The kernel does not compile.' });
    const { simulator } = this, arrays = [];
    try {
      const given = args.map(arg => {
        if (typeof arg !== 'object' || arg === null) return arg;
        const size = arg.shape ? [arg.shape].flat().reduce((a, b) => a * b, 1) : arg.values.length;
        const values = pack(arg.dtype ?? 'float32', arg.values ?? new Array(size).fill(arg.fill ?? 0)), on = simulator.upload(values, !!arg.empty);
        arrays.push({ ...arg, on, dtype: arg.dtype ?? 'float32', shape: [arg.shape ?? size].flat() });
        return on;
      });
      const facts = factsOf(text, name), seen = simulator.launch(0, threeGrid, threeBlock, given, { names: facts.names, shared: sharedBytes, seed, checked, timeout, facts });
      for (const [i, { name: called, on, dtype, shape }] of arrays.entries())
        answer.arrays[called ?? `array ${i + 1}`] = { dtype, shape, values: unpack(dtype, simulator.download(on)) };
      return ended(seen);
    } catch (error) {
      return ended({ error: String(error.message ?? error) });
    } finally {
      simulator.freeAll();
    }
  },

  judge(name, text) { return judge(this, name, text); },
};

const three = size => [...[size ?? 1].flat(), 1, 1].slice(0, 3);

function sizeError(grid, block) {
  const threads = block[0] * block[1] * block[2];
  if (![...grid, ...block].every(size => Number.isInteger(size) && size > 0)) return 'Grid and block are whole numbers from 1 on, up to three of each.';
  if (threads > MOST_THREADS) return `A block of ${threads} threads is too large: a GPU runs at most ${MOST_THREADS} in one.`;
  return null;
}
