// Free play: a launch in a few lines, its arrays and what was seen.
import { element } from "./elements.js";
import { headlineOf, verdict } from "./verdict.js";

const ARRAY = /^(\w+)\s*=\s*(\w+)\s+(\d+(?:x\d+)*)\s*(?::\s*(.*))?$/, NUMBER = /^(\w+)\s*=\s*(-?[\d.]+(?:e-?\d+)?)$/;
const DTYPES = ["float16", "float32", "float64", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"];

export async function play(engine, _, text) {
  const launch = parse(document.getElementById("launch").value);
  const kernel = [...text.matchAll(/__global__\s+(?:__launch_bounds__\([^)]*\)\s*)?void\s+(\w+)/g)].pop()?.[1];
  if (!kernel) throw new Error("There is no kernel in this text: one begins with __global__ void and its name.");
  const asked = { text, kernel: launch.kernel ?? kernel, checked: true, ...launch }, made = await engine.run(asked);
  const wrong = made.error || made.compileErrors?.length || made.issues?.length;
  const headline = made.compileErrors?.length ? headlineOf(made.compileErrors) : made.error ? made.error
    : made.issues?.length ? `${made.issues.length === 1 ? "1 issue" : `${made.issues.length} issues`} in ${kernel}.` : `${kernel} ran, and nothing wrong was seen.`;
  const shown = verdict({ ...made, passed: !wrong, headline });
  for (const [name, array] of Object.entries(made.arrays ?? {}))
    shown.box.append(element("p", { class: "value" }, element("b", {}, name), element("pre", { tabindex: "0", role: "region", "aria-label": name }, listing(array))));
  if (made.printed) shown.box.append(element("p", { class: "value" }, element("b", {}, "printed"), element("pre", { tabindex: "0" }, made.printed)));
  return made.error ? shown : { ...shown, play: (engine) => engine.run({ ...asked, player: true }).then(told) };
}

// What a second run, with a record, gave.
const told = ({ player, notPlayed, error }) => ({ player, notPlayed: notPlayed ?? error });

// The lines of a launch -> {grid, block, sharedBytes, args}. Throws an Error with the line that is not understood.
export function parse(lines) {
  const launch = { grid: 1, block: 32, args: [] };
  lines.split("\n").forEach((raw, index) => {
    const line = raw.replace(/(#|\/\/).*/, "").trim();
    if (!line) return;
    const refuse = (why) => { throw new Error(`Line ${index + 1} of the launch, "${line}": ${why}`); };
    const size = /^(grid|block)\s+(\d+(?:[\s,x]+\d+){0,2})$/.exec(line), shared = /^shared\s+(\d+)$/.exec(line), kernel = /^kernel\s+(\S.*)$/.exec(line);
    const array = ARRAY.exec(line), number = NUMBER.exec(line);
    if (size) launch[size[1]] = size[2].split(/[\s,x]+/).map(Number);
    else if (shared) launch.sharedBytes = Number(shared[1]);
    else if (kernel) launch.kernel = kernel[1];
    else if (number) launch.args.push(Number(number[2]));
    else if (array) launch.args.push(described(array, refuse));
    else refuse("write grid 4, block 32, x = float32 100: range, or n = 100.");
  });
  return launch;
}

function described([, name, dtype, size, how], refuse) {
  if (!DTYPES.includes(dtype)) refuse(`${dtype} is none of ${DTYPES.join(", ")}.`);
  const shape = size.split("x").map(Number), count = shape.reduce((a, b) => a * b, 1);
  if (count > 4e6) refuse("that is more than 4,000,000 numbers.");
  const one = { name, dtype, shape };
  if (!how || how === "zeros") return { ...one, zeros: true };
  if (how === "empty") return { ...one, empty: true };
  if (how === "range") return { ...one, values: Array.from({ length: count }, (_, i) => i) };
  if (how === "random") return { ...one, values: random(count) };
  const values = how.split(/[\s,]+/).map(Number);
  if (values.some(Number.isNaN)) refuse("behind the colon stand numbers, or zeros, empty, range or random.");
  if (values.length === 1) return { ...one, fill: values[0] };
  if (values.length !== count) refuse(`it has ${count} numbers, and ${values.length} are given.`);
  return { ...one, values };
}

function random(count) { // xorshift32, the same each time
  let state = 2463534242;
  return Array.from({ length: count }, () => {
    state ^= state << 13; state ^= state >>> 17; state ^= state << 5;
    return (state >>> 0) / 2147483648 - 1;
  });
}

const MOST = 12;

function listing({ shape, values }) {
  const tell = (value) => (typeof value === "number" ? String(Number(value.toPrecision(6))) : String(value));
  const row = (from, length) => Array.from(values).slice(from, from + Math.min(length, MOST)).map(tell).join("  ") + (length > MOST ? "  …" : "");
  const length = shape.at(-1) ?? 1, rows = values.length / (length || 1);
  const lines = Array.from({ length: Math.min(rows, MOST) }, (_, i) => row(i * length, length));
  return lines.join("\n") + (rows > MOST ? "\n…" : "");
}
