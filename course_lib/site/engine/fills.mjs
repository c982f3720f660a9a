// Local variables that are read before they have a value. clang fills each with a pattern (-ftrivial-auto-var-init); here the
// pattern becomes a call, sim_fill(number). What the optimiser leaves of these calls may be read, and only that: simulate.mjs
// then runs such a launch again with other fills, and a variable of which the results depend is told. Natively
// course_lib/cuda/uninitialised.py does it by warnings and by building again.
import { NAME, Places, eachFunction, nameOf, noteOf } from './ir.mjs';

export const PATTERN = 0xffffffff, ZERO = 0, LARGE = 0x46464646;  // clang's own, not a number as a float; and one near 12,700
const STORE = /^ {2}store (\S+) [^,]*(?:\([^)]*\))?, ptr (\S+), (align \d+)/, SET = /^(.*@llvm\.memset\.\S*\(ptr [^%]*(%\S+),) i8 -1, (.*)$/;
const PART = new RegExp(`^  (%${NAME}) = getelementptr .*?\\bptr (%${NAME}), `);
const CALL = /@sim_fill\(i32 (?:noundef )?(\d+)\)/g;
// Types that take a part of a fill's 32 bits, and those that take them twice; others have as many.
const CUT = { i8: 'i8', i1: 'i8', i16: 'i16', half: 'i16', bfloat: 'i16' }, TWICE = new Set(['i64', 'double']);

// The front end's text with calls, and the variables by number: {name, line, number: whether it is a single one}.
// source: the learner's text, which is the file of this name.
export function askForFills(text, file, source) {
  const note = /^(!\d+) = !\{!"auto-init"\}$/m.exec(text)?.[1], variables = [];
  if (!note) return { text, variables };
  const places = new Places(text, file), written = source.split('\n'), mark = `, !annotation ${note}`;
  let calls = 0;
  const changed = eachFunction(text, lines => {
    const parts = new Map(), known = new Map();
    return lines.flatMap(line => {
      const part = PART.exec(line);
      if (part) parts.set(part[1], parts.get(part[2]) ?? part[2]);
      const store = line.endsWith(mark) && STORE.exec(line), set = line.endsWith(mark) && SET.exec(line);
      const at = places.line(noteOf(line));
      if ((!store && !set) || !at) return line;
      const to = store ? store[2] : set[2], root = parts.get(to) ?? to, n = calls++;
      if (!known.has(root)) known.set(root, variables.push({ name: nameIn(written[at - 1], root.slice(1)), line: at, number: !!store && root === to }) - 1);
      const dbg = /, !dbg !\d+/.exec(line)[0], word = `%sim.fill.${n}`, made = [`  ${word} = call i32 @sim_fill(i32 ${known.get(root)})${dbg}`];
      const next = (name, what) => made.push(`  ${word}.${name} = ${what}`) && `${word}.${name}`, type = set ? 'i8' : store[1];
      const value = CUT[type] ? `${CUT[type]} ${next('part', `trunc i32 ${word} to ${CUT[type]}`)}`
        : TWICE.has(type) ? `i64 ${next('twice', `mul i64 ${next('long', `zext i32 ${word} to i64`)}, 4294967297`)}` : `i32 ${word}`;
      return [...made, set ? `${set[1]} ${value}, ${set[3]}` : `  store ${value}, ptr ${to}, ${store[3]}${dbg}`];
    });
  });
  return { text: `${changed}\ndeclare i32 @sim_fill(i32) nounwind willreturn memory(none)\n`, variables };
}

// A second variable of one name has a number behind it.
const nameIn = (line, name) => line?.match(/\w+/g)?.includes(name) ? name : name.replace(/\d+$/, '');

// Of the optimised text: the numbers of the variables that a function may read, by its name.
export function fillsLeft(text) {
  const found = new Map();
  eachFunction(text, lines => {
    const numbers = [...lines.join('\n').matchAll(CALL)].map(([, number]) => Number(number));
    if (numbers.length) found.set(nameOf(lines[0]), [...new Set(numbers)]);
    return [];
  });
  return found;
}
