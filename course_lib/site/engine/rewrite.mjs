// Between clang's optimiser and its code generator, in LLVM's text of a kernel's file: the checker's hooks learn where they are,
// kernels become coroutines, variables get their places. Names in the text are those that an assertions build of clang writes.
import { DECLARATIONS, asCoroutine, isKernel, waits } from './coroutines.mjs';
import { Numbered, declareHooks, numberHooks } from './hooks.mjs';
import { Places, eachFunction, nameOf, sizeOf, structuresIn } from './ir.mjs';
import { placeVariables } from './variables.mjs';

// A sentence for the learner: what this page cannot run.
export class Refused extends Error {}

// { text, lines, locals }: the new text, the learner's line of each numbered place, and the bytes of each kernel's local arrays.
export function rewrite(text, file, addresses) {
  const numbered = new Numbered(new Places(text, file), structuresIn(text)), waiting = [], locals = new Map();
  let result = eachFunction(placeVariables(text, addresses), lines => {
    const made = numberHooks(lines, numbered);
    if (isKernel(lines[0])) {
      if (lines.some(line => / = alloca [^,]+, i\d+ %/.test(line))) throw new Refused('alloca() whose bytes are known only at run time cannot run in this page, nor on a GPU: use an array of fixed size.');
      locals.set(nameOf(lines[0]), localBytes(lines, numbered.structures));
      return asCoroutine(made);
    }
    if (waits(lines)) waiting.push(nameOf(lines[0]));
    return made;
  });
  for (const name of waiting)
    if (result.split(`@${name}(`).length > 2 || new RegExp(`ptr @${name.replaceAll('$', '\\$')}\\b`).test(result)) throw new Refused(refusal(name));
  return { text: `${declareHooks(result)}\n${DECLARATIONS}\n`, lines: numbered.lines, locals };
}

const localBytes = (lines, structures) => lines.reduce((sum, line) => sum + (sizeOf(/ = alloca (.*?), align /.exec(line)?.[1] ?? '', structures) ?? 0), 0);

function refusal(name) {
  const plain = /^_Z[A-Z]*(\d+)(\w+)/.exec(name), word = plain ? plain[2].slice(0, Number(plain[1])) : name;
  return `'${word}' waits for other threads (a barrier, a shuffle or another operation of its warp), and calls itself or is called through a ` +
    'pointer. In this page what waits must be a part of its kernel; with the course installed on a computer it runs.';
}
