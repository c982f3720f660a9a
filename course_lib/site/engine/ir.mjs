// LLVM's text: what the rewriting modules need to understand of it.

export const NAME = String.raw`(?:"[^"]*"|[-\w.$]+)`;
const DEFINED = new RegExp(String.raw`^  (%${NAME}) = `);

// `define ...` to `}`: visit(lines) gives the new lines of each function; others stay.
export function eachFunction(text, visit) {
  const lines = text.split('\n'), out = [];
  for (let i = 0; i < lines.length; i++) {
    if (!lines[i].startsWith('define ')) { out.push(lines[i]); continue; }
    const first = i;
    while (lines[i] !== '}') i++;
    for (const line of visit(lines.slice(first, i + 1))) out.push(line);
  }
  return out.join('\n');
}

export const nameOf = define => new RegExp(String.raw`@(${NAME})\(`).exec(define)[1];

// The value that each line of a function defines: name -> line.
export function definitions(lines) {
  const found = new Map();
  for (const line of lines) {
    const made = DEFINED.exec(line);
    if (made) found.set(made[1], line);
  }
  return found;
}

// The parts of a list between commas that no bracket encloses.
export function split(text) {
  const parts = [];
  let depth = 0, first = 0, quoted = false;
  for (let i = 0; i < text.length; i++) {
    const letter = text[i];
    if (letter === '"') quoted = !quoted;
    else if (quoted) continue;
    else if ('([{<'.includes(letter)) depth++;
    else if (')]}>'.includes(letter)) depth--;
    else if (letter === ',' && depth === 0) {
      parts.push(text.slice(first, i).trim());
      first = i + 1;
    }
  }
  const last = text.slice(first).trim();
  return last ? [...parts, last] : parts;
}

// Up to where the brackets that the text begins with are closed: a type.
export function firstType(text) {
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    if ('[{<('.includes(text[i])) depth++;
    else if (']}>)'.includes(text[i])) depth--;
    else if (depth === 0 && (text[i] === ' ' || text[i] === ',')) return text.slice(0, i);
  }
  return text;
}

const SIZES = { i1: 1, i8: 1, i16: 2, half: 2, bfloat: 2, i32: 4, float: 4, ptr: 4, i64: 8, double: 8 };
// Bytes of a type, null of one that is not known. structures: those of structuresIn.
export const sizeOf = (type, structures) => layoutOf(type, structures)?.bytes ?? null;

// The structures of a text by their names: `%struct.float4` -> `{ float, float, float, float }`.
export const structuresIn = text => new Map([...text.matchAll(new RegExp(String.raw`^(%${NAME}) = type (.*)$`, 'gm'))].map(([, name, type]) => [name, type]));

function layoutOf(type, structures) {
  if (structures?.has(type)) return layoutOf(structures.get(type), structures);
  if (SIZES[type]) return { bytes: SIZES[type], alignment: SIZES[type] };
  const row = /^[[<](\d+) x (.*)[\]>]$/.exec(type), members = /^(<?)\{ (.*) \}>?$/.exec(type), each = row && layoutOf(row[2], structures);
  if (each) return { bytes: Number(row[1]) * each.bytes, alignment: each.alignment };
  if (!members) return null;
  let bytes = 0, most = 1;
  for (const member of split(members[2])) {
    const one = layoutOf(member, structures);
    if (!one) return null;
    const alignment = members[1] ? 1 : one.alignment;  // `<{ ... }>` is packed
    bytes = roundUp(bytes, alignment) + one.bytes;
    most = Math.max(most, alignment);
  }
  return { bytes: roundUp(bytes, most), alignment: most };
}
const roundUp = (bytes, alignment) => Math.ceil(bytes / alignment) * alignment;

// Where the text came from: place(note) of `!dbg !12` gives the line of the learner's file, the innermost that there is, or 0.
export class Places {
  constructor(text, file) {
    this.file = file;
    this.entries = new Map();
    for (const [, name, what] of text.matchAll(/^(!\d+) = (.*)$/gm)) this.entries.set(name, what);
    this.files = new Map();
    this.known = new Map();
  }
  field(entry, name) {
    const at = entry?.indexOf(`${name}: `) ?? -1;
    if (at < 0) return undefined;
    const from = at + name.length + 2, end = entry[from] === '"' ? entry.indexOf('"', from + 1) + 1 : entry.slice(from).search(/[,)]/) + from;
    return entry.slice(from, end);
  }
  fileOf(scope) {
    if (!scope) return '';
    if (!this.files.has(scope)) {
      const entry = this.entries.get(scope), file = this.field(entry, 'file');
      this.files.set(scope, file ? (this.field(this.entries.get(file), 'filename') ?? '').replaceAll('"', '') : this.fileOf(this.field(entry, 'scope')));
    }
    return this.files.get(scope);
  }
  line(note) {
    if (!note) return 0;
    if (!this.known.has(note)) {
      let found = 0;
      for (let at = note; at && !found; at = this.field(this.entries.get(at), 'inlinedAt')) {
        const entry = this.entries.get(at);
        if (this.fileOf(this.field(entry, 'scope')) === this.file) found = Number(this.field(entry, 'line') ?? 0);
      }
      this.known.set(note, found);
    }
    return this.known.get(note);
  }
}
export const noteOf = line => /!dbg (!\d+)/.exec(line)?.[1];
