// A recorded launch put in the order in which a GPU's warps would take it, one step for each request of a warp: what
// course_lib/plots/warp_steps.py does natively, where the fields of a step are explained; the functions have its names.
import { typeOf, unpack } from './arrays.mjs';
import { ACCESSES } from './trace.mjs';

const SECTOR = 32, WARP = 32;
export const BANKS = 32, WORD = 4;

export const itemBytes = dtype => typeOf(dtype).BYTES_PER_ELEMENT;
const laneOf = ({ thread }) => thread % WARP;
const conflictOf = step => step.space === 'shared' && step.ideal ? Math.floor(step.requests / step.ideal) : 1;

// Numbers as Python has them of an array of this type.
export function numbers(dtype, values) { return Array.from(unpack(dtype, values), dtype === 'bool' ? Boolean : Number); }

function decoded(dtype, bytes) {
  const size = itemBytes(dtype), whole = bytes.slice(0, Math.floor(bytes.length / size) * size);
  return numbers(dtype, new (typeOf(dtype))(whole.buffer));
}

// threads: of a block; kinds: the type of each array's elements by its name; final: what arrays of global memory hold after the launch;
// issues, grid, block: of the launch.
export function steps(events, threads, kinds, final, { issues, grid, block: size }) {
  const written = writtenValues(events, kinds, final), found = [];
  for (const block of [...new Set(events.map(event => event.block))].sort((a, b) => a - b)) {
    let interval = 0, waiting = [];
    for (const [number, event] of events.entries()) {
      if (event.block !== block) continue;
      if (event.op !== 'barrier') { waiting.push([number, event]); continue; }
      found.push(...stepsBetween(waiting, block, interval, kinds, written));
      found.push(step(block, interval, 0, 'barrier', event.line, { threads: Array.from({ length: threads }, (_, i) => i) }));
      [interval, waiting] = [interval + 1, []];
    }
    found.push(...stepsBetween(waiting, block, interval, kinds, written));
  }
  mark(found, issues, grid, size);
  return found;
}

const step = (block, interval, warp, op, line, more) =>
  ({ block, interval, warp, op, line, array: '', space: '', threads: [], elements: [], values: [], sources: [], requests: 0, ideal: 0, mark: '', partner: null, ...more });

// The steps between two barriers; the warps take turns.
function stepsBetween(events, block, interval, kinds, written) {
  const byWarp = new Map(), turns = [];
  for (const one of events) {
    const warp = Math.floor(one[1].thread / WARP);
    if (!byWarp.has(warp)) byWarp.set(warp, []);
    byWarp.get(warp).push(one);
  }
  for (const [warp, own] of byWarp)
    for (const [turn, together] of requestsOf(own).entries()) turns.push([turn, warp, oneStep(block, interval, warp, together, kinds, written)]);
  return turns.sort((a, b) => a[0] - b[0] || a[1] - b[1]).map(([, , one]) => one);
}

// The events of a warp, gathered to requests, in an order that no lane contradicts as far as there is one.
function requestsOf(events) {
  const lanes = new Map(), gathered = new Map(), times = new Map();
  for (const [number, event] of events) {
    const mask = event.op === 'warp sync' ? event.other : 1 << laneOf(event);
    for (let lane = 0; lane < WARP; lane++) {
      if (!(mask >>> lane & 1)) continue;
      const what = [event.op, event.instruction, event.line].join(), again = `${lane},${what}`;
      times.set(again, (times.get(again) ?? 0) + 1);
      const key = `${what},${times.get(again)}`;
      if (!lanes.has(lane)) lanes.set(lane, []);
      lanes.get(lane).push(key);
      if (!gathered.has(key)) gathered.set(key, []);
      if (lane === laneOf(event) || !gathered.get(key).length) gathered.get(key).push([number, event]);
    }
  }
  const order = [];
  for (const sequence of [...lanes.values()].sort((a, b) => b.length - a.length)) {
    let at = 0;
    for (const key of sequence) {
      const known = order.indexOf(key);
      if (known >= 0) at = known + 1;
      else order.splice(at++, 0, key);
    }
  }
  return order.map(key => gathered.get(key));
}

function oneStep(block, interval, warp, together, kinds, written) {
  const [, first] = together[0], { op, line, array } = first, made = step(block, interval, warp, op, line, { array, space: ACCESSES.has(op) ? first.space : '' });
  if (op === 'warp sync') {
    made.threads = Array.from({ length: WARP }, (_, lane) => lane).filter(lane => first.other >>> lane & 1).map(lane => warp * WARP + lane);
    return made;
  }
  if (op === 'shuffle') {
    together.sort((a, b) => a[1].thread - b[1].thread);
    made.threads = together.map(([, { thread }]) => thread);
    made.sources = together.map(([, { other }]) => warp * WARP + other);
    return made;
  }
  const dtype = kinds.get(array);
  for (const [number, event] of together) {
    const values = event.value.length && event.value.length % itemBytes(dtype) === 0 ? decoded(dtype, event.value) : null;
    for (const [k, index] of touched(event, dtype).entries()) {
      made.threads.push(event.thread);
      made.elements.push(index);
      made.values.push((values ? values[k] : written.get(`${number},${k}`)) ?? null);
    }
  }
  const accesses = together.map(([, event]) => event);
  made.requests = (first.space === 'shared' ? wavefronts : sectors)(accesses);
  made.ideal = ideal(accesses);
  return made;
}

function unitsOf(accesses, unit) {
  const found = new Set();
  for (const { offset, bytes } of accesses)
    for (let at = Math.floor(offset / unit); at <= Math.floor((offset + bytes - 1) / unit); at++) found.add(at);
  return found;
}
const sectors = accesses => unitsOf(accesses, SECTOR).size;

// Lanes of 8 bytes are served by half-warps, of 16 bytes by quarter-warps.
function groupsOf(accesses) {
  const together = WARP * WORD / Math.max(WORD, Math.min(16, accesses[0].bytes)), groups = new Map();
  for (const one of accesses) {
    const group = Math.floor(laneOf(one) / together);
    groups.set(group, [...groups.get(group) ?? [], one]);
  }
  return [...groups.values()];
}

function wavefronts(accesses) {
  let sum = 0;
  for (const group of groupsOf(accesses)) {
    const inBank = new Array(BANKS).fill(0);
    for (const word of unitsOf(group, WORD)) inBank[word % BANKS]++;
    sum += Math.max(...inBank);
  }
  return sum;
}

const ideal = accesses => accesses[0].space === 'shared' ? groupsOf(accesses).length : Math.ceil(unitsOf(accesses, 1).size / SECTOR);

// What each write left behind, as "number of the event,number of the element": as the next reader saw it, or the end shows it.
function writtenValues(events, kinds, final) {
  const found = new Map(), later = new Map();
  for (let number = events.length - 1; number >= 0; number--) {
    const event = events[number];
    if (!ACCESSES.has(event.op)) continue;
    const dtype = kinds.get(event.array), block = event.space === 'shared' ? event.block : '', values = decoded(dtype, event.value);
    for (const [k, index] of touched(event, dtype).entries()) {
      const element = `${event.array},${block},${index}`;
      if (event.op === 'read') { later.set(element, values[k] ?? null); continue; }
      const left = later.has(element) ? later.get(element) : final.get(event.array)?.[index] ?? null;
      if (left !== null) found.set(`${number},${k}`, left);
      later.set(element, null);
    }
  }
  return found;
}

// The indices of the elements that an access touches.
function touched({ offset, bytes }, dtype) {
  const size = itemBytes(dtype), first = Math.floor(offset / size);
  return Array.from({ length: Math.max(1, Math.floor(bytes / size)) }, (_, i) => first + i);
}

// Bank conflicts and the checker's issues, each where it happens first.
function mark(found, issues, grid, size) {
  for (const one of found) if (conflictOf(one) > 1) one.mark = `${conflictOf(one)}-way bank conflict`;
  for (const issue of issues) {
    const block = linear(issue.block, grid), there = found.filter(one => one.block === block && one.array && issue.message.includes(`'${one.array}'`));
    const here = there.filter(one => one.line === issue.line), own = here.filter(one => issue.thread && one.threads.includes(linear(issue.thread, size)));
    const [at] = own.length ? own : here;
    if (at) Object.assign(at, { mark: `${issue.kind}: ${issue.message}`, partner: issue.otherLine });
    const other = there.find(one => one.line === issue.otherLine && !one.mark);
    if (other) Object.assign(other, { mark: `${issue.kind}, the other side, of line ${issue.line}`, partner: issue.line });
  }
}

const linear = ([x, y, z], extent) => x + extent[0] * (y + extent[1] * z);
