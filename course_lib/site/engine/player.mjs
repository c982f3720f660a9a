// A launch to step through: the data that the course's player shows (plots/player.html, launch.js), which natively
// course_lib/plots/play.py makes; the functions and the sentences are its own.
import { codeOf } from './facts.mjs';
import { BANKS, WORD, itemBytes, numbers, steps } from './steps.mjs';
import { ACCESSES, MOST, PLAYED_THREADS } from './trace.mjs';

const MOST_STEPS = 1500, MOST_CELLS = 2560;
const SHARED_TYPES = { half: 'float16', __half: 'float16', double: 'float64', int: 'int32', unsigned: 'uint32', float: 'float32', char: 'int8', bool: 'bool', short: 'int16' };
const BY_SIZE = { 1: 'int8', 2: 'int16', 8: 'float64' };

const counted = (count, word) => `${count} ${word}${count > 1 ? 's' : ''}`, commas = number => number.toLocaleString('en-US');

// Throws an Error with a sentence where a launch cannot be shown. launch: {text, name, grid, block, shared, arrays: [{name, dtype, shape,
// before, after}]}; seen: what simulate.mjs tells, with events; variables: the kernel's own arrays.
export function playerOf({ text, name, grid, block, shared, arrays }, { events, issues }, variables) {
  const product = size => size.reduce((a, b) => a * b, 1), threads = product(block), blocks = product(grid);
  if (threads > PLAYED_THREADS) throw new Error(`play() shows blocks of at most ${PLAYED_THREADS} threads; this launch has ${threads} in a block.`);
  if (!events.length) throw new Error(`${name} touches no memory in this launch: there is nothing to play.`);
  const given = new Map(arrays.map(one => [one.name, { ...one, before: numbers(one.dtype, one.before), after: numbers(one.dtype, one.after) }]));
  const shown = arraysOf(text, events, given, variables, shared);
  const kinds = new Map([...shown].map(([name, { dtype }]) => [name, dtype])), final = new Map([...given].map(([name, { after }]) => [name, after]));
  const found = steps(events, threads, kinds, final, { issues, grid, block }), complete = events.length < MOST;
  if (!complete || found.length > MOST_STEPS)
    throw new Error(`play() shows at most ${commas(MOST_STEPS)} steps; this launch of ${name} has ${commas(found.length)}${complete ? '' : ' and more'}. Launch it on less.`);
  const order = [...shown.keys()], first = new Map();
  for (const [i, { line, mark }] of found.entries()) {
    const what = mark.split(':')[0], key = `${line},${what}`;
    if (mark && !first.has(key)) first.set(key, [i, what]);
  }
  return {
    title: `${name}: ${counted(blocks, 'block')} of ${threads} threads`, marks: [...first.values()].sort((a, b) => a[0] - b[0]).slice(0, 8),
    steps: found.map(one => ({
      block: one.block, interval: one.interval, op: one.op, line: one.line, partner: one.partner, threads: one.threads, array: shown.has(one.array) ? order.indexOf(one.array) : null,
      elements: one.elements, values: one.values.map(plain), sources: one.sources, said: sentence(one, /^b?float/.test(kinds.get(one.array))), mark: one.mark,
    })),
    threads, blocks, arrays: [...shown.values()].map(({ dtype, ...more }) => more), source: listing(text, found.map(({ line }) => line)),
  };
}

// Each array that is touched, in the order of the first touch: its space, type, columns and first values.
function arraysOf(text, events, given, variables, dynamic) {
  const declared = new Map(variables.map(({ name, bytes }) => [name, bytes])), found = new Map();
  for (const { op, array: name, space, bytes } of events) {
    if (!ACCESSES.has(op) || found.has(name)) continue;
    const known = given.get(name), shared = space === 'shared', dtype = known?.dtype ?? sharedType(text, name, bytes), size = itemBytes(dtype);
    let start = known?.before.map(plain), shape = known?.shape;
    if (!known) {
      const end = Math.max(...events.filter(one => one.array === name && ACCESSES.has(one.op)).map(one => one.offset + one.bytes));
      const cells = Math.floor(Math.max(end, shared ? declared.get(name) ?? dynamic : end) / size);
      [start, shape] = [new Array(cells).fill(null), [cells]];
    }
    if (start.length > MOST_CELLS) throw new Error(`play() shows arrays of at most ${commas(MOST_CELLS)} elements; '${name}' has ${commas(start.length)}. Launch it on less.`);
    const columns = !shared && shape.length > 1 && shape.at(-1) <= 32 ? shape.at(-1) : Math.min(start.length, shared ? BANKS * WORD / size : 32);
    const label = `${name}: ${shared ? 'shared memory; the numbers are banks' : 'global memory'}, ${shape.join(' x ')} ${dtype}`;
    found.set(name, { name, space, dtype, columns, start, label, banks: shared ? Array.from({ length: columns }, (_, c) => Math.floor(c * size / WORD)) : null });
  }
  return found;
}

// The type that the text declares a shared array with; by the size of its accesses where that is not plain.
function sharedType(text, name, bytes) {
  for (const [declaration] of codeOf(text).matchAll(/\b__shared__\b[^;]*;/g)) {
    const words = declaration.match(/\w+/g);
    if (words.includes(name)) return SHARED_TYPES[words.find(word => Object.hasOwn(SHARED_TYPES, word))] ?? 'float32';
  }
  return BY_SIZE[bytes] ?? 'float32';
}

// A number that JSON knows; a text for the others.
function plain(value) {
  if (typeof value !== 'number') return value;
  if (!Number.isFinite(value)) return python(value);
  return Number.isInteger(value) && Math.abs(value) < 1e6 ? value : Number(value.toPrecision(6));
}

const python = value => Number.isNaN(value) ? 'nan' : value > 0 ? 'inf' : '-inf';

function listing(text, used) {
  const lines = text.replace(/\n$/, '').split('\n'), first = Math.max(1, Math.min(...used) - 4), last = Math.min(lines.length, Math.max(...used) + 2);
  return lines.slice(first - 1, last).map((line, i) => [first + i, line]);
}

// A step in words. floats: whether its array holds fractions.
function sentence(step, floats) {
  if (step.op === 'barrier') return `block ${step.block}, line ${step.line}: barrier. All threads of the block have come, and go on together.`;
  const several = new Set(step.threads).size > 1, s = several ? '' : 's';
  const who = `block ${step.block}, warp ${step.warp}, line ${step.line}: ${threadsIn(step.threads)}`;
  if (step.op === 'warp sync') return `${who} wait for each other at __syncwarp().`;
  if (step.op === 'shuffle') return `${who} take${s} a value from another lane: ${few(step.threads.map((thread, i) => `${thread} from ${step.sources[i]}`))}.`;
  const verb = { read: `read${s}`, write: `write${s}`, atomic: several ? 'change atomically' : 'changes atomically' }[step.op];
  const values = step.values.some(value => value !== null) ? ` = ${few(step.values.map(value => numberIn(value, floats)))}` : '';
  return `${who} ${verb} ${step.array}[${ranges(step.elements)}]${values}; ${counted(step.requests, step.space === 'global' ? 'sector' : 'wavefront')}.`;
}

function threadsIn(threads) {
  const several = [...new Set(threads)].sort((a, b) => a - b);
  return several.length === 1 ? `thread ${several[0]}` : `${several.length} threads (${ranges(several)})`;
}

const few = (words, most = 6) => words.slice(0, most).join(', ') + (words.length > most ? ', ...' : '');

// Four digits as Python's .4g has them.
function numberIn(value, floats) {
  if (value === null) return '?';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (!floats) return String(value);
  if (!Number.isFinite(value)) return python(value);
  const [digits, exponent] = value.toExponential(3).split('e').map(Number);
  if (value !== 0 && (exponent < -4 || exponent >= 4)) return `${digits}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
  return Object.is(value, -0) ? '-0' : String(Number(value.toPrecision(4)));
}

// 0, 1, 2, 5 as "0-2, 5"; with a common step from 4 numbers on as "0, 4, ... 28".
function ranges(all) {
  const several = [...new Set(all)].sort((a, b) => a - b), gaps = new Set(several.slice(1).map((later, i) => later - several[i]));
  if (several.length > 3 && gaps.size === 1 && !gaps.has(1)) return `${several[0]}, ${several[1]}, ... ${several.at(-1)}`;
  const parts = [];
  for (const one of several) {
    if (parts.length && one === parts.at(-1).at(-1) + 1) parts.at(-1).push(one);
    else parts.push([one]);
  }
  return few(parts.map(part => part.length > 1 ? `${part[0]}-${part.at(-1)}` : String(part[0])), 4);
}
