// The large files of the engine lie compressed (NAME.gz). In a page they are fetched and unpacked on the way, so that any host
// that serves files will do; in Node they are read.

let report = () => {};
export function onDownload(told) { report = told; }

const TYPES = { wasm: 'application/wasm', json: 'application/json' };

// A Response of the unpacked file. bytes of all files together, for the remaining time, stand in sizes.json.
export async function download(url) {
  const packed = new URL(url.href + '.gz'), type = TYPES[url.pathname.split('.').pop()] ?? 'application/octet-stream';
  const name = url.pathname.split('/').pop();
  if (url.protocol === 'file:') {
    const [{ readFile }, { gunzipSync }] = await Promise.all([import('node:fs/promises'), import('node:zlib')]);
    return new Response(gunzipSync(await readFile(packed)), { headers: { 'content-type': type } });
  }
  const answer = await fetch(packed);
  if (!answer.ok) throw new Error(`${packed.pathname} could not be fetched (${answer.status}). Is the network there? Reload the page to try again.`);
  let done = 0;
  const counted = new TransformStream({
    transform(part, into) {
      done += part.length;
      report(name, part.length);
      into.enqueue(part);
    },
  });
  // A host may say Content-Encoding: gzip of such a file; then the browser has unpacked it already.
  const stream = answer.body.pipeThrough(counted);
  const unpacked = answer.headers.get('content-encoding') === 'gzip' ? stream : stream.pipeThrough(new DecompressionStream('gzip'));
  return new Response(unpacked, { headers: { 'content-type': type } });
}
