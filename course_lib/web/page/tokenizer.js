// Text to tokens and back: the byte-level BPE of course_lib/tokenizer.py, from the file that it saves.
//
// Limit: what is a letter is decided by the browser's Unicode tables, which may be older than Python's.

import {Problem} from './problem.js';

/** GPT-2's printable stand-in for each byte, the other way round: character -> byte. */
const BYTE = new Map();
for (let byte = 0, others = 0; byte < 256; byte++) {
  const printable = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
  BYTE.set(String.fromCharCode(printable ? byte : 256 + others++), byte);
}

export class Tokenizer {
  /**
   * @param {string} json what Tokenizer.save wrote
   */
  constructor(json) {
    let content;
    try {
      content = JSON.parse(json);
    } catch {
      throw new Problem('tokenizer.json is damaged. Export the model again, with course export.');
    }
    // JavaScript's \s counts one sign more and one less than Python's, which is the property of Unicode.
    const pattern = content.pattern.replaceAll('\\s', '\\p{White_Space}').replaceAll('\\S', '\\P{White_Space}');
    /** @private */
    this.pieces = new RegExp(pattern, 'gu');
    /** @private @type {Uint8Array[]} */
    this.spelling = Array.from({length: 256}, (_, byte) => Uint8Array.of(byte));
    /** @private @type {Map<string, {rank: number, symbol: number}>} */
    this.ranks = new Map();
    this.learn(content.merges);
    /** @type {string[]} */
    const special = content.special_tokens;
    /** The id of the end of a text. */
    this.endId = this.spelling.length + Math.max(0, special.indexOf('<|endoftext|>'));
    const turns = ['<|user|>', '<|assistant|>'].map((mark) => special.indexOf(mark));
    /**
     * The ids of who asks and who answers, of a model that was taught to; no text encodes to them.
     * @private
     * @type {number[] | null}
     */
    this.turns = turns.includes(-1) ? null : turns.map((index) => this.spelling.length + index);
    for (const token of special) this.spelling.push(new TextEncoder().encode(token));
    /** How many ids there are. */
    this.size = this.spelling.length;
  }

  /** Whether the model answers what it is asked, rather than go on with a text. */
  get answers() {
    return this.turns !== null;
  }

  /**
   * What a model reads before it writes: the end token, then the beginning of a text; or a question between its marks.
   * @param {string} prompt
   * @returns {number[]}
   */
  opening(prompt) {
    const ids = this.encode(prompt);
    return this.turns ? [this.endId, this.turns[0], ...ids, this.turns[1]] : [this.endId, ...ids];
  }

  /**
   * @private
   * @param {string[]} merges "left right", in the order of learning
   */
  learn(merges) {
    const symbols = new Map(BYTE);
    merges.forEach((line, rank) => {
      const [left, right] = line.split(' ');
      const whole = left + right;
      if (!symbols.has(whole)) {
        symbols.set(whole, this.spelling.length);
        this.spelling.push(Uint8Array.from(whole, (character) => BYTE.get(character)));
      }
      this.ranks.set(`${symbols.get(left)} ${symbols.get(right)}`, {rank, symbol: symbols.get(whole)});
    });
  }

  /**
   * @param {string} text
   * @returns {number[]}
   */
  encode(text) {
    const bytes = new TextEncoder();
    return (text.match(this.pieces) ?? []).flatMap((piece) => this.merge([...bytes.encode(piece)]));
  }

  /**
   * The symbols of one pre-token: again and again, merge the pair that was learned first, the leftmost of several.
   * @private
   * @param {number[]} word
   * @returns {number[]}
   */
  merge(word) {
    for (;;) {
      let best = {rank: Infinity, symbol: -1};
      let at = -1;
      for (let i = 0; i + 1 < word.length; i++) {
        const found = this.ranks.get(`${word[i]} ${word[i + 1]}`);
        if (found && found.rank < best.rank) [best, at] = [found, i];
      }
      if (at < 0) return word;
      word.splice(at, 2, best.symbol);
    }
  }

  /**
   * The bytes that an id stands for.
   * @param {number} id
   * @returns {Uint8Array}
   */
  bytes(id) {
    return this.spelling[id];
  }
}

const SHOWN = new Map([[' ', '␣'], ['\n', '↵'], ['\t', '⇥'], ['\r', '␍']]);

/**
 * A token as a person can read it alone: white space at its ends made visible, bytes that are no text as numbers.
 * @param {Uint8Array} bytes
 * @returns {string}
 */
export function visible(bytes) {
  try {
    const text = new TextDecoder('utf-8', {fatal: true, ignoreBOM: true}).decode(bytes);
    return text.replace(/^\s|\s$|[\n\t\r]/gu, (sign) => SHOWN.get(sign) ?? sign);
  } catch {
    return [...bytes].map((byte) => `‹${byte.toString(16).padStart(2, '0')}›`).join('');
  }
}
