"""How well the texts of a page stand out, for the tests that look at pages."""

# The lowest contrast of a text against what lies behind it (WCAG 2.1), over all texts below an element.
LOWEST = """(box) => {
  const parse = (c) => (c.match(/[\\d.]+/g) || [0, 0, 0, 0]).map(Number);
  const light = ([r, g, b]) => { const f = (v) => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; };
    return 0.2126 * f(r) + 0.7152 * f(g) + 0.0722 * f(b); };
  const behind = (e) => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor);
    if (c.length < 4 || c[3] > 0) return c; } return [255, 255, 255]; };
  let lowest = [99, ''];
  for (const e of box.querySelectorAll('*')) {
    if (![...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim())) continue;
    const [a, b] = [light(parse(getComputedStyle(e).color)), light(behind(e))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < lowest[0]) lowest = [ratio, e.textContent.slice(0, 60)];
  }
  return lowest;
}"""


def lowest_contrast(box) -> tuple[float, str]:
    """The ratio, and the text that has it. box: a Playwright locator of one element."""
    return tuple(box.evaluate(LOWEST))
