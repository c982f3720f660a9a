// Registers the service worker, and says when a newer edition of the site is there.

export function keepOffline(root) {
  if (!("serviceWorker" in navigator)) return;
  addEventListener("load", async () => {
    let found;
    try { found = await navigator.serviceWorker.register(new URL("sw.js", root)); } catch { return; } // file:, or a private window
    if (!found) return; // a browser that is told to have none
    const told = (worker) => {
      if (!worker || !navigator.serviceWorker.controller) return;
      const offer = () => { if (worker.state === "installed") newer(worker); };
      offer();
      worker.addEventListener("statechange", offer);
    };
    told(found.waiting);
    found.addEventListener("updatefound", () => told(found.installing));
    await navigator.serviceWorker.ready;
    if (!navigator.connection?.saveData) found.active?.postMessage("fill"); // the other pages, one by one, in the background
  });
}

function newer(worker) {
  if (document.getElementById("newer")) return;
  const note = document.createElement("div");
  note.id = "newer";
  note.setAttribute("role", "status");
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Reload";
  button.addEventListener("click", () => {
    navigator.serviceWorker.addEventListener("controllerchange", () => location.reload());
    worker.postMessage("take over");
  });
  note.append("There is a newer edition of the course. Your answers are kept. ", button);
  document.body.append(note);
}
