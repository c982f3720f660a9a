// Arrays by the names of NumPy's types. Values of float16 and bfloat16 are handed over as numbers, and kept as 16 bits.

const TYPED = { float32: Float32Array, float64: Float64Array, int8: Int8Array, uint8: Uint8Array, bool: Uint8Array, int16: Int16Array, uint16: Uint16Array,
  int32: Int32Array, uint32: Uint32Array, int64: BigInt64Array, uint64: BigUint64Array, float16: Uint16Array, bfloat16: Uint16Array };

export function typeOf(dtype) {
  if (!TYPED[dtype]) throw new Error(`There is no type ${dtype}; there are ${Object.keys(TYPED).join(', ')}.`);
  return TYPED[dtype];
}

const word = new Float32Array(1), bits = new Uint32Array(word.buffer);

function halfBits(value) {  // to nearest, ties to even
  word[0] = value;
  const x = bits[0], sign = x >>> 16 & 0x8000, exponent = (x >>> 23 & 255) - 112, fraction = x & 0x7fffff;
  if ((x & 0x7fffffff) > 0x7f800000) return sign | 0x7e00;
  if (exponent >= 31) return sign | 0x7c00;
  if (exponent <= 0) {  // below the smallest normal number, 2^-14: multiples of 2^-24
    const steps = Math.abs(value) * 2 ** 24, down = Math.floor(steps), rest = steps - down;
    return sign | (down + (rest > 0.5 || (rest === 0.5 && down & 1) ? 1 : 0));
  }
  const kept = exponent << 10 | fraction >>> 13, rest = fraction & 0x1fff;
  return sign | (kept + (rest > 0x1000 || (rest === 0x1000 && kept & 1) ? 1 : 0));
}

function halfValue(half) {
  const sign = half & 0x8000 ? -1 : 1, exponent = half >>> 10 & 31, fraction = half & 1023;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (exponent ? 2 ** (exponent - 15) * (1 + fraction / 1024) : fraction * 2 ** -24);
}

function brainBits(value) {
  word[0] = value;
  const x = bits[0];
  return (x & 0x7fffffff) > 0x7f800000 ? x >>> 16 | 64 : x + 0x7fff + (x >>> 16 & 1) >>> 16;
}

function brainValue(brain) {
  bits[0] = brain << 16;
  return word[0];
}

const INTO = { float16: halfBits, bfloat16: brainBits, int64: BigInt, uint64: BigInt }, OUT_OF = { float16: halfValue, bfloat16: brainValue };

// An array with one number in all its elements.
export function filled(dtype, count, value) { return new (typeOf(dtype))(count).fill((INTO[dtype] ?? Number)(value)); }

// Numbers as the typed array that holds them on the device.
export function pack(dtype, values) { return typeOf(dtype).from(values, INTO[dtype] ?? (value => value)); }

// The reverse: a typed array of numbers.
export function unpack(dtype, kept) { return OUT_OF[dtype] ? Float32Array.from(kept, OUT_OF[dtype]) : kept; }

// A typed array of the bytes that base64 tells.
export function decode(dtype, text) {
  const bytes = Uint8Array.from(atob(text), letter => letter.charCodeAt(0));
  return new (typeOf(dtype))(bytes.buffer);
}
