// Elements of a page in one line each.

export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

export function button(words, act, off = false) {
  const made = element("button", { type: "button" }, words);
  made.addEventListener("click", act);
  made.disabled = off;
  return made;
}
