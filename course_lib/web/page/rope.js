// Rotary positions. (Su et al. 2021) As rope_tables of course_lib/model.py.

/** @typedef {import('./files.js').Config} Config */

/**
 * Cosines and sines of position * base^(-2 i / D), (context, D/2) each.
 * @param {Config} config
 * @returns {{cosines: Float32Array, sines: Float32Array}}
 */
export function ropeTables(config) {
  const half = config.channels / config.heads / 2;
  const cosines = new Float32Array(config.context * half);
  const sines = new Float32Array(config.context * half);
  for (let position = 0; position < config.context; position++) {
    for (let i = 0; i < half; i++) {
      const angle = position * config.rope_base ** (-i / half);
      cosines[position * half + i] = Math.cos(angle);
      sines[position * half + i] = Math.sin(angle);
    }
  }
  return {cosines, sines};
}
