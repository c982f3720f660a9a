// The calls of the checker in LLVM's text of an optimised kernel: each gets the number of its place (WebAssembly has no return
// addresses), and before each access comes a look at where its pointer came from (port/origins.cpp).
import { definitions, noteOf, sizeOf, split } from './ir.mjs';

const HOOK = /^(\s*(?:%\S+ = )?(?:tail |musttail |notail )?call [^@]*@(__tsan_\w+|sim_check_(?:atomic|issue|row|copy))\()(.*)\)([^)]*)$/;
const WITHOUT_PLACE = /^__tsan_(init|func_entry|func_exit|atomic_\w+_fence|vptr_\w+|ignore_\w+)$/;
const ACCESS = /^__tsan_(?:unaligned_)?(?:volatile_)?(read|write|read_write)(\d+)$/;
const LONG_INDEX = /= (?:tail )?call i32 @sim_index\(i64 (?:noundef )?([^)]+)\)/;  // packs.mjs
const GEP = /= getelementptr (?:(?:inbounds|nuw|nusw) )*(.*)$/;

export class Numbered {
  constructor(places, structures) {
    Object.assign(this, { places, structures });
    this.lines = [];  // of the places, by number less 1
  }
  number(line) { return this.lines.push(this.places.line(noteOf(line))); }
}

// The lines of one function; `numbered` collects its places. atOrigins: whether to compare each access with its pointer's array.
export function numberHooks(lines, numbered) {
  const made = definitions(lines), seen = new Set();
  let fresh = 0;
  return lines.flatMap(line => {
    const label = /^([-\w.$]+|"[^"]*"):/.exec(line);
    if (label) seen.add(label[1]);
    if (/^  br /.test(line) && [...line.matchAll(/label %([-\w.$]+|"[^"]*")/g)].some(([, to]) => seen.has(to)))
      return [`  call void @sim_pass(i32 ${numbered.number(line)})`, line];  // round a loop again, which may never end
    if (LONG_INDEX.test(line)) return line.replace(/= (?:tail )?call i32 @sim_index\(i64 (?:noundef )?([^)]+)\)(?: #\d+)?/, '= trunc i64 $1 to i32');
    const hook = HOOK.exec(line);
    if (!hook || WITHOUT_PLACE.test(hook[2])) return line;
    const [, head, name, list, rest] = hook, place = numbered.number(line), access = ACCESS.exec(name);
    const call = `${head}${list}, i32 ${place})${rest}`;
    if (!access && name !== 'sim_check_atomic') return call;
    const pointer = /(%(?:"[^"]*"|[-\w.$]+))$/.exec(split(list)[0])?.[1], bytes = access ? access[2] : /i32 (?:noundef )?(\d+)/.exec(list)?.[1];
    const origin = pointer && bytes && originOf(pointer, made, numbered.structures, () => `%sim.far.${fresh++}`);
    if (!origin) return call;
    const writes = access && access[1] === 'read' ? 0 : 1;
    return [...origin.lines, `  call void @sim_check_origin(ptr ${origin.base}, i64 ${origin.offset}, i32 ${bytes}, i32 ${writes}, i32 ${place})`, call];
  });
}

// How an address was computed: the pointer it came from, and its offset in 64 bits; null where it is that pointer.
function originOf(pointer, made, structures, fresh) {
  const terms = [];
  let constant = 0n, base = pointer;
  for (let steps = 0; steps < 16; steps++) {
    const gep = GEP.exec(made.get(base) ?? '');
    if (!gep) break;
    const parts = split(gep[1].replace(/, !dbg .*$/, '')), from = /^ptr (\S+|"[^"]*")$/.exec(parts[1] ?? '')?.[1];
    const found = from && indices(parts[0], parts.slice(2), structures);
    if (!found) break;
    for (const { value, scale } of found) {
      if (/^-?\d+$/.test(value)) constant += BigInt(value) * BigInt(scale);
      else terms.push({ value, scale });
    }
    base = from;
  }
  if (base === pointer || / = alloca /.test(made.get(base) ?? '')) return null;
  const lines = [];
  let sum = String(constant);
  for (const { value, scale } of terms) {
    const cut = LONG_INDEX.exec(made.get(value) ?? '');
    let wide = cut ? cut[1] : fresh();
    if (!cut) lines.push(`  ${wide} = sext i32 ${value} to i64`);
    for (const [operation, by] of [['mul', String(scale)], ['add', sum]]) {
      if (by === (operation === 'mul' ? '1' : '0')) continue;
      const next = fresh();
      lines.push(`  ${next} = ${operation} i64 ${wide}, ${by}`);
      wide = next;
    }
    sum = wide;
  }
  return { base, offset: sum, lines };
}

// What the indices of a getelementptr are multiplied by; null where the type is not known, or where one names a member.
function indices(type, list, structures) {
  const found = [];
  for (const entry of list) {
    if (found.length) type = /^\[\d+ x (.*)\]$/.exec(type)?.[1] ?? null;
    const scale = type && sizeOf(type, structures), value = /^i32 (\S+)$/.exec(entry)?.[1];
    if (!scale || value === undefined) return null;
    found.push({ value, scale });
  }
  return found;
}

// The hooks' declarations, with their number; and those of what is called here.
export function declareHooks(text) {
  const declared = text.replace(/^declare (.*@(?:__tsan_\w+|sim_check_(?:atomic|issue|row|copy)))\((.*)\)([^()]*)$/gm, (whole, head, list, rest) =>
    WITHOUT_PLACE.test(/@(\w+)$/.exec(head)[1]) ? whole : `declare ${head}(${list}, i32)${rest}`);
  return `${declared}\ndeclare void @sim_pass(i32)\ndeclare void @sim_check_origin(ptr, i64, i32, i32, i32)\n`;
}
