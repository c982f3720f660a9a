// An error that a person can do something about: its message is a sentence for the page.

export class Problem extends Error {}

/**
 * What to show for anything that was thrown.
 * @param {unknown} error
 * @returns {string}
 */
export function sentence(error) {
  if (error instanceof Problem) return error.message;
  return `Something went wrong that this page does not know: ${error instanceof Error ? error.message : String(error)}`;
}
