// Whether what a launch gives depends on a local variable that has no value (fills.mjs): it runs again on the same arrays with
// other fills. The first launch is the one that counts; what the others do to arrays and variables is undone.
import { LARGE, ZERO } from './fills.mjs';

const PATIENCE = 4, LEAST = 0.2;  // a further run may take so many times the first one's time, and so many seconds at least
const told = issues => issues.map(({ kind }) => kind).filter(kind => kind !== 'uninitialised-read').sort().join();

// candidates: numbers of variables that the kernel may read. once(options) launches it. Gives what the first launch has given,
// with one issue more where it depends on one of them. Not found: one whose pattern happens to lead to what these fills lead to.
export function withFills(simulator, candidates, variables, once) {
  const before = simulator.content(), began = performance.now(), seen = once({});
  if (seen.issues.some(({ kind }) => kind === 'timeout')) return seen;
  const after = simulator.content(), timeout = LEAST + PATIENCE * (performance.now() - began) / 1000;
  const differs = (chosen, fill) => {
    simulator.restore(before);
    simulator.fills = new Map(chosen.map(number => [number, fill]));
    return told(once({ timeout, trace: false }).issues) !== told(seen.issues) || !sameArrays(simulator.content(), after);
  };
  const numbers = candidates.filter(number => variables[number].number);
  try {
    const fill = differs(candidates, ZERO) ? ZERO : numbers.length && differs(numbers, LARGE) ? LARGE : null;
    if (fill === null) return seen;
    const among = fill === ZERO ? candidates : numbers, alone = among.length > 1 ? among.find(number => differs([number], fill)) : among[0];
    return { ...seen, issues: [issueOf(alone === undefined ? among.map(number => variables[number]) : [variables[alone]]), ...seen.issues] };
  } finally {
    simulator.fills.clear();
    simulator.restore(after);
  }
}

const sameArrays = (some, others) => some.arrays.every(({ bytes }, i) => bytes.every((byte, k) => byte === others.arrays[i].bytes[k]));

function issueOf(found) {
  const names = found.map(({ name }) => `'${name}'`), who = names.length === 1 ? names[0] : `one of ${names.join(', ')}`;
  const message = `${who} is read before it has a value, and the result depends on what is there by chance: set it first`;
  return { kind: 'uninitialised-read', line: found[0].line, otherLine: null, block: [0, 0, 0], thread: null, count: 1, message };
}
