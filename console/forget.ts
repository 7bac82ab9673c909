// What this tab forgets about a person who was deleted for good, so that the browser's Back shows nothing of the person:
// what was read, the calls that were made, what was typed, and the words of earlier searches.
import { queryClient } from './actions.js';
import { calls } from './api.js';

let hasForgotten = false;
const searches = new Set<string>();

/** Remembers that these words were searched for since the last person was forgotten. */
export const noteSearch = (words: string): void => void searches.add(words);

/** Whether a search in the address may be shown: one from before somebody was forgotten may have the person's name. */
export const isSearchKept = (words: string): boolean => !hasForgotten || searches.has(words);

export function forgetPerson(id: string): void {
  hasForgotten = true;
  searches.clear();
  calls.set([]);
  queryClient.removeQueries({ predicate: ({ queryKey: [noun] }) => noun !== 'session' });
  // What was typed about the person, and what was sent without an answer (keyedAction.ts).
  for (const key of Object.keys(sessionStorage))
    if (key.endsWith(`:${id}`) || key.startsWith('change:')) sessionStorage.removeItem(key);
}
