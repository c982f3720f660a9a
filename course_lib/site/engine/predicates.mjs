// Whether an answer makes a known mistake: the trees of course_lib/site/predicates.py, with Python's meaning of each word.
// seen: {text, kinds: a Set, issues, difference: null where results are right}; facts: of the failing case.
import { codeOf } from './facts.mjs';

const truth = value => value instanceof Set ? value.size > 0 : Array.isArray(value) || typeof value === 'string' ? value.length > 0 : !!value;
const list = value => typeof value === 'string' ? [...value] : [...value];
const known = value => value?.set ? new Set(value.set) : value;

function same(a, b) {
  if (a instanceof Set && b instanceof Set) return a.size === b.size && [...a].every(one => b.has(one));
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((one, i) => same(one, b[i]));
  return a === b || (typeof a === 'boolean' && Number(a) === b) || (typeof b === 'boolean' && Number(b) === a) || (a ?? null) === (b ?? null);
}

const inside = (one, all) => typeof all === 'string' ? all.includes(one) : list(all).some(other => same(one, other));
const METHODS = {
  count: (text, piece) => text.split(piece).length - 1, replace: (text, from, to) => text.replaceAll(from, () => to),
  startswith: (text, start) => text.startsWith(start), endswith: (text, end) => text.endsWith(end), strip: text => text.trim(),
  splitlines: text => text.split('\n'),
  index(text, piece) {
    const at = text.indexOf(piece);
    if (at < 0) throw new Error('not there');
    return at;
  },
  partition(text, by) {
    const at = text.indexOf(by);
    return at < 0 ? [text, '', ''] : [text.slice(0, at), by, text.slice(at + by.length)];
  },
  split(text, by, most) {
    const parts = by === undefined ? text.trim().split(/\s+/) : text.split(by);
    return most === undefined || parts.length <= most ? parts : [...parts.slice(0, most), parts.slice(most).join(by)];
  },
};
const FIELDS = { other_line: 'otherLine', other_source: 'otherSource' };

// Whether it holds; what Python would raise means no.
export function holds({ tree, facts }, number, seen) {
  try {
    return truth(evaluate(tree, facts[number], seen, {}));
  } catch {
    return false;
  }
}

function evaluate([what, ...rest], facts, seen, variables) {
  const of = (tree, more = variables) => evaluate(tree, facts, seen, more);
  switch (what) {
    case 'fact': {
      if (!facts[rest[0]].length) throw new Error('this raises');
      return known(facts[rest[0]][0]);
    }
    case 'seen': return seen[rest[0]];
    case 'variable': return variables[rest[0]];
    case 'and': { let last = true; for (const one of rest) if (!truth(last = of(one))) return last; return last; }
    case 'or': { let last = false; for (const one of rest) if (truth(last = of(one))) return last; return last; }
    case 'not': return !truth(of(rest[0]));
    case 'if': return of(truth(of(rest[0])) ? rest[1] : rest[2]);
    case 'list': return rest.map(one => of(one));
    case 'list of': case 'set of': {
      const [name, all, condition, one] = rest, found = [];
      for (const value of list(of(all))) {
        const more = { ...variables, [name]: value };
        if (truth(of(condition, more))) found.push(of(one, more));
      }
      return what === 'set of' ? new Set(found) : found;
    }
    case 'joined': return of(rest[0]).flat(1);
    case 'text': return rest.map(one => textOf(of(one))).join('');
    case 'search': return new RegExp(of(rest[0]), rest[1]).exec(of(rest[2]));  // what is found, or null
    case 'find all': return [...of(rest[2]).matchAll(new RegExp(of(rest[0]), `${rest[1]}g`))].map(([found]) => found);
    case 'code': return codeOf(of(rest[0]));
    case 'slice': { const [from, to] = [of(rest[1]), of(rest[2])]; return of(rest[0]).slice(from ?? 0, to ?? undefined); }
    case 'first': { const [first] = list(of(rest[0])); return first ?? of(rest[1]); }
    case 'method': return METHODS[rest[0]](...rest.slice(1).map(one => of(one)));
    case 'field': return field(of(rest[0]), rest[1]);
  }
  const [a, b, ...more] = rest.map(one => of(one));
  switch (what) {
    case '==': return same(a, b);
    case '!=': return !same(a, b);
    case 'in': return inside(a, b);
    case 'not in': return !inside(a, b);
    case '<': case '<=': case '>': case '>=': return compared(what, a, b);
    case '+': return Array.isArray(a) ? [...a, ...b] : a + b;
    case '-': return a instanceof Set ? new Set([...a].filter(one => !b.has(one))) : a - b;
    case '*': return Number(a) * Number(b);
    case '%': return ((a % b) + b) % b;
    case '//': return Math.floor(a / b);
    case '&': return a instanceof Set ? new Set([...a].filter(one => b.has(one))) : a & b;
    case '|': return a instanceof Set ? new Set([...a, ...b]) : a | b;
    case 'item': return item(a, b);
    case 'set': return rest.length === 1 && typeof a === 'object' ? new Set(a) : new Set([a, b, ...more].slice(0, rest.length));
    case 'bool': return truth(a);
    case 'len': return a instanceof Set ? a.size : a.length;
    case 'any': return list(a).some(truth);
    case 'all': return list(a).every(truth);
    case 'min': case 'max': return Math[what](...(rest.length === 1 ? list(a) : [a, b, ...more].slice(0, rest.length)));
  }
  throw new Error(`There is no ${what}.`);
}

// A text in a text; numbers are written in other ways here and there.
function textOf(value) {
  if (typeof value !== 'string' && !Number.isInteger(value)) throw new Error('no text');
  return String(value);
}

function compared(what, a, b) {
  if (a === null || b === null || a === undefined || b === undefined) throw new Error('no numbers');
  if (a instanceof Set) {
    const [small, large] = what[0] === '<' ? [a, b] : [b, a];
    return [...small].every(one => large.has(one)) && (what.length === 2 || small.size < large.size);
  }
  return what === '<' ? a < b : what === '<=' ? a <= b : what === '>' ? a > b : a >= b;
}

function item(row, at) {
  const found = typeof row === 'string' || Array.isArray(row) ? row.at(at) : row[at];
  if (found === undefined) throw new Error('no such item');
  return found;
}

function field(issue, name) {
  const value = issue[FIELDS[name] ?? name];
  return value === undefined ? null : value;
}
