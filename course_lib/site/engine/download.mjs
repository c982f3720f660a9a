// The large files of the engine lie compressed (NAME.xz). In a page they are fetched and unpacked on the way, so that any host
// that serves files will do; in Node they are read.
import xz from './xz.mjs';  // npm's xz-decompress

let report = () => {};
export function onDownload(told) { report = told; }

// What the compiler is made of, by name: modules, compiled, and Blobs of other files. A worker hands it to the one that takes its
// place, which then fetches and compiles nothing again.
export const kept = new Map();

export async function compiled(url) {
  const name = nameOf(url);
  if (!kept.has(name)) kept.set(name, await download(url).then(answer => WebAssembly.compileStreaming?.(answer) ?? answer.arrayBuffer().then(WebAssembly.compile)));
  return kept.get(name);
}

// The bytes of a file; a Blob of them need not lie in the page's memory.
export async function unpacked(url) {
  const name = nameOf(url);
  if (!kept.has(name)) kept.set(name, await download(url).then(answer => answer.blob()));
  return kept.get(name).arrayBuffer();
}

const nameOf = url => url.pathname.split('/').pop();
const TYPES = { wasm: 'application/wasm', json: 'application/json' };

// A Response of the unpacked file. bytes of all files together, for the remaining time, stand in sizes.json.
export async function download(url) {
  const packed = new URL(url.href + '.xz'), type = TYPES[url.pathname.split('.').pop()] ?? 'application/octet-stream';
  const name = nameOf(url);
  if (url.protocol === 'file:') {
    const { readFile } = await import('node:fs/promises');
    return new Response(new xz.XzReadableStream(new Blob([await readFile(packed)]).stream()), { headers: { 'content-type': type } });
  }
  const answer = await fetch(packed);
  if (!answer.ok) throw new Error(`${packed.pathname} could not be fetched (${answer.status}). Is the network there? Reload the page to try again.`);
  const counted = new TransformStream({
    transform(part, into) {
      report(name, part.length);
      into.enqueue(part);
    },
  });
  return new Response(new xz.XzReadableStream(answer.body.pipeThrough(counted)), { headers: { 'content-type': type } });
}
