// Keep vector accesses in one piece: between clang's front end and its optimiser, in the text that one hands to the other. The
// rules, and what fails without them, are those of course_lib/cuda/vector_access.py, which this is for LLVM with opaque pointers.
import { NAME, split } from './ir.mjs';

const TYPES = { 1: 'i8', 2: 'i16', 4: 'i32', 8: 'i64', 16: '<4 x i32>' };  // the type of one access, by its bytes
const LOCAL = 'a local variable', DECLARED = 'a variable at a fixed place';
const FUNCTION = /^define .*?\) (?:[^()]*? )?(#\d+)(?= |$)/;
const POINTER = new RegExp(`^  (%${NAME}) = (alloca|getelementptr|addrspacecast|call)\\b(.*)`);
const ORIGIN = new RegExp(`\\bptr(?: align \\d+)? ([%@]${NAME})`);
const COPY = /^ {2}(?:tail )?call void @llvm\.memcpy\.p0\.p0\.i(?:32|64)\((.*), i(?:32|64) (\d+), i1 false\)(.*)/;
const ADDRESS = /^ptr ((?:[a-z_]+(?: \d+|\(\d+\))? )*)([%@].*|getelementptr .*)$/;

// An index of 64 bits, which addresses of 32 bits cut off, and one that is so far away that the optimiser would compute an address
// which wraps around: it is kept from seeing these, so that hooks.mjs can tell them.
const LEAST = { add: 1 << 27, sub: 1 << 27, mul: 1 << 20, shl: 20 };  // constants that may lead beyond 2 GB
export function keepLongIndices(text) {
  const cut = new RegExp(`^  (%${NAME}) = trunc i64 (%${NAME}) to i32(.*)$`), lines = text.split('\n');
  const last = new RegExp(`^(  %${NAME} = getelementptr .* i32 )(-?\\d+|%${NAME})((?:, !dbg .*)?)$`), moved = new RegExp(`^  (%${NAME}) = (add|sub|mul|shl) .*, (-?\\d+)(?:, !dbg .*)?$`);
  let count = 0;
  lines.forEach((line, at) => {
    const long = cut.exec(line), gep = last.exec(line), from = gep && moved.exec(lines[at - 1]), far = from?.[1] === gep?.[2] && Math.abs(from?.[3]) >= LEAST[from?.[2]];
    if (long && new RegExp(`= getelementptr .* i32 ${long[1]}(?![-\\w.$])`).test(lines[at + 1])) {
      lines[at] = `  ${long[1]} = call i32 @sim_index(i64 ${long[2]})${long[3]}`;
      count++;
    } else if (gep && (Math.abs(gep[2]) >= LEAST.add || far)) {
      const [, head, index, note] = gep, name = `%sim.index.${count++}`, wide = far ? `${name}.wide` : index;
      lines[at] = [...far ? [`  ${wide} = sext i32 ${index} to i64${note}`] : [], `  ${name} = call i32 @sim_index(i64 ${wide})${note}`, `${head}${name}${note}`].join('\n');
    }
  });
  return lines.join('\n') + (count ? '\ndeclare i32 @sim_index(i64) nounwind willreturn memory(none)\n' : '');
}

// A GPU reads a number at a multiple of its size, whatever the compiler knows of the array behind a pointer: so the checker is to
// look. Not where the text packs structures, whose members lie anywhere.
const BYTES = { i16: 2, half: 2, bfloat: 2, i32: 4, float: 4, i64: 8, double: 8 };
export const asAligned = text => text.replace(/^( {2}(?:%\S+ = load|store) (?:volatile )?(\w+)\b.*, align )(\d+)/gm,
  (whole, head, type, align) => BYTES[type] > Number(align) ? head + BYTES[type] : whole);

export function keepVectorAccesses(text) {
  text = text.replace(/(@llvm\.objectsize\.[^\n]*, i1 \w+, i1 \w+, i1 )false\)/g, '$1true)')
    .replace(/^(declare .*@__ubsan_handle_\w+\([^\n]*?\))/gm, '$1 memory(inaccessiblemem: readwrite)');
  const watched = new Set([...text.matchAll(/^attributes (#\d+) = \{.*\bsanitize_thread\b/gm)].map(found => found[1]));
  const constants = new Set([...text.matchAll(/^(@\S+) = [^@]*?\bconstant\b/gm)].map(found => found[1]));
  let roots = new Map(), inside = false, called = false;
  const lines = text.split('\n').map((line, number) => {
    if (line.startsWith('define ')) {
      roots = new Map();
      inside = watched.has(FUNCTION.exec(line)?.[1]);
    } else if (inside) {
      const pointer = POINTER.exec(line), copy = pointer ? null : COPY.exec(line);
      if (pointer) roots.set(pointer[1], rootOf(pointer[2], pointer[3], roots));
      else if (copy) {
        const one = oneAccess(copy, roots, constants, number);
        called ||= one?.includes('@sim_check_copy') ?? false;
        return one ?? line;
      }
    }
    return line;
  });
  if (called) lines.push('declare ptr @sim_check_copy(ptr captures(none), ptr captures(none), i32) nounwind');
  return lines.join('\n') + '\n';
}

const placeOf = (value, roots) => value.startsWith('%') ? roots.get(value) : DECLARED;
function rootOf(what, operands, roots) {
  if (what === 'alloca') return LOCAL;
  if (what === 'call') return operands.includes('@llvm.threadlocal.address') ? DECLARED : undefined;
  const origin = ORIGIN.exec(operands);
  return origin ? placeOf(origin[1], roots) : undefined;
}

// The text of one copy, or null where the checker watches neither side.
function oneAccess([, list, bytes, rest], roots, constants, number) {
  const sides = split(list).map(part => ADDRESS.exec(part)), values = sides.map(side => side[2]), places = values.map(value => placeOf(value, roots));
  if ((places[0] === LOCAL && places[1] === LOCAL) || (values[1].match(/@[-\w.$]+/g) ?? []).some(name => constants.has(name))) return null;
  const note = /, !dbg !\d+/.exec(rest)?.[0] ?? '', type = TYPES[bytes];
  if (!type) return `  %whole.${number} = call ptr @sim_check_copy(ptr ${values[0]}, ptr ${values[1]}, i32 ${bytes})${note}`;
  const said = sides.map(side => Number(/\balign (\d+)/.exec(side[1])?.[1] ?? 1));
  // A variable may be declared with more alignment than its type asks for, or be of another type: the other side tells.
  const aligns = places.map((place, i) => place === DECLARED ? said[1 - i] : said[i]), [store, load] = places.map(place => place === LOCAL ? '' : ' volatile');
  return `  %whole.${number} = load${load} ${type}, ptr ${values[1]}, align ${aligns[1]}${note}\n  store${store} ${type} %whole.${number}, ptr ${values[0]}, align ${aligns[0]}${note}`;
}
