// What the engine says, as elements: headline, sentences, what was expected and got, issues by line, counters.
import { element } from "./elements.js";

// Returns {judged, box, marks}: marks are what the editor underlines.
export function verdict(judged, praise) {
  const kind = judged.passed ? "right" : judged.undecided ? "open" : "wrong";
  const box = element("div", { class: `verdict ${kind}` });
  box.append(element("p", { class: "headline" }, judged.headline || (judged.passed ? praise : "Not yet.")));
  for (const line of judged.lines ?? []) box.append(element("p", {}, line));
  if (judged.case) box.append(element("p", {}, `The smallest case that fails: ${judged.case}.`));
  for (const [words, text] of [["Expected", judged.expected], ["Got", judged.got]])
    if (text) box.append(element("p", { class: "value" }, element("b", {}, words), element("pre", { tabindex: "0", role: "region", "aria-label": words }, text)));
  box.append(...compileErrors(judged.compileErrors), ...issues(judged.issues), ...counters(judged.counters));
  if (judged.solution) box.append(element("details", {}, element("summary", {}, "Our solution"), element("pre", { tabindex: "0" }, judged.solution)));
  if (judged.seconds) box.append(element("p", { class: "small" }, `${judged.seconds.toFixed(1)} s`));
  return { judged, box, marks: [...(judged.compileErrors ?? []), ...(judged.issues ?? [])] };
}

// What cannot be run at all is told without a line, and then says it all.
export const headlineOf = ([{ line, message }]) => (line ? "The compiler does not understand it." : message);

export function failure(message) {
  return element("div", { class: "verdict wrong" }, element("p", {}, message));
}

function place(line) {
  const made = element("button", { type: "button", class: "line", "data-line": String(line) }, `line ${line}`);
  made.title = "go to the line";
  return made;
}

function compileErrors(found = []) {
  return found.filter(({ line }) => line).map(({ line, message }) => element("p", { class: "issue" }, place(line), ": ", message));
}

function issues(found = []) {
  return found.map((issue) => {
    const other = issue.otherLine && issue.otherLine !== issue.line ? [" and ", place(issue.otherLine)] : [];
    const who = issue.block && issue.thread ? ` (block ${told(issue.block)}, thread ${told(issue.thread)})` : "";
    return element("p", { class: "issue" }, element("b", {}, issue.kind), ", ", ...(issue.line ? [place(issue.line)] : []), ...other, ": ", issue.message, who);
  });
}

const told = (triple) => (Array.isArray(triple) ? `(${triple.join(", ")})` : String(triple));

const COLUMNS = { line: "line", space: "space", op: "op", requests: "requests", sectorsPerRequest: "sectors per request",
  wavefrontsPerRequest: "wavefronts per request", activeLanes: "lanes" };

function counters(rows = []) {
  if (!rows.length) return [];
  const cell = (value) => (typeof value === "number" ? String(Math.round(value * 100) / 100) : value ?? "");
  const head = element("tr", {}, ...Object.values(COLUMNS).map((words) => element("th", { scope: "col" }, words)));
  const body = rows.map((row) => element("tr", {}, ...Object.keys(COLUMNS).map((key) => element("td", {}, cell(row[key])))));
  const table = element("table", { class: "counters" }, element("thead", {}, head), element("tbody", {}, ...body));
  return [element("details", {}, element("summary", {}, "How it read and wrote memory"),
    element("div", { class: "table-wrapper", tabindex: "0", role: "region", "aria-label": "counters" }, table))];
}
