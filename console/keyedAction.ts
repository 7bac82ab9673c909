// Changes that the service applies once for each idempotency key, however often their button is pressed.
import { useRef, useState } from 'react';
import { type ActionOptions, useAction } from './actions.js';
import { forgetKept } from './store.js';
import { texts } from './texts.js';

interface Header {
  'Idempotency-Key': string;
}

/** How long after its last press a change that was not answered keeps its key. */
const keptMs = 300_000;

const nameOf = (change: readonly unknown[]): string => `change:${JSON.stringify(change)}`;

/** The key of a change: that of the same change again, until it was answered, or for so long after this press. */
export function keyOf(change: readonly unknown[], forMs = keptMs): string {
  const name = nameOf(change);
  let key: string = crypto.randomUUID();
  try {
    const kept = JSON.parse(sessionStorage.getItem(name) ?? '{}') as { key?: string; until?: number };
    if (kept.key !== undefined && Date.now() < Number(kept.until)) key = kept.key;
    sessionStorage.setItem(name, JSON.stringify({ key, until: Date.now() + forMs }));
  } catch {
    // The browser stores nothing: the key is for this press only.
  }
  return key;
}

/** The second press of a double click comes within this time after the first was answered. */
const doubleClickMs = 500;

/**
 * `keyed` gives the header of a change, whose parts say the whole of it. When the answer is lost, pressing again sends
 * the same key, also after a reload. A press while the action runs, or right after it, does nothing.
 */
export function useKeyedAction<I = void, O = unknown>(
  act: (input: I, keyed: (...change: unknown[]) => Header) => Promise<O>,
  options: ActionOptions<I, O>,
) {
  const isBusy = useRef(false);
  const [isSettling, setIsSettling] = useState(false);
  const settle = (is: boolean) => {
    isBusy.current = is;
    setIsSettling(is);
  };
  async function once(input: I): Promise<O> {
    const names: string[] = [];
    const keyed = (...change: unknown[]) => {
      names.push(nameOf(change));
      return { 'Idempotency-Key': keyOf(change) };
    };
    try {
      const out = await act(input, keyed);
      names.forEach(forgetKept);
      setTimeout(() => settle(false), doubleClickMs);
      return out;
    } catch (error) {
      settle(false);
      throw error;
    }
  }
  const action = useAction(once, { unanswered: texts.frame.pressAgain, ...options });
  const run = (...given: Parameters<typeof action.run>) => {
    if (isBusy.current) return;
    settle(true);
    action.run(...given);
  };
  return { ...action, run, isRunning: action.isRunning || isSettling };
}
