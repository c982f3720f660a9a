// The verdict on an answer, from cases/NAME.json: what course_lib/coach/judge.py does where Python is, less what exported_cases.py
// leaves out. Each case runs in two orders of the threads, on a module that is loaded once; the smallest that fails speaks.
import { decode, typeOf, unpack } from './arrays.mjs';
import { download } from './download.mjs';
import { factsOf } from './facts.mjs';
import { GOALS } from './goals.mjs';
import { holds } from './predicates.mjs';

const SEEDS = [0, 1];  // the threads in order, then in a shuffled one: coach/kernels.py
let last = {};

// The cases of one exercise, which are kept until another is asked for: those of all would fill the memory.
export async function casesOf(name) {
  if (last.name !== name) last = { name, cases: download(new URL(`cases/${name}.json`, import.meta.url)).then(answer => answer.json()) };
  return last.cases.catch(error => {
    last = {};
    throw error;
  });
}

export async function judge(core, name, text) {
  const exercise = await casesOf(name), began = performance.now();
  const answer = { passed: false, headline: '', lines: [], issues: [], counters: [], case: null, expected: null, got: null, compileErrors: [], hints: exercise.hints, solution: null, printed: '' };
  const ended = more => ({ ...answer, ...more, seconds: (performance.now() - began) / 1000 });
  const made = await core.build(`${text}\n${exercise.given}`, exercise.kernels);
  if (made.errors) {
    const [first] = made.errors;
    return ended({ headline: `${first.line ? `Line ${first.line}: ` : ''}${first.message}`, compileErrors: made.errors });
  }
  const tried = exercise.cases.map(() => null);
  try {
    for (const [number, one] of exercise.cases.entries()) {
      tried[number] = trial(core.simulator, exercise, one, text);
      answer.printed += tried[number].printed;
      if (tried[number].issues.some(issue => issue.kind === 'timeout')) break;
    }
  } catch (error) {
    return ended({ headline: String(error.message ?? error) });
  }
  const failing = tried.findIndex(one => one && !one.right), measured = exercise.cases.findIndex(one => one.label === exercise.measured);
  const shown = tried[failing >= 0 ? failing : Math.max(0, measured)], right = tried.filter(one => one?.right).length;
  const common = { counters: shown.counters, issues: shown.issues, lines: shown.issues.slice(1).map(sentence) };
  if (failing >= 0) {
    const seen = seenOf(shown, text, exercise), { difference } = shown;
    const mistake = exercise.mistakes.find(({ like, when }) => when ? holds(when, failing, seen) : difference && isMistake(exercise, tried, like))?.says;
    const headline = mistake ?? (shown.issues.length ? sentence(shown.issues[0]) : `${difference.says}.`);
    const lines = [...(mistake ? shown.issues : shown.issues.slice(1)).map(sentence), `${right} of ${tried.length} cases ${right === 1 ? 'is' : 'are'} right.`];
    return ended({ ...common, headline, lines, case: exercise.cases[failing].label, expected: difference?.expected ?? null, got: difference?.got ?? null });
  }
  const goals = measured < 0 ? [] : exercise.goals.map(goal => ({ ...goal, yours: GOALS[goal.count](shown.counters, goal) }));
  const missed = goals.find(({ yours, atMost }) => yours !== null && atMost !== null && yours > atMost * (1 + 1e-9)), lines = goals.map(goalLine);
  if (missed) return ended({ ...common, headline: `All cases are right. ${goalLine(missed)}`, lines });
  if (exercise.unjudged) {
    const headline = `The checker sees nothing wrong. This page cannot judge the exercise: ${exercise.unjudged}. Copy your answer to a computer with the course, and say there: course check ${name}`;
    return ended({ ...common, undecided: true, headline, lines });
  }
  lines.push(...exercise.left_out.map(what => `Not looked at in this page: ${what}.`));
  return ended({ ...common, passed: true, headline: 'Passed.', lines, solution: exercise.solution });
}

const sentence = ({ kind, line, message }) => `${kind}: line ${line}: ${message}`;
const goalLine = ({ name, yours, atMost }) => `${name}: ${yours === null ? 'none' : Number(yours.toPrecision(4))}${atMost === null ? '' : `, required: at most ${atMost}`}.`;

// One case, in every order: { right, issues, counters, difference, arrays, printed }, of the first order that fails.
function trial(simulator, exercise, { launches, results }, text) {
  let kept = null;
  for (const seed of SEEDS) {
    kept = once(simulator, exercise, launches, results, text, seed, kept);
    if (!kept.right) break;
  }
  return kept;
}

function once(simulator, exercise, launches, results, text, seed, before) {
  const arrays = [], issues = [], counters = [];
  let printed = '';
  try {
    for (const { kernel, grid, block, shared, args, set } of launches) {
      const facts = factsOf(`${text}\n${exercise.given}`, kernel), number = exercise.kernels.indexOf(kernel), given = argumentsOf(simulator, args, set, arrays);
      const seen = simulator.launch(number, grid, block, given, { names: facts.names, shared, seed, timeout: exercise.seconds, facts });
      issues.push(...seen.issues);
      counters.push(...seen.counters);
      printed += seen.printed;
    }
    const got = results.map(result => elements(simulator.memory.buffer, arrays[result.array].at, result));
    const difference = differenceOf(exercise, results, got);
    return { right: !issues.length && !difference, issues: unique(issues), counters: before?.counters ?? counters, difference, got, printed };
  } finally {
    simulator.freeAll();
  }
}

// What a launch is given, after what is new in the arrays is there.
export function argumentsOf(simulator, args, set, arrays) {
  for (const one of set) place(simulator, arrays, one);
  return args.map(arg => arg === null ? null : arg.array !== undefined ? { at: arrays[arg.array].at + arg.offset } : arg.struct !== undefined ? { struct: structure(arg, arrays) } : numberOf(arg.number));
}

// A result as recorder.py says where it lies: elements of an array, or with `rows`, [count, bytes of one], their sums over rows.
export function elements(buffer, at, { offset, dtype, shape, strides, rows = [1, 0] }) {
  const type = typeOf(dtype), size = type.BYTES_PER_ELEMENT, count = shape.reduce((a, b) => a * b, 1);
  if (!strides && rows[0] === 1) return new type(buffer.slice(at + offset, at + offset + count * size));
  const all = new type(buffer, at), found = new type(count), steps = strides ?? shape.map((_, i) => size * shape.slice(i + 1).reduce((a, b) => a * b, 1));
  for (let i = 0; i < count; i++) {
    let rest = i, from = offset;
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      from += rest % shape[axis] * steps[axis];
      rest = Math.floor(rest / shape[axis]);
    }
    let sum = all[from / size];
    for (let row = 1; row < rows[0]; row++) sum += all[(from + row * rows[1]) / size];
    found[i] = sum;
  }
  return found;
}

// A structure by value, with the addresses of the arrays that it points to.
function structure({ struct, pointers }, arrays) {
  const bytes = decode('uint8', struct), view = new DataView(bytes.buffer);
  for (const [where, array, offset] of pointers) view.setUint32(where, arrays[array].at + offset, true);
  return bytes;
}

// What JSON cannot hold, or would round, is text there (exported_cases.py).
export const numberOf = value => typeof value !== 'string' ? value : /^-?\d+$/.test(value) ? BigInt(value) : Number(value);

function place(simulator, arrays, { array, bytes, zeros, empty }) {
  const content = bytes === undefined ? new Uint8Array(zeros ?? empty) : decode('uint8', bytes);
  if (arrays[array]) return void new Uint8Array(simulator.memory.buffer, arrays[array].at).set(content);
  arrays[array] = simulator.upload(content, empty !== undefined);
}

function unique(issues) {
  const kept = new Map();
  for (const issue of issues) {
    const key = [issue.kind, ...[issue.line, issue.otherLine ?? issue.line].sort((a, b) => a - b)].join();
    if (!kept.has(key)) kept.set(key, issue);
  }
  return [...kept.values()];
}

// coach/compare.py: close
function near(a, b, tolerance) {
  if (a === b || (Number.isNaN(a) && Number.isNaN(b))) return true;
  return typeof a === 'number' && Number.isFinite(b) && Math.abs(a - b) <= tolerance * Math.max(1, Math.abs(b));
}

export function differenceOf(exercise, results, got) {
  for (const [number, { dtype, shape, expected }] of results.entries()) {
    const want = unpack(dtype, decode(dtype, expected)), have = unpack(dtype, got[number]), whole = !/float/.test(dtype);
    const wrong = [...have.keys()].filter(i => !near(have[i], want[i], whole ? 0 : exercise.tolerance));
    if (!wrong.length) continue;
    const of = exercise.results[number] ?? 'the result', place = indexText(wrong[0], shape), [a, b] = [have[wrong[0]], want[wrong[0]]].map(shown);
    const are = wrong.length === 1 ? 'is wrong:' : 'are wrong; the first is';
    return { says: `${wrong.length} of ${have.length} elements of ${of} ${are} element ${place}: ${a}, expected ${b}`, expected: rowText(want), got: rowText(have) };
  }
  return null;
}

const shown = value => typeof value === 'number' && !Number.isInteger(value) ? String(Number(value.toPrecision(6))) : String(value);
const rowText = values => [...values.slice(0, 16)].map(shown).join(' ') + (values.length > 16 ? ' ...' : '');

function indexText(at, shape) {
  if (shape.length < 2) return String(at);
  const index = [];
  for (const size of [...shape].reverse()) {
    index.unshift(at % size);
    at = Math.floor(at / size);
  }
  return `(${index.join(', ')})`;
}

// What the questions of predicates.mjs look at.
function seenOf({ issues, difference }, text, { given }) {
  const lines = `${text}\n${given}`.split('\n'), source = line => lines[line - 1]?.trim() ?? '';
  return { text, difference, kinds: new Set(issues.map(({ kind }) => kind)), issues: issues.map(issue => ({ ...issue, source: source(issue.line), otherSource: source(issue.otherLine) })) };
}

// Whether the answer gives what a known mistake gives: in each case that was tried, and in one that fails at least.
export function isMistake(exercise, tried, mistake) {
  let fails = false;
  for (const [number, one] of tried.entries()) {
    if (!one) continue;
    const examples = exercise.cases[number].likes[mistake];
    if (!examples) {
      if (!one.right) return false;
      continue;
    }
    const same = exercise.cases[number].results.every(({ dtype }, i) => {
      const [indices, values] = examples[i], want = unpack(dtype, decode(dtype, values)), have = unpack(dtype, one.got[i]);
      return indices.every((at, k) => near(have[at], want[k], /float/.test(dtype) ? exercise.tolerance : 0));
    });
    if (!same) return false;
    fails ||= !one.right;
  }
  return fails;
}
