// What a launch did, event by event: cuda/runtime/trace.cpp keeps the first of them, as course_lib/cuda/trace.py reads them natively.

export const MOST = 20_000, PLAYED_THREADS = 128;
const SPACES = ['global', 'shared'], OPS = ['read', 'write', 'atomic', 'barrier', 'warp sync', 'shuffle'];
export const ACCESSES = new Set(OPS.slice(0, 3));
const BYTES = 112, VALUE = 48, NAME = 64, LONGEST = 48;  // of a Traced, where its value and its name stand, and of the name

// The events since sim_trace(): {thread, block, array, space, op, offset, bytes, line, value, instruction, other}, fields of trace.py's Event.
export function readTrace({ runtime, memory, lines }) {
  const out = runtime.malloc(4), count = Number(runtime.sim_traced(out)), view = new DataView(memory.buffer), first = view.getUint32(out, true);
  runtime.free(out);
  return Array.from({ length: count }, (_, i) => {
    const at = first + BYTES * i, word = n => view.getUint32(at + n, true), op = OPS[word(36)], pc = word(0), bytes = word(20);
    const name = new Uint8Array(memory.buffer, at + NAME, LONGEST), end = name.indexOf(0);
    return {
      thread: word(16), block: Number(view.getBigUint64(at + 24, true)), array: new TextDecoder().decode(name.slice(0, end < 0 ? LONGEST : end)),
      space: SPACES[word(32)], op, offset: Number(view.getBigUint64(at + 8, true)), bytes, line: pc ? lines[pc - 1] || 0 : word(40),
      value: new Uint8Array(memory.buffer.slice(at + VALUE, at + VALUE + (op === 'read' ? Math.min(bytes, NAME - VALUE) : 0))), instruction: pc, other: word(44),
    };
  });
}
