// Runs compiled kernels: one instance of the runtime, whose memory is the device's, and an instance of each kernel on top of it.
import { KERNEL_BASE, KERNEL_BYTES, TABLE_BASE } from './compile.mjs';
import { PATTERN } from './fills.mjs';
import { launchError } from './limits.mjs';
import { MOST, readTrace } from './trace.mjs';
import { withFills } from './uninitialised.mjs';
import { DYNAMIC, SHARED } from './variables.mjs';

// course_lib/cuda/runtime.py: KINDS
const KINDS = ['out-of-bounds', 'misaligned-access', 'null-pointer', 'host-pointer', 'uninitialised-read', 'race', 'divergent-barrier',
  'missed-barrier', 'missing-lanes', 'division-by-zero', 'timeout', 'crash'];
const NO_THREAD = 0xffffffff, PAGE = 65536, KERNEL_PAGES = KERNEL_BYTES / PAGE, HEAP_BYTES = 16 << 20, THREAD = 1, PARAMETER_BYTES = 16;
// Of all threads, between two waits; it grows downward. JavaScript's own stack ends first.
const STACK_LOW = KERNEL_BASE - (40 << 20), STACK_TOP = KERNEL_BASE - PAGE;  // above it is what lies past the first local array
const NOWHERE = { otherLine: null, block: [0, 0, 0], thread: null, count: 1 };  // an issue of no thread
const LOCAL_BYTES = 76 << 10;  // of a thread, natively (cuda/runtime/runtime.h, STACK_BYTES)
const OVERFLOW = 'stack overflow: a thread used more local memory than there is (endless recursion, or a very large local array)';

// What libc would ask of an operating system: it has none (52: ENOSYS).
const SYSTEM = new Proxy({}, { get: (_, name) => name === 'proc_exit' ? () => { throw new Error('exit() was called'); } : () => 52 });

class Ended {  // port/threads.cpp: what sim_throw says is over
  constructor(what) { this.what = what; }
}

export class Simulator {
  static async start(module) {
    const self = new Simulator();
    const { exports } = await WebAssembly.instantiate(module, {
      env: { sim_throw(what) { throw new Ended(what); }, sim_now: () => performance.now() },
      wasi_snapshot_preview1: SYSTEM,
    });
    self.runtime = exports;
    self.memory = exports.memory;
    self.table = exports.__indirect_function_table;
    self.memory.grow((KERNEL_BASE >> 16) + KERNEL_PAGES - (self.memory.buffer.byteLength >> 16));  // the kernel's own data and stack
    self.table.grow(TABLE_BASE + 4096 - self.table.length);
    exports.__wasm_call_ctors?.();
    exports.free(exports.malloc(HEAP_BYTES));  // so that the heap need not grow into the midst of the arrays
    self.dirty = KERNEL_BASE;
    self.uploaded = [];
    return self;
  }

  get view() { return new DataView(this.memory.buffer); }
  text(at) {
    const bytes = new Uint8Array(this.memory.buffer, at);
    return at ? new TextDecoder().decode(bytes.slice(0, bytes.indexOf(0))) : '';
  }
  chars(text) {
    const bytes = new TextEncoder().encode(text + '\0'), at = this.runtime.malloc(bytes.length);
    new Uint8Array(this.memory.buffer, at).set(bytes);
    return at;
  }
  named(text, use) {
    const at = this.chars(text);
    use(at);
    this.runtime.free(at);
  }

  // A module of compile.mjs; lines: of its places.
  async load({ wasm, lines, locals, names, fixed, fills }) {
    const module = await WebAssembly.compile(wasm), { runtime } = this;
    new Uint8Array(this.memory.buffer, KERNEL_BASE, this.dirty - KERNEL_BASE).fill(0);
    const env = { memory: this.memory, __indirect_function_table: this.table, sim_fill: number => this.fills.get(number) ?? PATTERN };
    for (const { module: from, name, kind } of WebAssembly.Module.imports(module))
      if (from === 'env' && kind === 'function' && !env[name]) {
        if (!runtime[name]) throw new Error(`The simulator has no function ${name}.`);
        env[name] = runtime[name];
      }
    this.kernel = (await WebAssembly.instantiate(module, { env, wasi_snapshot_preview1: SYSTEM })).exports;
    Object.assign(this, { lines, locals, names, fixed, variablesFilled: fills.variables, fillsLeft: fills.left, fills: new Map() });
    this.kernel.__stack_pointer.value = STACK_TOP;
    this.kernel.__wasm_call_ctors?.();
    this.dirty = Math.max(this.dirty, this.kernel.__heap_base.value);
    if (this.dirty > KERNEL_BASE + KERNEL_PAGES * PAGE) throw new Error('The arrays and variables of this file take more than 32 MB.');
    this.variables = this.readVariables();
  }

  readVariables() {
    const found = [], { view } = this;
    for (let at = this.kernel.sim_variables.value; ; at += 16) {
      const [address, bytes, name, kind] = [0, 4, 8, 12].map(offset => view.getUint32(at + offset, true));
      if (!address) return found.sort((a, b) => a.address - b.address);
      found.push({ address, bytes, name: this.text(name), kind });
    }
  }

  // Types of a kernel's parameters: entry.h, Parameter. They are written where the checker does not look.
  parameters(number) {
    const room = STACK_LOW, count = this.kernel[`sim_parameters_${number}`](room), { view } = this;
    const found = Array.from({ length: count }, (_, i) => {
      const at = room + PARAMETER_BYTES * i;
      return { kind: String.fromCharCode(view.getUint8(at)), pointer: !!view.getUint8(at + 1), constant: !!view.getUint8(at + 2), bytes: view.getUint32(at + 4, true), alignment: view.getUint32(at + 12, true) };
    });
    return found;
  }

  // A typed array as an array of the device; `empty`: it has no values yet.
  upload(values, empty = false) {
    const at = this.runtime.sim_alloc(values.byteLength, empty ? 0 : 2);
    if (!at) throw new Error('There is no room for so many arrays, or for such large ones.');
    if (!empty) new values.constructor(this.memory.buffer, at, values.length).set(values);
    this.uploaded.push({ at, length: values.byteLength });
    return { at, kind: values.constructor, length: values.length };
  }
  download({ at, kind, length }) { return new kind(this.memory.buffer.slice(at, at + length * kind.BYTES_PER_ELEMENT)); }
  freeAll() {
    this.runtime.sim_free_all();
    this.uploaded = [];
  }

  // What the arrays and the kernel's variables hold, and how it comes back.
  content() {
    const at = ({ at, length }) => ({ at, bytes: new Uint8Array(this.memory.buffer.slice(at, at + length)) });
    return { arrays: this.uploaded.map(at), variables: at({ at: KERNEL_BASE, length: this.dirty - KERNEL_BASE }) };
  }
  restore({ arrays, variables }) {
    for (const { at, bytes } of [...arrays, variables]) new Uint8Array(this.memory.buffer, at).set(bytes);
  }

  // Tell the checker where the kernel's arrays and variables lie.
  describe(shared, { padded, returns, structures }) {
    const { runtime, variables } = this, arrays = variables.filter(one => one.kind >= SHARED), end = this.dirty;
    const low = arrays[0]?.address ?? 0, high = arrays.length ? arrays.at(-1).address + arrays.at(-1).bytes : 0;
    runtime.sim_place_kernel(KERNEL_BASE, end, low, high);
    for (const { address, bytes, name, kind } of variables)
      this.named(name, at => {
        if (kind < SHARED) return runtime.sim_check_variable(address, BigInt(bytes), end, at, kind);
        runtime.sim_check_shared_array(BigInt(address - low), BigInt(bytes), at, kind === DYNAMIC ? 1 : 0);
        if (name) runtime.sim_own_pages(address, bytes);
      });
    for (const name of structures) this.named(name, at => runtime.sim_check_structures(at));
    runtime.sim_check_begin(BigInt(shared), padded ? 1 : 0, returns ? 1 : 0);
    runtime.sim_kernel_stack(STACK_LOW, KERNEL_BASE);
  }

  // args: arrays of upload(), or numbers; names: of the parameters. facts: what facts.mjs finds in the text. Gives { issues, counters, printed },
  // with `trace` also events, those of trace.mjs.
  launch(number, grid, block, args, options = {}) {
    const { checked = true, seed = 0, facts = {} } = options, body = `sim_body_${number}`, local = this.locals.get(body);
    const wrong = launchError(this.names[number], grid, block, options.shared ?? 0, this.fixed[number]);
    if (wrong) throw new Error(wrong);
    if (local > LOCAL_BYTES) return { issues: [{ ...NOWHERE, kind: 'crash', line: facts.line ?? 0, message: OVERFLOW }], counters: [], printed: '' };
    const candidates = [...this.fillsLeft].flatMap(([name, numbers]) => name === body || !/^sim_body_\d+$/.test(name) ? numbers : []);
    const once = more => this.once(number, grid, block, args, { ...options, ...more });
    return checked && !seed && candidates.length ? withFills(this, candidates, this.variablesFilled, once) : once({});
  }

  once(number, grid, block, args, { names = [], shared = 0, seed = 0, checked = true, timeout = 10, trace = false, facts = {} }) {
    const { runtime, kernel } = this, types = this.parameters(number);
    if (types.length !== args.length) throw new Error(`The kernel takes ${types.length} arguments, and ${args.length} were given.`);
    const values = runtime.malloc(16 * args.length + 4 * args.length + 16), pointers = values + 16 * args.length, rooms = [values];
    args.forEach((value, i) => {
      if (value?.struct) {  // a structure by value lies where its bytes are
        const room = runtime.malloc(value.struct.length + 16), at = room + 15 & ~15;
        rooms.push(room);
        new Uint8Array(this.memory.buffer, at).set(value.struct);
        this.view.setUint32(pointers + 4 * i, at, true);
        return;
      }
      this.put(values + 16 * i, value, types[i]);
      this.view.setUint32(pointers + 4 * i, values + 16 * i, true);
      if (value?.at && names[i]) this.named(names[i], at => runtime.sim_name(value.at, at));
    });
    const structures = [...(facts.structures ?? []), ...names.filter((_, i) => types[i].pointer && types[i].kind === 's' && types[i].alignment < 16)];
    if (trace) runtime.sim_trace(BigInt(MOST));
    if (checked) this.describe(shared, { ...facts, structures });
    this.table.set(TABLE_BASE - 1, kernel[`sim_body_${number}`]);
    runtime.sim_launch(pointers, ...grid, ...block, shared, seed, checked ? 1 : 0, TABLE_BASE - 1, performance.now() + 1000 * timeout);
    this.run();
    const events = trace ? { events: readTrace(this) } : {};
    if (trace) runtime.sim_trace(0n);
    for (const room of rooms) runtime.free(room);
    return { issues: this.issues(block, facts.line), counters: checked ? this.counters() : [], printed: this.printed(), ...events };
  }

  put(at, value, { kind, pointer, bytes }) {
    const { view } = this;
    if (value === null || value === undefined || (pointer && value === 0)) view.setUint32(at, 0, true);
    else if (value.at !== undefined) view.setUint32(at, value.at, true);
    else if (pointer) throw new Error('A number was given where the kernel takes an array.');
    else if (kind === 'f') bytes === 8 ? view.setFloat64(at, Number(value), true) : view.setFloat32(at, Number(value), true);
    else if (bytes === 8) view.setBigInt64(at, BigInt.asIntN(64, BigInt(value)), true);
    else view.setInt32(at, Number(value), true);
  }

  run() {
    const { runtime, kernel } = this, stacks = [runtime.__stack_pointer.value, kernel.__stack_pointer.value];
    for (let on = true; on;) {  // what has ended a launch makes the next sim_run() end it in order
      try {
        runtime.sim_run();
        on = false;
      } catch (error) {
        [runtime.__stack_pointer.value, kernel.__stack_pointer.value] = stacks;  // what the exception has left behind
        if (!(error instanceof Ended)) this.named(trapWords(error), at => runtime.sim_trapped(at));
        else if (error.what !== THREAD) runtime.sim_end_launch();
      }
    }
  }

  // What the checker has told: one for each kind and line, one race for each pair of lines (sanitizer.py: _unique).
  // begin: the kernel's line, for what ended where no line is known.
  issues(block, begin = 0) {
    const found = new Map(), { runtime } = this;
    for (let i = 0; i < runtime.sim_fault_count(); i++) {
      const at = runtime.sim_told(i), word = n => this.view.getUint32(at + 4 * n, true), line = (own, place) => own || this.lines[place - 1] || 0;
      const kind = KINDS[word(0)], issue = { kind, line: line(word(1), word(5)) || (['timeout', 'crash'].includes(kind) ? begin : 0), otherLine: line(word(2), word(6)) || null,
        block: [word(7), word(8), word(9)], thread: word(3) === NO_THREAD ? null : coordinates(word(3), block), count: word(10), message: this.text(word(11)) };
      const other = word(4) === NO_THREAD ? null : coordinates(word(4), block), { otherLine } = issue;
      if (other && otherLine && ['race', 'divergent-barrier', 'missing-lanes'].includes(kind))
        issue.message += `; the other is thread (${other.join(', ')})${otherLine === issue.line ? '' : `, line ${otherLine}`}`;
      else if (otherLine && otherLine !== issue.line) issue.message += `; the other is at line ${otherLine}`;
      const lines = kind === 'race' ? [issue.line, otherLine ?? issue.line].sort((a, b) => a - b) : [issue.line], key = [kind, ...lines].join();
      if (!found.has(key)) found.set(key, issue);
    }
    return [...found.values()];
  }

  printed() {
    const room = this.runtime.malloc(8), at = this.runtime.sim_printed(room, room + 4), bytes = this.view.getUint32(room, true);
    this.runtime.free(room);
    return new TextDecoder().decode(new Uint8Array(this.memory.buffer, at, bytes).slice());
  }

  // Requests, sectors and wavefronts of each line (sanitizer.py: _lines).
  counters() {
    const sums = new Map(), room = this.runtime.malloc(64);
    for (let i = 0; i < this.runtime.sim_counter_count(); i++) {
      this.runtime.sim_counter(i, room);
      const { view } = this, [pc, space, write, bytes] = [0, 4, 8, 12].map(n => view.getUint32(room + n, true));
      const [requests, lanes, sectors, wavefronts] = [16, 24, 32, 40].map(n => Number(view.getBigUint64(room + n, true)));
      const key = [this.lines[pc - 1] || 0, space, write].join(), sum = sums.get(key) ?? { line: this.lines[pc - 1] || 0, space, write, requests: 0, lanes: 0, sectors: 0, wavefronts: 0, bytes: 0 };
      sums.set(key, { ...sum, requests: sum.requests + requests, lanes: sum.lanes + lanes, sectors: sum.sectors + sectors, wavefronts: sum.wavefronts + wavefronts, bytes: sum.bytes + lanes * bytes });
    }
    this.runtime.free(room);
    return [...sums.values()].filter(sum => sum.requests).sort((a, b) => a.line - b.line || a.space - b.space || a.write - b.write).map(sum => ({
      line: sum.line, space: sum.space ? 'shared' : 'global', op: sum.write ? 'write' : 'read', requests: sum.requests, sectorsPerRequest: sum.sectors / sum.requests,
      wavefrontsPerRequest: sum.wavefronts / sum.requests, activeLanes: sum.lanes / sum.requests, bytesRequested: sum.bytes, bytesMoved: sum.space ? 128 * sum.wavefronts : 32 * sum.sectors,
    }));
  }
}

const coordinates = (thread, [x, y]) => [thread % x, Math.floor(thread / x) % y, Math.floor(thread / (x * y))];

function trapWords(error) {
  const message = String(error.message ?? error);
  if (error instanceof RangeError || /stack/i.test(message)) return OVERFLOW;
  if (/exit\(\) was called/.test(message)) return 'exit() or abort() was called: a kernel ends by `return`, and stops a launch by __trap()';
  if (/null function|signature mismatch|table index/i.test(message)) return 'a call through a pointer that points to no function of this type';
  if (/divide by zero|remainder by zero|divide result/i.test(message)) return 'an integer was divided by zero (or the smallest by -1)';
  if (/unreachable/i.test(message)) return 'the kernel ran into an instruction that does not exist: does a function that promises a value end without `return`?';
  return `an access where there is no memory: a wild pointer or index (${message})`;
}
