// EDITION and FILES, {path: [hash, bytes]}, stand above: written by course_lib/site/offline.py.
//
// A file is kept under its hash. It is given from what is kept, or fetched, and then its hash is looked at: another one means
// that the host has a newer edition, and this worker steps aside, so that no page is put together from two editions.
const SCOPE = new URL(self.registration.scope);
const KEPT = "course-site " + SCOPE.pathname;
const CORE = /^(index|search|play|storage)\.html$|^_static\/|^notebooks\/glossary\.html$|^exercises\.json$/;
const LATER = /^engine\/|^writing\//; // large: kept when they are first wanted
const STALE = new URL("stale", SCOPE).href;

const keyOf = (path) => new URL(`kept/${FILES[path][0]}/${path}`, SCOPE).href;

self.addEventListener("install", (event) => event.waitUntil((async () => {
  await fill((path) => CORE.test(path));
  if (!self.registration.active) await self.skipWaiting();
})()));

self.addEventListener("activate", (event) => event.waitUntil((async () => {
  const cache = await caches.open(KEPT), wanted = new Set(Object.keys(FILES).map(keyOf));
  for (const { url } of await cache.keys()) if (!wanted.has(url)) await cache.delete(url);
  await self.clients.claim();
})()));

self.addEventListener("message", (event) => {
  if (event.data === "take over") self.skipWaiting();
  if (event.data === "fill") event.waitUntil(fill((path) => !LATER.test(path)).catch(() => {}));
  if (event.data === "fill all") event.waitUntil(fill(() => true).then(() => event.source?.postMessage("filled"), (error) => event.source?.postMessage(`failed: ${error.message}`)));
});

self.addEventListener("fetch", (event) => {
  const { request } = event, url = new URL(request.url);
  if (request.method !== "GET" || url.origin !== SCOPE.origin || !url.pathname.startsWith(SCOPE.pathname)) return;
  let path = decodeURIComponent(url.pathname.slice(SCOPE.pathname.length));
  if (path === "" || path.endsWith("/")) path += "index.html";
  if (Object.hasOwn(FILES, path)) event.respondWith(give(path, event));
});

// Of each open page, whether it came from the host, since this worker had stepped aside: then so do its style and its scripts.
const fromHost = new Map();

async function give(path, { request, clientId, resultingClientId }) {
  const cache = await caches.open(KEPT);
  const page = request.mode === "navigate", aside = (page ? undefined : fromHost.get(clientId)) ?? (await stale(cache));
  const own = aside ? undefined : await ours(cache, path, request);
  if (page) fromHost.set(resultingClientId, !own);
  return own ?? fetch(request);
}

async function ours(cache, path, request) {
  const kept = await cache.match(keyOf(path));
  if (kept) return kept;
  return LATER.test(path) && (await current(cache)) ? passed(cache, path, request) : fetched(cache, path);
}

// A large file goes on to the page as it comes, so that the page can show how far it is; it is looked at and kept afterwards.
async function passed(cache, path, request) {
  const answer = await fetch(request.url, { cache: "no-cache" });
  if (answer.ok) answer.clone().arrayBuffer().then((bytes) => keep(cache, path, answer, bytes)).catch(() => {});
  return answer;
}

// Whether the host still has this worker's edition.
async function current(cache) {
  const answer = await fetch(new URL("edition.json", SCOPE), { cache: "no-store" }).catch(() => undefined);
  if (!answer?.ok || (await answer.json()).edition === EDITION) return true;
  await outOfDate(cache);
  return false;
}

async function outOfDate(cache) {
  await cache.put(STALE, new Response(EDITION));
  self.registration.update().catch(() => {});
}

const stale = async (cache) => (await cache.match(STALE).then((found) => found?.text())) === EDITION;

// The file from the network, kept if it is this edition's; else undefined, and this worker is out of date.
async function fetched(cache, path) {
  const answer = await fetch(new URL(path, SCOPE), { cache: "no-cache" });
  if (!answer.ok) return answer;
  return keep(cache, path, answer, await answer.clone().arrayBuffer());
}

async function keep(cache, path, { status, headers: sent }, bytes) {
  if ((await hash(bytes)) !== FILES[path][0]) return outOfDate(cache);
  const headers = new Headers(sent);
  headers.delete("content-encoding"); // what is kept is unpacked
  await cache.put(keyOf(path), new Response(bytes, { status, headers })).catch(() => {}); // no room: then not
  return new Response(bytes, { status, headers });
}

async function hash(bytes) {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("").slice(0, 24);
}

async function fill(wanted) {
  const cache = await caches.open(KEPT);
  for (const path of Object.keys(FILES)) {
    if (!wanted(path) || (await cache.match(keyOf(path)))) continue;
    const answer = await fetched(cache, path);
    if (!answer?.ok) throw new Error(`${path} is not that of this edition`);
  }
}
