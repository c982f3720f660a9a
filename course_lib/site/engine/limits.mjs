// What a GPU would refuse of a launch, in the words of course_lib/cuda/launch.py; and what this page has no room for.
import { typeOf } from './arrays.mjs';

const THREADS_PER_BLOCK = 1024, GRID = [2 ** 31 - 1, 65535, 65535], BLOCK = [1024, 1024, 64];
const STATIC_SHARED = 48 * 1024, DYNAMIC_SHARED = 227 * 1024;
const commas = number => number.toLocaleString('en-US');

function extentError(name, what, size, limits) {
  if (!size.every(Number.isInteger)) return `${name}: ${what} is one to three whole numbers, such as 4 or 4, 2; ${size.join(', ')} was given.`;
  for (const [i, axis] of ['x', 'y', 'z'].entries()) {
    if (size[i] < 1) return `${name}: ${what}.${axis} is ${size[i]}; at least 1 is needed. Is an array empty?`;
    if (size[i] > limits[i]) return `${name}: ${what}.${axis} is ${commas(size[i])}; a GPU takes at most ${commas(limits[i])}.`;
  }
  return null;
}

// A sentence, or null. fixed: bytes of the kernel's __shared__ arrays of fixed size.
export function launchError(name, grid, block, shared, fixed) {
  const wrong = extentError(name, 'grid', grid, GRID) ?? extentError(name, 'block', block, BLOCK), threads = block[0] * block[1] * block[2];
  if (wrong) return wrong;
  if (threads > THREADS_PER_BLOCK)
    return `${name}: ${block.join(' x ')} = ${commas(threads)} threads per block; a GPU takes at most ${commas(THREADS_PER_BLOCK)}. Use smaller blocks and more of them.`;
  if (fixed > STATIC_SHARED)
    return `${name}: its __shared__ arrays take ${commas(fixed)} bytes; a GPU gives at most ${commas(STATIC_SHARED)} to arrays of fixed size. Make them smaller, or use \`extern __shared__\` with dynamic shared memory.`;
  if (fixed + shared > DYNAMIC_SHARED)
    return `${name}: ${commas(fixed + shared)} bytes of shared memory per block; a GPU has at most ${commas(DYNAMIC_SHARED)} (${commas(fixed)} are in arrays of fixed size, ${commas(shared)} are dynamic).`;
  if (grid[0] * block[0] > 2 ** 31 - 2048)
    return `${name}: ${commas(grid[0])} x ${block[0]} threads along x; the simulator takes fewer than 2^31. Use a grid-stride loop.`;
  return null;
}

// Of the arrays of a launch that a page describes (engine.mjs).
const MOST_ARRAYS = 256 << 20;
export function arraysError(args) {
  const bytesOf = ({ dtype = 'float32', shape, values }) => [shape ?? values.length].flat().reduce((a, b) => a * b, 1) * typeOf(dtype).BYTES_PER_ELEMENT;
  const bytes = args.reduce((sum, arg) => sum + (typeof arg === 'object' && arg ? bytesOf(arg) : 0), 0);
  return bytes <= MOST_ARRAYS ? null : `The arrays of this launch take ${commas(Math.ceil(bytes / 2 ** 20))} MB; this page has room for ${MOST_ARRAYS >> 20} MB.`;
}
