// The first screen's kernel: x reversed, by 64 threads and a board in shared memory.
import { headlineOf, verdict } from "./verdict.js";

const N = 64;

export async function first(engine, _, text) {
  const x = Array.from({ length: N }, (_, i) => i);
  const args = [{ name: "x", dtype: "float32", shape: [N], values: x }, { name: "y", dtype: "float32", shape: [N], empty: true }];
  const made = await engine.run({ text, kernel: "reverse", grid: 1, block: N, args, checked: true });
  const y = Array.from(made.arrays?.y?.values ?? []), right = y.length === N && y.every((value, i) => value === N - 1 - i);
  const issues = made.issues ?? [], failed = made.error || made.compileErrors?.length;
  const passed = right && !issues.length && !failed;
  const race = issues.find(({ kind }) => kind === "race");
  const headline = made.compileErrors?.length ? headlineOf(made.compileErrors)
    : race ? `A race in line ${race.line}: what comes out depends on which thread is first.`
      : issues.length ? "The simulator has seen something wrong." : failed ? made.error
        : passed ? "Right: every number is where it belongs, and no thread was too early." : "No race, but y is not x reversed.";
  const lines = [];
  if (race) lines.push("It may well come out right on this run. On another day, or on another card, it will not.",
    "The cure: no thread may read the board before all have written. Put a line __syncthreads(); between the two.");
  if (passed) lines.push("That was your first kernel. Chapter 04 explains each word of it.");
  const said = race || passed || made.compileErrors?.length ? "" : `0, 1, 2, 3 ... become ${y.slice(0, 4).join(", ")} ...`;
  if (said && y.length) lines.push(said);
  return verdict({ ...made, passed, headline, lines, issues });
}
