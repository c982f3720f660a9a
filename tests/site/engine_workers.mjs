// node engine_workers.mjs ENGINE PATIENCE < JOBS.json: jobs as of engine_driver.mjs ({judge, text} or {run}), as a page has them done: by
// engine.mjs and a worker for each run, here one of Node's. Writes a line of JSON for each job, as soon as it is done:
//   {result | dead, seconds, megabytes}      dead: what no answer came of, the engine's own error or silence for PATIENCE seconds
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { Worker as Thread } from 'node:worker_threads';

// A browser's worker, as far as engine.mjs and worker.mjs use it.
const INSIDE = url => `
  import { parentPort } from 'node:worker_threads';
  globalThis.onmessage = null;
  globalThis.postMessage = value => parentPort.postMessage(value);
  const early = [], listen = data => globalThis.onmessage ? globalThis.onmessage({ data }) : early.push(data);
  parentPort.on('message', listen);
  await import(${JSON.stringify(url)});
  early.forEach(listen);`;
globalThis.Worker = class {
  constructor(url) {
    this.thread = new Thread(new URL(`data:text/javascript,${encodeURIComponent(INSIDE(url.href))}`));
    this.thread.on('message', data => this.onmessage?.({ data }));
    this.thread.on('error', error => this.onerror?.(error));
  }
  postMessage(value) { this.thread.postMessage(value); }
  terminate() { this.thread.terminate(); }
};

const { Engine } = await import(new URL('engine.mjs', pathToFileURL(process.argv[2] + '/')));
const engine = new Engine(), patience = Number(process.argv[3]);
await engine.ready();
for (const job of JSON.parse(readFileSync(0, 'utf8'))) {
  const began = performance.now();
  let timer;
  const silence = new Promise((_, reject) => { timer = setTimeout(() => reject(new Error(`no answer within ${patience} s`)), 1000 * patience); });
  let told;
  try {
    told = { result: await Promise.race([job.judge ? engine.judge(job.judge, job.text) : engine.run(job.run), silence]) };
  } catch (error) {
    engine.stop();
    told = { dead: String(error.message ?? error) };
  }
  clearTimeout(timer);
  console.log(JSON.stringify({ ...told, seconds: (performance.now() - began) / 1000, megabytes: process.memoryUsage().rss / 1e6 }));
}
engine.stop();
