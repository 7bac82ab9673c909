// A value outside of React that components subscribe to.
import { useSyncExternalStore } from 'react';
import type { Store } from './value.js';

export { createStore, type Store } from './value.js';

export const useStore = <T>(store: Store<T>): T => useSyncExternalStore(store.subscribe, store.get);
