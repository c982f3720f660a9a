// What the model has written, as tokens that can be looked at one by one, with the probability that each had.

import {visible} from './tokenizer.js';

/**
 * @typedef {import('./generate.js').Step} Step
 * @typedef {import('./tokenizer.js').Tokenizer} Tokenizer
 * @typedef {{text: HTMLElement, chances: HTMLElement, title: HTMLElement, spoken: HTMLElement}} Places
 */

export class Written {
  /**
   * @param {Tokenizer} tokenizer
   * @param {string} prompt
   * @param {Places} places where to show it; what they hold is replaced
   */
  constructor(tokenizer, prompt, places) {
    this.tokenizer = tokenizer;
    this.places = places;
    this.decoder = new TextDecoder('utf-8', {ignoreBOM: true}); // a character may be spread over several tokens
    /** @type {Step[]} */
    this.steps = [];
    this.looking = false; // whether somebody looks at a token that is not the newest
    this.unsaid = '';
    places.spoken.replaceChildren();
    places.chances.replaceChildren();
    const given = document.createElement('span');
    given.className = 'given';
    given.textContent = prompt;
    places.text.replaceChildren(given);
    places.text.onpointerover = places.text.onclick = (event) => this.lookAt(this.indexOf(event.target));
    places.text.onpointerleave = () => (this.looking = document.activeElement === places.text && this.looking);
    places.text.onkeydown = (event) => this.move(event);
  }

  /** @param {Step} step */
  add(step) {
    const option = document.createElement('span');
    const end = step.id === this.tokenizer.endId;
    const text = end ? this.decoder.decode() : this.decoder.decode(this.tokenizer.bytes(step.id), {stream: true});
    option.textContent = end ? `${text} ■` : text;
    option.id = `token${this.steps.length}`;
    option.dataset.id = String(step.id);
    option.setAttribute('role', 'option');
    option.setAttribute('aria-selected', 'false');
    option.setAttribute('aria-label', `${this.name(step.id)}, ${percent(step.chance)}`);
    option.style.setProperty('--doubt', String(Math.min(1, (1 - step.chance) ** 2).toFixed(2)));
    this.steps.push(step);
    this.places.text.append(option);
    if (!this.looking) this.select(this.steps.length - 1);
    this.say(text);
  }

  /** The last words are spoken, and half a character is shown as what it is. */
  finish() {
    const rest = this.decoder.decode();
    if (rest) this.places.text.append(rest);
    this.unsaid += rest;
    this.say('', true);
  }

  /**
   * Whole sentences go to where screen readers listen, so that they are not read word by word.
   * @private
   * @param {string} text
   * @param {boolean} [all]
   */
  say(text, all = false) {
    this.unsaid += text;
    const end = all ? this.unsaid.length : Math.max(...['. ', '! ', '? ', '\n', '" '].map((sign) => this.unsaid.lastIndexOf(sign))) + 1;
    if (!end) return;
    const line = document.createElement('p');
    line.textContent = this.unsaid.slice(0, end);
    this.unsaid = this.unsaid.slice(end);
    this.places.spoken.append(line);
  }

  /**
   * @private
   * @param {number} id
   */
  name(id) {
    return id === this.tokenizer.endId ? 'end of the text' : visible(this.tokenizer.bytes(id));
  }

  /**
   * @private
   * @param {EventTarget | null} target
   */
  indexOf(target) {
    const id = target instanceof HTMLElement ? target.id : '';
    return id.startsWith('token') ? Number(id.slice('token'.length)) : -1;
  }

  /**
   * @private
   * @param {number} index
   */
  lookAt(index) {
    if (index < 0 || index >= this.steps.length) return;
    this.looking = true;
    this.select(index);
  }

  /**
   * @private
   * @param {KeyboardEvent} event
   */
  move(event) {
    const last = this.steps.length - 1;
    const steps = {ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1, Home: -last, End: last};
    const by = steps[/** @type {keyof steps} */ (event.key)];
    if (by === undefined || last < 0) return;
    event.preventDefault();
    this.lookAt(Math.min(Math.max((this.selected ?? 0) + by, 0), last));
    document.getElementById(`token${this.selected}`)?.scrollIntoView({block: 'nearest'});
  }

  /**
   * Shows the probabilities where a token was drawn.
   * @private
   * @param {number} index
   */
  select(index) {
    const {text, chances, title} = this.places;
    text.querySelector('[aria-selected="true"]')?.setAttribute('aria-selected', 'false');
    document.getElementById(`token${index}`)?.setAttribute('aria-selected', 'true');
    text.setAttribute('aria-activedescendant', `token${index}`);
    this.selected = index;
    const {id, chance, likeliest} = this.steps[index];
    title.textContent = `What could have come as token ${index + 1}`;
    const rows = likeliest.some((other) => other.id === id) ? likeliest : [...likeliest.slice(0, -1), {id, chance}];
    chances.replaceChildren(...rows.map((row) => this.row(row.id, row.chance, row.id === id)));
  }

  /**
   * @private
   * @param {number} id
   * @param {number} chance
   * @param {boolean} chosen
   */
  row(id, chance, chosen) {
    const row = document.createElement('li');
    const token = document.createElement('code');
    token.textContent = this.name(id);
    const bar = document.createElement('span');
    const full = bar.appendChild(document.createElement('span'));
    full.className = 'bar';
    full.style.display = 'block';
    full.style.width = `${Math.max(100 * chance, 0.5)}%`;
    const shown = document.createElement('span');
    shown.className = 'percent';
    shown.textContent = percent(chance);
    row.append(token, bar, shown);
    if (chosen) {
      row.className = 'chosen';
      const said = document.createElement('span');
      said.className = 'unseen';
      said.textContent = ' (taken)';
      shown.append(said);
    }
    return row;
  }
}

/** @param {number} chance */
function percent(chance) {
  const percentage = 100 * chance;
  return percentage > 0 && percentage < 0.1 ? '< 0.1 %' : `${percentage.toFixed(1)} %`;
}
