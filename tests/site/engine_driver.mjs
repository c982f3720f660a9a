// node engine_driver.mjs ENGINE < JOBS.json: many jobs for the engine in one process. JOBS is a list of
//   {judge: NAME, text}                                  an answer to an exercise; gives the verdict
//   {run: LAUNCH}                                        engine.run
//   {text, launches: [{kernel, grid, block, args, shared, seed, timeout}]}   one file compiled and loaded once, then launched in turn
//       args: {dtype, values}, {dtype, zeros: COUNT} or numbers; "same" takes the arrays of the launch before. Gives a list.
// Writes {results, cpu, megabytes}: cpu: seconds of processor time of each; megabytes: what the process holds at the end.
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const base = pathToFileURL(process.argv[2] + '/');
const { Engine } = await import(new URL('engine.mjs', base)), { core } = await import(new URL('core.mjs', base));
const { factsOf } = await import(new URL('facts.mjs', base)), { typeOf } = await import(new URL('arrays.mjs', base));
const engine = new Engine(), results = [], cpu = [];

async function launches({ text, launches }) {
  const made = await core.build(text, [...new Set(launches.map(({ kernel }) => kernel))]), { simulator } = core, told = [];
  if (made.errors) return { errors: made.errors };
  const kernels = [...new Set(launches.map(({ kernel }) => kernel))];
  let given = [];
  for (const { kernel, grid = [1, 1, 1], block, args, ...options } of launches) {
    if (args !== 'same') {
      simulator.freeAll();
      given = args.map(arg => typeof arg !== 'object' || arg === null ? arg
        : simulator.upload(arg.zeros ? new (typeOf(arg.dtype))(arg.zeros) : typeOf(arg.dtype).from(arg.values)));
    }
    const facts = factsOf(text, kernel);
    const seen = simulator.launch(kernels.indexOf(kernel), grid, block, given, { names: facts.names, facts, ...options });
    told.push({ kernel, ...seen, arrays: given.map(one => one?.at === undefined ? null : [...simulator.download(one)].map(Number)) });
  }
  simulator.freeAll();
  return told;
}

await engine.ready();
for (const job of JSON.parse(readFileSync(0, 'utf8'))) {
  const began = process.cpuUsage();
  try {
    results.push(job.judge ? await engine.judge(job.judge, job.text) : job.run ? await engine.run(job.run) : await launches(job));
  } catch (error) {
    results.push({ error: String(error.stack ?? error) });
  }
  const { user, system } = process.cpuUsage(began);
  cpu.push((user + system) / 1e6);
  console.error(job.judge ?? job.run?.kernel ?? job.launches.length, results.at(-1).passed ?? '', cpu.at(-1).toFixed(2), results.at(-1).headline?.slice(0, 150) ?? results.at(-1).error ?? '');
}
console.log(JSON.stringify({ results, cpu, megabytes: process.memoryUsage().rss / 1e6 }));
