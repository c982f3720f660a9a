// CUDA C++ in a web page, from text to verdict. What a page calls:
//
//   import { Engine } from "./engine/engine.mjs"
//   const engine = new Engine({ base: "engine/", onProgress: ({what, done, total, secondsLeft}) => {} })
//       base: the folder of this file, as a URL relative to the page. In a page the engine runs in a worker, another for
//       each run; in Node in the calling process. Nothing is fetched yet. `what` is a sentence; `done` and `total` are bytes.
//   await engine.ready()        fetch and start the compiler, and read the simulator's headers; may be called early, and again
//   await engine.exercises()    [{name, chapter, title, language, blank, task}], in the order of the course; needs no ready()
//   await engine.judge(name, text)
//       {passed, undecided, headline, lines, issues, counters, case, expected, got, compileErrors, hints, solution, seconds}
//         undecided: nothing wrong was seen, and the page cannot judge this exercise;
//         headline: a sentence; lines: further ones; case: what is special about the smallest case that fails, or null, with
//         `expected` and `got` as text; issues: [{kind, line, otherLine, message, block, thread}]; counters: [{line, space, op,
//         requests, sectorsPerRequest, wavefrontsPerRequest, activeLanes}] of the measured or failing case; compileErrors:
//         [{line, message}]; hints: all; solution: the text, after a pass, else null.
//   await engine.play(name, text, label)
//         the first launch of an answer on the case of this label, or else on the first case that is small enough:
//       {player} or {notPlayed}, a sentence that says why there is none
//   await engine.run({text, kernel, grid, block, args, checked, sharedBytes, seed, timeout, player})
//         kernel: "scale" or "matmul<16>"; grid, block: a number or up to three; args: numbers, null for a null pointer, or
//         {name, dtype, shape, values | fill | "zeros": true | "empty": true}; timeout: seconds. dtype: see arrays.mjs
//       {arrays: {name: {dtype, shape, values}}, issues, counters, printed, error, compileErrors, seconds}
//         error: a sentence, or null. With `player` also {player} or {notPlayed}; a player is the data of plots/player.html
//   engine.stop()               end the worker, with whatever runs in it: those calls are rejected. The next call starts another
//
// Calls wait for each other. A call is rejected only if the engine itself fails, or is stopped.

export class Engine {
  constructor({ base = 'engine/', onProgress = () => {} } = {}) {
    this.onProgress = onProgress;
    this.url = new URL(base, globalThis.document?.baseURI ?? import.meta.url);
    if (!globalThis.document && !globalThis.WorkerGlobalScope) this.url = new URL('./', import.meta.url);
    this.waiting = new Map();
    this.last = 0;
  }

  ready() { return this.call('ready'); }
  judge(name, text) { return this.call('judge', name, text); }
  play(name, text, label) { return this.call('play', name, text, label); }
  run(launch) { return this.call('run', launch); }

  async exercises() {
    const answer = await fetchJson(new URL('exercises.json', this.url));
    return answer;
  }

  stop() {
    this.worker?.terminate();
    this.worker = null;
    for (const { reject } of this.waiting.values()) reject(new Error('The engine was stopped.'));
    this.waiting.clear();
  }

  async call(what, ...values) {
    if (!globalThis.Worker) {
      this.core ??= import('./core.mjs');
      const { core } = await this.core;
      return core[what](...values);
    }
    this.worker ??= this.start();
    return new Promise((resolve, reject) => {
      const number = ++this.last;
      this.waiting.set(number, { resolve, reject, what });
      this.worker.postMessage({ number, what, values });
    });
  }

  start() {
    const worker = new Worker(new URL('worker.mjs', this.url), { type: 'module' });
    if (this.kept) worker.postMessage({ taken: this.kept });
    worker.onmessage = ({ data: { number, progress, result, error, kept } }) => {
      if (progress) return this.onProgress(progress);
      if (kept) return void (this.kept = kept);
      const { resolve, reject, what } = this.waiting.get(number) ?? {};
      this.waiting.delete(number);
      if (error) reject?.(new Error(error));
      else resolve?.(result);
      if (what !== 'ready' && !this.waiting.size && worker === this.worker) this.renew();
    };
    worker.onerror = event => {
      this.stop();
      throw new Error(`The engine could not be loaded: ${event.message ?? 'is the network there?'}`);
    };
    return worker;
  }

  // A worker for each run: what LLVM leaves behind goes with it at once, while a browser would let it lie until it is 120 MB.
  renew() {
    this.worker.terminate();
    this.worker = null;
    this.ready().catch(() => {});  // the next call tells
  }
}

async function fetchJson(url) {
  if (url.protocol !== 'file:') return (await fetch(url)).json();
  const { readFile } = await import('node:fs/promises');
  return JSON.parse(await readFile(url, 'utf8'));
}
