// A value outside of React that components subscribe to, and what this tab keeps of what was typed.
import { useSyncExternalStore } from 'react';
import type { Store } from './value.js';

export { createStore, type Store } from './value.js';

export const useStore = <T>(store: Store<T>): T => useSyncExternalStore(store.subscribe, store.get);

export function forgetKept(name: string): void {
  try {
    sessionStorage.removeItem(name);
  } catch {
    // The browser stores nothing.
  }
}
