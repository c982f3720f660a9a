// node answers.mjs ENGINE < ANSWERS.json: [{name, text}] judged by the engine, one process for all. Writes the verdicts, with
// `cpu`, the seconds of processor time of each, and at last the megabytes that the process holds.
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const { Engine } = await import(new URL('engine.mjs', pathToFileURL(process.argv[2] + '/')));
const engine = new Engine(), verdicts = [];
await engine.ready();
for (const { name, text } of JSON.parse(readFileSync(0, 'utf8'))) {
  const began = process.cpuUsage();
  const verdict = await engine.judge(name, text), { user, system } = process.cpuUsage(began);
  verdicts.push({ name, ...verdict, cpu: (user + system) / 1e6 });
  console.error(name, verdict.passed, ((user + system) / 1e6).toFixed(2), verdict.headline.slice(0, 150));
}
console.log(JSON.stringify({ verdicts, megabytes: process.memoryUsage().rss / 1e6 }));
