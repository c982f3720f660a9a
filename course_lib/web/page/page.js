// The page: what is asked for, who computes it, what is written.

import {findAdapter} from './adapter.js';
import {loadCpuModel} from './cpu_client.js';
import {fetchDescription, fetchWeights, fetchWhole} from './files.js';
import {generate} from './generate.js';
import {loadGpuModel} from './gpu.js';
import {Problem, sentence} from './problem.js';
import {Tokenizer} from './tokenizer.js';
import {Written} from './written.js';

/**
 * @typedef {import('./generate.js').Model} Model
 * @typedef {import('./files.js').Description} Description
 */

/**
 * The element of the page with this id.
 * @template {HTMLElement} E
 * @param {string} id
 * @param {new () => E} kind
 * @returns {E}
 */
function element(id, kind) {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) throw new Error(`the page has no ${kind.name} with the id ${id}`);
  return found;
}

const form = element('form', HTMLFormElement);
const prompt = element('prompt', HTMLTextAreaElement);
const temperature = element('temperature', HTMLInputElement);
const topk = element('topk', HTMLInputElement);
const tokens = element('tokens', HTMLInputElement);
const device = element('device', HTMLSelectElement);
const write = element('write', HTMLButtonElement);
const stop = element('stop', HTMLButtonElement);
const pace = element('pace', HTMLElement); // beside the buttons; nothing reads it out at each change
const status = element('status', HTMLElement);
const problem = element('problem', HTMLElement);

/** @type {Description} */
let description;
/** @type {Tokenizer} */
let tokenizer;
/** @type {import('./adapter.js').Found} */
let found;
/** @type {Model | null} */
let model = null;
let stopped = false;

/** @param {unknown} error */
function show(error) {
  problem.textContent = sentence(error);
}

/** Names the adapter where it can be chosen, and chooses: a real GPU before the processor, a played one after it. */
function offerDevices() {
  const [gpu] = device.options;
  gpu.disabled = !found.adapter;
  gpu.textContent = found.adapter ? `WebGPU: ${found.name}` : 'WebGPU: none';
  device.value = found.adapter && !found.software ? 'gpu' : 'cpu';
}

/** Says what computes, and why not the other. */
function tellDevice() {
  const slow = 'only plays a GPU, more slowly than JavaScript.';
  const why = element('why', HTMLElement);
  if (device.value === 'gpu') why.textContent = `${found.name} computes.${found.software ? ` It ${slow}` : ''}`;
  else why.textContent = `The processor computes, in plain JavaScript. ${found.software ? `${found.name} ${slow}` : found.problem}`;
}

/** Loads the model for the device that is chosen. */
async function load() {
  model?.close();
  model = null;
  write.disabled = device.disabled = true;
  const size = description.files['weights.safetensors'].size;
  status.textContent = 'Loading the weights.';
  /** @param {number} bytes */
  const progress = (bytes) => (pace.textContent = `${(bytes / 1e6).toFixed(1)} of ${(size / 1e6).toFixed(1)} MB`);
  try {
    if (device.value === 'gpu') await loadOnGpu(progress);
    else model = await loadCpuModel(description, progress);
  } catch (error) {
    status.textContent = '';
    show(error);
  }
  pace.textContent = '';
  device.disabled = false;
  if (!model) return;
  tellDevice();
  status.textContent = 'Ready.';
  write.disabled = false;
}

/**
 * Without weights nothing can compute; without a GPU the processor can.
 * @param {(bytes: number) => void} progress
 */
async function loadOnGpu(progress) {
  const weights = await fetchWeights(description, progress);
  try {
    const {adapter, problem: gone} = await findAdapter(); // one adapter opens one device
    if (!adapter) throw new Problem(gone);
    model = await loadGpuModel(description.config, weights, adapter, leaveGpu);
  } catch (error) {
    await leaveGpu(sentence(error));
  }
}

/**
 * Goes on in JavaScript.
 * @param {string} why
 */
async function leaveGpu(why) {
  stopped = true;
  problem.textContent = `${why} The processor goes on.`;
  device.value = 'cpu';
  await load();
}

/** Writes a text, token by token. */
async function writeText() {
  if (!model) return;
  problem.textContent = '';
  stopped = false;
  const pressed = document.activeElement === write;
  write.disabled = device.disabled = true;
  stop.disabled = false;
  if (pressed) stop.focus(); // a button that is switched off would lose the focus
  status.textContent = 'Writing.';
  const result = element('result', HTMLElement);
  result.hidden = false;
  if (matchMedia('(max-width: 49.99rem)').matches) stop.scrollIntoView({block: 'start'}); // on a phone the text is further down
  const written = new Written(tokenizer, tokenizer.answers ? `${prompt.value}\n\n` : prompt.value, {
    text: element('text', HTMLElement),
    chances: element('chances', HTMLElement),
    title: element('chancesof', HTMLElement),
    spoken: element('spoken', HTMLElement),
  });
  const settings = {
    tokens: tokens.valueAsNumber,
    temperature: temperature.valueAsNumber,
    topK: topk.value ? topk.valueAsNumber : null,
  };
  pace.textContent = '';
  const began = model;
  let count = 0;
  let first = 0; // when the first token was there: before it, the prompt is read
  let ended = false;
  try {
    for await (const step of generate(began, tokenizer, prompt.value, settings)) {
      const now = performance.now();
      if (!count++) first = now;
      else pace.textContent = `${(((count - 1) * 1000) / (now - first)).toFixed(1)} tokens a second`;
      ended = step.id === tokenizer.endId;
      written.add(step);
      if (stopped) break; // while the model reads, the page draws and its buttons work
    }
    const whole = tokenizer.answers ? 'The answer has ended' : 'The text has ended';
    status.textContent = `${ended ? whole : stopped ? 'Stopped' : 'Done'}: ${count} tokens.`;
  } catch (error) {
    if (model === began) show(error);
  } finally {
    written.finish();
    const back = document.activeElement === stop;
    stop.disabled = true;
    if (model === began) write.disabled = device.disabled = false;
    if (back) write.focus();
  }
}

form.addEventListener('submit', (event) => {
  event.preventDefault();
  writeText();
});
stop.addEventListener('click', () => {
  stopped = true;
});
device.addEventListener('change', () => {
  problem.textContent = '';
  load();
});
prompt.addEventListener('keydown', (event) => {
  if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) form.requestSubmit(write);
});
const degrees = element('degrees', HTMLOutputElement);
const showDegrees = () => (degrees.value = temperature.valueAsNumber.toFixed(2));
temperature.addEventListener('input', showDegrees);
showDegrees(); // a reloaded page may remember another value

/** Says what was loaded. */
function tellFacts() {
  const {facts, config, dtype} = description;
  const loss = facts.best === null ? '' : `, validation loss ${facts.best.toFixed(2)} nats per token`;
  element('facts', HTMLElement).textContent =
    `${facts.preset}: ${facts.parameters.toLocaleString('en')} parameters in ${dtype}, ${config.layers} layers, trained for ` +
    `${facts.step.toLocaleString('en')} steps on ${facts.source}${loss}. It sees ${config.context} tokens at once.`;
  element('whose', HTMLElement).textContent = facts.whose;
}

/** A model that was taught to answer is asked. Each question stands alone: it has learned one turn. */
function offerAsking() {
  element('asked', HTMLElement).textContent = 'Ask for a story; or give one, leave a line empty, and ask about it';
  prompt.value = 'Write a story about a brave hedgehog called Otto.';
  write.textContent = 'Ask';
}

try {
  status.textContent = 'Starting.';
  description = await fetchDescription();
  tellFacts();
  const name = 'tokenizer.json';
  tokenizer = new Tokenizer(new TextDecoder().decode(await fetchWhole(name, description)));
  if (tokenizer.answers) offerAsking();
  found = await findAdapter();
  offerDevices();
  await load();
} catch (error) {
  status.textContent = '';
  show(error);
}
