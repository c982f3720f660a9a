// The arrays and variables of a kernel's file in LLVM's text. Dynamic shared memory becomes one array, the runtime's variables
// get their addresses (the linker would put what it does not know at 0), and a table says where everything lies.
import { NAME, eachFunction, firstType, nameOf, sizeOf, structuresIn } from './ir.mjs';

const DYNAMIC_BYTES = 227 * 1024;
export const VARIABLE = 0, CONSTANT = 1, SHARED = 2, DYNAMIC = 3;

const APART = 4096;  // bytes: where a variable begins; what lies between two of them tells an index past one

const escaped = name => name.replaceAll('$', '\\$');

export function placeVariables(text, addresses) {
  for (const [name, at] of Object.entries(addresses))
    if (new RegExp(`^@${name} = external `, 'm').test(text))
      text = text.replace(new RegExp(`^@${name} = external .*\n`, 'm'), '').replaceAll(new RegExp(`@${name}\\b`, 'g'), `inttoptr (i32 ${at} to ptr)`);
  const dynamic = [...text.matchAll(/^@([\w.$]+) = external [^\n]*\bthread_local\b[^\n]*\n/gm)];
  for (const [line, name] of dynamic)
    text = text.replace(line, '').replaceAll(new RegExp(`@${escaped(name)}(?![\\w.$])`, 'g'), '@sim_dynamic');
  if (dynamic.length)
    text = text.replace(/^target triple.*$/m, `$&\n\n@sim_dynamic = hidden thread_local global [${DYNAMIC_BYTES} x i8] zeroinitializer, align 65536`);
  text = text.replace(new RegExp(`^@(${NAME}) = (?!.*\\b(?:thread_local|external|private)\\b)(.*\\b(?:global|constant) .*), align (\\d+)(?=[,\n])`, 'gm'),
    (whole, symbol, what, align) => isOwn(symbol) || Number(align) > APART ? whole : `@${symbol} = ${what}, align ${APART}`);
  return text + table(text, [...new Set(dynamic.map(([, name]) => plainName(name)))].join('/'));
}

// Whether it is the compiler's own, or the simulator's.
const isOwn = symbol => /^(llvm\.|sim\.)|sim_|^\.|^(__const|switch\.table)/.test(symbol);

const VARIABLES = new RegExp(`^@(${NAME}) = (.*?)\\b(global|constant) (.*)$`, 'gm');
const isNone = (symbol, words) => /^(llvm\.|sim\.)/.test(symbol) || /\bexternal /.test(words);

// Bytes of the arrays and variables of a file that are not shared.
export function variableBytes(text) {
  const structures = structuresIn(text);
  return [...text.matchAll(VARIABLES)].filter(([, symbol, words]) => !isNone(symbol, words) && !/\bthread_local\b/.test(words))
    .reduce((sum, [, , , , rest]) => sum + (sizeOf(firstType(rest), structures) ?? 0), 0);
}

// Bytes of the shared arrays of fixed size that each function and those that it calls use, by its name.
export function fixedShared(text) {
  const sizes = new Map(), named = new Map(), found = new Map(), structures = structuresIn(text);
  for (const [, symbol, words, , rest] of text.matchAll(VARIABLES))
    if (/\bthread_local\b/.test(words) && !isNone(symbol, words) && !isOwn(symbol)) sizes.set(symbol, sizeOf(firstType(rest), structures) ?? 0);
  eachFunction(text, lines => {
    named.set(nameOf(lines[0]), new Set([...lines.join('\n').matchAll(new RegExp(`@(${NAME})`, 'g'))].map(([, name]) => name)));
    return [];
  });
  for (const name of named.keys()) {
    const reached = new Set([name]);
    for (const one of reached) for (const next of named.get(one) ?? []) reached.add(next);
    found.set(name, [...reached].reduce((sum, one) => sum + (sizes.get(one) ?? 0), 0));
  }
  return found;
}

// sim_variables: {address, bytes, name, kind} of each, zeros at the end. What has no name is the compiler's own, or ours.
function table(text, dynamic) {
  const rows = [], names = [], one = '{ ptr, i32, ptr, i32 }';
  for (const [, symbol, words, sort, rest] of text.matchAll(VARIABLES)) {
    if (isNone(symbol, words)) continue;
    const shared = /\bthread_local\b/.test(words), own = /\bprivate /.test(words) || isOwn(symbol);
    const name = symbol === 'sim_dynamic' ? dynamic : own ? '' : plainName(symbol);
    const kind = symbol === 'sim_dynamic' ? DYNAMIC : shared ? SHARED : sort === 'constant' ? CONSTANT : VARIABLE;
    const bytes = `ptrtoint (ptr getelementptr (${firstType(rest)}, ptr null, i32 1) to i32)`;
    rows.push(`${one} { ptr @${symbol}, i32 ${bytes}, ptr @sim.name.${rows.length}, i32 ${kind} }`);
    names.push(`@sim.name.${names.length} = private constant [${name.length + 1} x i8] c"${name}\\00"`);
  }
  const used = text.includes('@llvm.compiler.used') ? '' : '@llvm.compiler.used = appending global [1 x ptr] [ptr @sim_variables], section "llvm.metadata"\n';
  return `\n${names.join('\n')}\n@sim_variables = hidden constant [${rows.length + 1} x ${one}] [${[...rows, `${one} zeroinitializer`].join(', ')}]\n${used}`;
}

function plainName(symbol) {  // _ZZ..E1a of a function's own, _ZL5table and the like
  const found = /^_ZZ.*E(\d+)(\w+)$/.exec(symbol) ?? /^_ZL?(\d+)(\w+)$/.exec(symbol);
  return found ? found[2].slice(0, Number(found[1])) : symbol;
}
