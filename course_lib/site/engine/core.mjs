// The engine itself: in a page it runs in a worker (worker.mjs), in Node in the calling process. engine.mjs says what it answers.
import { filled, pack, unpack } from './arrays.mjs';
import { compile, precompile } from './compile.mjs';
import { loadCompiler } from './compiler.mjs';
import { compiled, kept, onDownload, unpacked } from './download.mjs';
import { codeOf, factsOf } from './facts.mjs';
import { judge } from './judge.mjs';
import { arraysError, launchError } from './limits.mjs';
import { play } from './play.mjs';
import { playerOf } from './player.mjs';
import { Simulator } from './simulate.mjs';

const HERE = new URL('./', import.meta.url);

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

  async run({ text, kernel, grid, block, args = [], checked = true, sharedBytes = 0, seed = 0, timeout = 10, player = false }) {
    const began = performance.now(), answer = { arrays: {}, issues: [], counters: [], printed: '', error: null, compileErrors: [] };
    const ended = more => ({ ...answer, ...more, seconds: (performance.now() - began) / 1000 });
    const name = kernel ?? /__global__[^;{]*?\b(\w+)\s*\(/.exec(codeOf(text))?.[1];
    if (!name) return ended({ error: 'The text holds no kernel: a function that begins with __global__ void.' });
    const [threeGrid, threeBlock] = [grid, block].map(three), wrong = launchError(name, threeGrid, threeBlock, sharedBytes, 0) ?? arraysError(args);
    if (wrong) return ended({ error: wrong });
    const made = await this.build(text, [name], { checked });
    if (made.errors) return ended({ compileErrors: made.errors, error: 'The kernel does not compile.' });
    const { simulator } = this, arrays = [];
    try {
      const given = args.map(arg => {
        if (typeof arg !== 'object' || arg === null) return arg;
        const size = arg.shape ? [arg.shape].flat().reduce((a, b) => a * b, 1) : arg.values.length;
        const dtype = arg.dtype ?? 'float32', values = arg.values ? pack(dtype, arg.values) : filled(dtype, size, arg.fill ?? 0), on = simulator.upload(values, !!arg.empty);
        arrays.push({ ...arg, on, before: player && simulator.download(on), dtype, shape: [arg.shape ?? size].flat() });
        return on;
      });
      const facts = factsOf(text, name), seen = simulator.launch(0, threeGrid, threeBlock, given, { names: facts.names, shared: sharedBytes, seed, checked, timeout, facts, trace: player });
      for (const [i, { name: called, on, dtype, shape }] of arrays.entries())
        answer.arrays[called ?? `array ${i + 1}`] = { dtype, shape, values: unpack(dtype, simulator.download(on)) };
      if (!player) return ended(seen);
      const { events, ...told } = seen, named = arrays.map(one => ({ ...one, name: facts.names[given.indexOf(one.on)], after: simulator.download(one.on) }));
      return ended({ ...told, ...this.shown({ text, name, grid: threeGrid, block: threeBlock, shared: sharedBytes, arrays: named }, seen) });
    } catch (error) {
      return ended({ error: String(error.message ?? error) });
    } finally {
      simulator.freeAll();
    }
  },

  // { player }, or { notPlayed }: why a launch cannot be shown step by step. launch, seen: as player.mjs has them.
  shown(launch, seen) {
    try {
      return { player: playerOf(launch, seen, this.simulator.variables) };
    } catch (error) {
      return { notPlayed: error.message };
    }
  },

  judge(name, text) { return judge(this, name, text); },
  play(name, text, label) { return play(this, name, text, label); },
};

const three = size => [...[size ?? 1].flat(), 1, 1].slice(0, 3);
