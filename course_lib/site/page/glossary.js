// A word of the glossary explained where it stands: by hovering, or by Tab; Escape closes it, and the pointer may move into it.

export function glossary(root) {
  const home = new URL("notebooks/glossary.html", root).href;
  let page, shown, leaving;

  async function meaning(link) {
    page ??= fetch(home).then((answer) => answer.text()).then((text) => new DOMParser().parseFromString(text, "text/html"));
    const section = (await page).getElementById(decodeURIComponent(new URL(link.href).hash.slice(1)))?.closest("section");
    return section ? [section.querySelector("h1, h2, h3, h4")?.firstChild?.textContent, section.querySelector("p")?.textContent] : [];
  }

  async function show(link) {
    clearTimeout(leaving);
    if (shown?.link === link) return;
    hide();
    const box = document.createElement("div");
    shown = { link, box };
    let word, text;
    try { [word, text] = await meaning(link); } catch { page = undefined; }
    if (shown?.box !== box || !text) return;
    box.className = "meaning";
    box.id = "meaning";
    box.setAttribute("role", "tooltip");
    const strong = document.createElement("strong");
    strong.textContent = word;
    box.append(strong, " ", text);
    document.body.append(box);
    const { left, bottom, top } = link.getBoundingClientRect(), { offsetWidth, offsetHeight } = box;
    const below = bottom + offsetHeight + 8 < innerHeight || top < offsetHeight + 8;
    box.style.left = `${Math.max(8, Math.min(left, innerWidth - offsetWidth - 8)) + scrollX}px`;
    box.style.top = `${(below ? bottom + 4 : top - offsetHeight - 4) + scrollY}px`;
    link.setAttribute("aria-describedby", "meaning");
    box.addEventListener("pointerenter", () => clearTimeout(leaving));
    box.addEventListener("pointerleave", leave);
  }

  function hide() {
    shown?.box.remove();
    shown?.link.removeAttribute("aria-describedby");
    shown = undefined;
  }

  function leave() { leaving = setTimeout(hide, 200); }

  if (location.href.split("#")[0] === home) return;
  for (const link of document.querySelectorAll('article a[href*="glossary.html#"]')) {
    link.classList.add("term");
    link.addEventListener("pointerenter", () => show(link));
    link.addEventListener("focus", () => show(link));
    link.addEventListener("pointerleave", leave);
    link.addEventListener("blur", hide);
  }
  addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
}
