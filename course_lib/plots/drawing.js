// The scene of a player that shows one drawing, whose parts name the steps in which they are seen: data-steps="0 3 4".
function scene(root, data) {
  const frame = make("div", root, {class: "scene", tabindex: 0, "aria-label": "drawing"});
  frame.innerHTML = data.drawing;
  const svg = frame.firstElementChild;
  const parts = [...svg.querySelectorAll("[data-steps]")].map(part => [part, part.dataset.steps.split(" ").map(Number)]);
  return function show(now) {
    svg.setAttribute("aria-label", data.steps[now].said);
    for (const [part, steps] of parts) part.style.display = steps.includes(now) ? "" : "none";
  };
}
