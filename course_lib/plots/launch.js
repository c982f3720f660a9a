// The scene of a launch in the player: the lines of its source, its threads, and the arrays that they touch.
function scene(root, data) {
  const CELL = 20, TALL = 17, READ = "#0072b2", WRITE = "#d55e00", SWAP = "#009e73", WAIT = "#bdbdbd", PALE = "#ededed";
  const steps = data.steps, arrays = data.arrays;
  const two = make("div", root, {class: "two"});
  const listing = make("ol", two, {"aria-label": "source", tabindex: 0});
  const lines = new Map(data.source.map(([line, text]) => [line, make("li", listing, {}, `${String(line).padStart(3)}  ${text}`)]));
  const scene = make("div", two, {class: "scene", tabindex: 0, "aria-label": "threads and memory"});
  const legend = make("p", root, {class: "legend"}, "threads:");
  for (const [fill, words] of [[READ, "read"], [WRITE, "write"], [SWAP, "take from another lane"], [WAIT, "wait at the barrier"], [PALE, "another warp's turn"], ["#fff", "finished"]]) {
    make("i", legend, {style: "background:" + fill});
    legend.append(words);
  }

  // Of a step, in its block: what each array holds. Memory that the kernel has not written yet and nobody set is null.
  function memory(at) {
    const block = steps[at].block;
    const held = arrays.map(one => one.space === "global" ? one.start.slice() : one.start.map(() => null));
    for (let i = 0; i <= at; i++) {
      const one = steps[i];
      if (one.op !== "write" && one.op !== "atomic") continue;
      if (arrays[one.array].space !== "global" && one.block !== block) continue;
      one.elements.forEach((element, k) => { held[one.array][element] = one.values[k]; });
    }
    return held;
  }

  const short = value => {
    if (value === null) return "";
    if (typeof value !== "number") return String(value);
    if (Number.isInteger(value) && Math.abs(value) < 10000) return String(value);
    const text = String(Number(value.toPrecision(2)));
    return text.length > 5 ? value.toExponential(0) : text.replace(/^(-?)0\./, "$1.");
  };

  function colour(op) { return op === "read" ? READ : op === "barrier" ? WAIT : op === "write" || op === "atomic" ? WRITE : SWAP; }

  return function show(now) {
    const one = steps[now], wide = Math.min(32, data.threads);
    scene.replaceChildren();
    const svg = draw("svg", scene, {role: "img", "aria-label": one.said});
    const threadAt = new Map();
    let y = 12;
    draw("text", svg, {x: 2, y, class: "name"}, `threads of block ${one.block} of ${data.blocks}`);
    y += 12;
    const busy = new Map(one.threads.map((thread, k) => [thread, k]));
    for (let thread = 0; thread < data.threads; thread++) {
      const warp = Math.floor(thread / 32), lane = thread % 32;
      const x = 2 + lane * CELL, top = y + warp * (TALL + 4);
      const later = steps.some((step, i) => i >= now && step.block === one.block && step.threads.includes(thread));
      const waits = one.op !== "barrier" && !steps.some((step, i) => i >= now && step.block === one.block &&
        step.interval === one.interval && step.op !== "barrier" && step.threads.includes(thread));
      const fill = busy.has(thread) ? colour(one.op) : !later ? "#fff" : waits ? WAIT : PALE;
      const box = draw("rect", svg, {x, y: top, width: CELL - 2, height: TALL, fill, stroke: "#6b6b6b", "stroke-width": .5});
      box.dataset.thread = thread;
      draw("text", svg, {x: x + CELL / 2 - 1, y: top + TALL / 2, style: busy.has(thread) ? "fill:#fff" : ""}, String(thread));
      threadAt.set(thread, [x + CELL / 2 - 1, top + TALL]);
    }
    y += Math.ceil(data.threads / 32) * (TALL + 4) + 26;
    const held = memory(now), cells = [];
    let widest = wide * CELL, left = 2, high = y, low = y;  // narrow arrays stand side by side, their tops at `high`
    arrays.forEach((array, number) => {
      const columns = array.columns, rows = Math.ceil(array.start.length / columns);
      const across = Math.max(columns * CELL, 7 * array.label.length);  // of a narrow array the label is wider
      if (left > 2 && left + across > 32 * CELL + 2) [left, high] = [2, low];
      y = high;
      draw("text", svg, {x: left, y, class: "name"}, array.label);
      y += 13;
      if (array.space !== "global" && array.banks) {
        for (let c = 0; c < columns; c++) draw("text", svg, {x: left + c * CELL + CELL / 2 - 1, y, class: "small"}, String(array.banks[c]));
        y += 10;
      }
      const touched = new Map();
      if (one.array === number) one.elements.forEach((element, k) => touched.set(element, k));
      for (let element = 0; element < array.start.length; element++) {
        const x = left + element % columns * CELL, top = y + Math.floor(element / columns) * (TALL + 1);
        const on = touched.has(element);
        const box = draw("rect", svg, {x, y: top, width: CELL - 2, height: TALL, fill: on ? colour(one.op) : held[number][element] === null ? "#fff" : PALE,
          stroke: on ? colour(one.op) : "#bdbdbd", "stroke-width": on ? 1.5 : .5});
        box.dataset.cell = `${array.name}:${element}`;
        if (on) box.dataset.touched = one.op;
        const text = short(held[number][element]);
        draw("text", svg, {x: x + CELL / 2 - 1, y: top + TALL / 2, style: on ? "fill:#fff" : ""}, text);
        if (on) cells[element] = [x + CELL / 2 - 1, top];
      }
      widest = Math.max(widest, left - 2 + across);
      low = Math.max(low, y + rows * (TALL + 1) + 18);
      left += across + CELL;
    });
    y = low;
    const links = draw("g", svg, {fill: "none", "stroke-width": 1, opacity: .65});
    one.threads.forEach((thread, k) => {
      const [x, top] = threadAt.get(thread);
      if (one.array !== null && cells[one.elements[k]]) {
        const [cx, cy] = cells[one.elements[k]];
        draw("path", links, {d: `M${x} ${top}C${x} ${top + 18} ${cx} ${cy - 18} ${cx} ${cy}`, stroke: colour(one.op)});
      }
      if (one.sources.length && one.sources[k] !== thread) {
        const [sx, sy] = threadAt.get(one.sources[k]);
        draw("path", links, {d: `M${sx} ${sy}C${sx} ${sy + 20} ${x} ${top + 20} ${x} ${top}`, stroke: SWAP});
      }
    });
    svg.setAttribute("viewBox", `0 0 ${widest + 6} ${y}`);
    svg.setAttribute("width", widest + 6);
    for (const [line, item] of lines) {
      item.classList.toggle("here", line === one.line);
      item.classList.toggle("partner", line === one.partner);
      if (line === one.line) item.setAttribute("aria-current", "step"); else item.removeAttribute("aria-current");
    }
    const here = lines.get(one.line);
    if (here) listing.scrollTop = here.offsetTop - listing.clientHeight / 2;
  }
}
