// Asks before a page with edits that are not saved is left: by a link, by the browser's Back, or with the tab.
import { useEffect } from 'react';
import { useLocation } from 'wouter';
import { Confirm } from './parts/dialog.js';
import { createStore, useStore } from './store.js';
import { texts } from './texts.js';

const said = texts.frame;

const unsaved = new Set<object>();
/** How to leave, once the person has agreed. */
const asked = createStore<(() => void) | null>(null);
let shown = window.location.href;
let isLeaving = false;

/** While `isUnsaved`, leaving the page is asked about. */
export function useUnsaved(isUnsaved: boolean): void {
  useEffect(() => {
    if (!isUnsaved) return;
    const own = {};
    unsaved.add(own);
    return () => void unsaved.delete(own);
  }, [isUnsaved]);
}

/** Listens before the router does, which is started later. */
export function watchLeaving(): void {
  window.addEventListener('beforeunload', (event) => {
    if (unsaved.size > 0 && !isLeaving) event.preventDefault();
  });
  window.addEventListener(
    'popstate',
    (event) => {
      const isSamePage = new URL(shown).pathname === window.location.pathname;
      if (unsaved.size === 0 || isLeaving || isSamePage) return;
      event.stopImmediatePropagation();
      window.history.pushState(null, '', shown);
      asked.set(() => window.history.back());
    },
    true,
  );
}

/** Without a question: the tab keeps what was typed. */
export function reload(): void {
  isLeaving = true;
  window.location.reload();
}

function linkOf({ target, defaultPrevented, button, metaKey, ctrlKey, shiftKey, altKey }: MouseEvent) {
  const link = target instanceof Element ? target.closest<HTMLAnchorElement>('a[href]') : null;
  const opensElsewhere = defaultPrevented || button !== 0 || metaKey || ctrlKey || shiftKey || altKey;
  if (!link || opensElsewhere || link.target === '_blank' || link.hasAttribute('download')) return;
  return link.pathname === window.location.pathname ? undefined : link;
}

export function LeaveQuestion() {
  const leave = useStore(asked);
  const [location] = useLocation();
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page is shown
  useEffect(() => {
    shown = window.location.href;
    isLeaving = false;
  }, [location]);
  useEffect(() => {
    const look = (event: MouseEvent) => {
      const link = unsaved.size > 0 && !isLeaving ? linkOf(event) : undefined;
      if (!link) return;
      event.preventDefault();
      event.stopPropagation();
      asked.set(() => link.click());
    };
    document.addEventListener('click', look, true);
    return () => document.removeEventListener('click', look, true);
  }, []);
  if (!leave) return null;
  return (
    <Confirm
      title={said.leaveTitle}
      action={said.leave}
      onConfirm={() => {
        isLeaving = true;
        asked.set(null);
        leave();
      }}
      onClose={() => asked.set(null)}
    >
      <p>{said.leaveHint}</p>
    </Confirm>
  );
}
