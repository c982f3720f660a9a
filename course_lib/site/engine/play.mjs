// An answer's launch on a case of its exercise, to step through: natively course_lib/coach/playing.py.
import { argumentsOf, casesOf, elements } from './judge.mjs';
import { factsOf } from './facts.mjs';

export async function play(core, name, text, label) {
  const exercise = await casesOf(name), made = await core.build(`${text}\n${exercise.given}`, exercise.kernels);
  if (made.errors) return { notPlayed: 'Your kernel does not compile yet: check it, which says why.' };
  const cases = exercise.cases.filter(({ launches }) => launches.length).sort((a, b) => (a.label !== label) - (b.label !== label));
  let why = 'its cases launch no kernel.';
  for (const { launches: [first] } of cases) {
    const shown = played(core, exercise, first, text);
    if (shown.player) return shown;
    why = shown.notPlayed;
  }
  return { notPlayed: `No case of ${name} can be played: ${why}` };
}

function played(core, exercise, { kernel, grid, block, shared, args, set }, text) {
  const { simulator } = core, places = [], facts = factsOf(`${text}\n${exercise.given}`, kernel);
  try {
    const given = argumentsOf(simulator, args, set, places);
    const content = arg => elements(simulator.memory.buffer, places[arg.array].at, arg);
    const arrays = args.flatMap((arg, i) => arg?.array === undefined ? [] : { ...arg, name: facts.names[i], before: content(arg) });
    const seen = simulator.launch(exercise.kernels.indexOf(kernel), grid, block, given, { names: facts.names, shared, timeout: exercise.seconds, facts, trace: true });
    return core.shown({ text, name: kernel, grid, block, shared, arrays: arrays.map(one => ({ ...one, after: content(one) })) }, seen);
  } catch (error) {
    return { notPlayed: error.message };
  } finally {
    simulator.freeAll();
  }
}
