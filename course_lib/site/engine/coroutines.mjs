// A kernel's body, with everything that waits inlined, as a coroutine of LLVM's ("Coroutines in LLVM", switched-resume lowering):
// it gives its handle at once, begins at its first resumption, and is suspended at each sim_suspend().
import { NAME, nameOf } from './ir.mjs';

const SUSPEND = /^\s*(?:tail |notail )?call void @sim_suspend\(\)/;
const LABEL = new RegExp(`^(${NAME}):`);
const STATES = part => `[i8 0, label %${part} i8 1, label %sim.clean]`;

export const waits = lines => lines.some(line => SUSPEND.test(line));
export const isKernel = define => /^sim_body_\d+$/.test(nameOf(define));

export function asCoroutine(lines) {
  const out = [], last = new Map();  // of each block that is cut: the name of its last part
  let label = null, parts = 0, begun = false;
  const head = lines[0].replace(/^define (?:[a-z_]+ )*void (@sim_body_\d+)\((.*?)(%[\w.]+)\)(.*) \{$/, (_, name, kind, argument, rest) =>
    `define hidden ptr ${name}(ptr ${argument})${rest.replace(/(#\d+)/, '$1 presplitcoroutine')} {`);
  if (head === lines[0]) throw new Error(`This is no kernel's body: ${head}`);
  const suspend = (name, final, part) => out.push(`  %${name} = call i8 @llvm.coro.suspend(token none, i1 ${final})`, `  switch i8 %${name}, label %sim.exit ${STATES(part)}`);
  out.push(head);
  for (const line of lines.slice(1, -1)) {
    const at = LABEL.exec(line);
    if (at) label = at[1];
    if (!begun && !at && !/^\s*%\S+ = alloca /.test(line) && line.trim()) {
      out.push('  %sim.id = call token @llvm.coro.id(i32 16, ptr null, ptr null, ptr null)', '  %sim.bytes = call i32 @llvm.coro.size.i32()',
        '  %sim.room = call ptr @sim_frame(i32 %sim.bytes)', '  %sim.handle = call ptr @llvm.coro.begin(token %sim.id, ptr %sim.room)');
      suspend('sim.first', false, 'sim.start');
      out.push('sim.start:');
      last.set(label ?? 'entry', 'sim.start');
      begun = true;
    }
    if (SUSPEND.test(line)) {
      parts++;
      suspend(`sim.wait${parts}`, false, `sim.on${parts}`);
      out.push(`sim.on${parts}:`);
      last.set(label ?? 'entry', `sim.on${parts}`);
    } else if (/^\s*ret void/.test(line)) out.push('  br label %sim.done');
    else out.push(line);
  }
  out.push('sim.done:');
  suspend('sim.last', true, 'sim.never');
  out.push('sim.never:', '  unreachable', 'sim.clean:', '  br label %sim.exit',
    'sim.exit:', '  call void @llvm.coro.end(ptr %sim.handle, i1 false, token none)', '  ret ptr %sim.handle', '}');
  const from = new RegExp(`, %(${NAME}) \\]`, 'g');
  return out.map(line => / = phi /.test(line) ? line.replace(from, (whole, block) => last.has(block) ? `, %${last.get(block)} ]` : whole) : line);
}

export const DECLARATIONS = ['token @llvm.coro.id(i32, ptr, ptr, ptr)', 'ptr @llvm.coro.begin(token, ptr)', 'i32 @llvm.coro.size.i32()',
  'i8 @llvm.coro.suspend(token, i1)', 'void @llvm.coro.end(ptr, i1, token)', 'ptr @sim_frame(i32)'].map(what => `declare ${what}`).join('\n');
