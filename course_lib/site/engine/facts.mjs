// What the checker must know of a text, read without a compiler: whether the kernel has a `return` of its own, and
// whether a structure may have gaps.

// The text with comments and literals blanked, lines kept.
export const codeOf = text => text.replace(/\/\*[^]*?\*\/|\/\/[^\n]*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/g, found => found.replace(/[^\n]/g, ' '));

// A structure that may hold bytes which nobody sets, between members of several sizes (natively declarations.py lays it out).
const PADDED = /\b(?:struct|class|union)\b[^;{}()]*\{[^}]*\b(?:bool|char|short|u?int(?:8|16|64)_t|half|__half|__nv_bfloat16|double|long)\b/;

// line: where the kernel begins.
export function factsOf(text, kernel) {
  const code = codeOf(text), name = kernel.split('<')[0], head = new RegExp(`__global__[^;{]*\\b${name}\\s*\\(`).exec(code);
  const body = head ? bodyBehind(code, head.index + head[0].length) : '';
  return { returns: /\breturn\s*;/.test(body), padded: PADDED.test(code), line: head ? code.slice(0, head.index).split('\n').length : 0, structures: [], names: head ? parameterNames(code, head.index + head[0].length) : [] };
}

function bodyBehind(code, from) {
  const first = code.indexOf('{', from);
  let depth = 0;
  for (let at = first; at >= 0 && at < code.length; at++) {
    if (code[at] === '{') depth++;
    else if (code[at] === '}' && --depth === 0) return code.slice(first, at);
  }
  return '';
}

function parameterNames(code, from) {
  const names = [];
  let depth = 0, first = from;
  for (let at = from; at < code.length; at++) {
    if ('([{<'.includes(code[at])) depth++;
    else if (')]}>'.includes(code[at]) && depth > 0) depth--;
    else if ((code[at] === ',' || code[at] === ')') && depth === 0) {
      const word = /(\w+)\s*(?:\[[^\]]*\]\s*)*$/.exec(code.slice(first, at));
      if (word) names.push(word[1]);
      first = at + 1;
      if (code[at] === ')') break;
    }
  }
  return names;
}
