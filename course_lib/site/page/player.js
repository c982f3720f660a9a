// A launch step by step, by the script of the course's player (plots/player.html, launch.js), which the build writes beside this one.
import { button, element } from "./elements.js";

// A button in a verdict. ask(engine): {player}, or {notPlayed}: why there is none.
export function playButton(load, root, ask) {
  const place = element("div", { class: "played" });
  const press = button("Play it step by step", async () => {
    press.disabled = true;
    place.replaceChildren(element("p", { role: "status" }, "Recording …"));
    try {
      const { player, notPlayed } = await ask(await load(root));
      place.replaceChildren(player ? await shown(player, root) : element("p", { role: "status" }, notPlayed));
    } catch (error) {
      place.replaceChildren(element("p", { role: "alert" }, error.message));
    } finally {
      press.disabled = false;
    }
  });
  return element("div", {}, press, place);
}

let template, count = 0;

// Scripts of a fragment run as it comes into the page.
async function shown(data, root) {
  template ??= fetch(new URL("_static/site/player.txt", root)).then((answer) => answer.text());
  const id = `launch-${++count}`, text = JSON.stringify(data).replaceAll("</", "<\\/");
  const parts = { __STILL__: "", __ID__: id, __DATA__: text };
  return document.createRange().createContextualFragment((await template).replace(/__(?:STILL|ID|DATA)__/g, (name) => parts[name]));
}
