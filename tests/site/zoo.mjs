// node zoo.mjs ENGINE < FILES.json: the zoo of faults in the engine. FILES: [{file, text, animals: [{name, grid, block, n, shared}]}].
// Writes for each animal {file, name, issues: [{kind, line}]}.
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const base = pathToFileURL(process.argv[2] + '/');
const { core } = await import(new URL('core.mjs', base)), { factsOf } = await import(new URL('facts.mjs', base));
const found = [], ramp = Float32Array.from({ length: 1000 }, (_, i) => i + 1);
for (const { file, text, animals } of JSON.parse(readFileSync(0, 'utf8'))) {
  const began = performance.now(), made = await core.build(text, animals.map(animal => animal.name));
  if (made.errors) throw new Error(`${file}: ${made.log}`);
  for (const [number, { name, grid, block, n, shared }] of animals.entries()) {
    const { simulator } = core, facts = factsOf(text, name);
    const args = [simulator.upload(ramp), simulator.upload(new Float32Array(1000)), simulator.upload(new Int32Array(256)), n];
    const { issues } = simulator.launch(number, grid, block, args, { names: facts.names, shared, timeout: 0.5, facts });
    simulator.freeAll();
    found.push({ file, name, issues });
  }
  console.error(file, Object.entries(made.times).map(([step, ms]) => `${step} ${Math.round(ms)}`).join(', '), Math.round(performance.now() - began));
}
console.log(JSON.stringify(found));
