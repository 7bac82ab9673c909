// Reads and actions with their results. An action reports success or the reason of its failure, and its form shows the
// mistakes at its fields.
import { keepPreviousData, QueryClient, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { LoyaltyError } from '../sdk/index.js';
import { type Finding, findingsOf, refusalOf } from './refusals.js';
import { createStore, forgetKept } from './store.js';
import { fieldNames, texts } from './texts.js';

export interface Notice {
  id: number;
  kind: 'done' | 'failed';
  text: string;
  /** Takes back what is said. */
  undo: (() => void) | undefined;
}

export const notices = createStore<readonly Notice[]>([]);
let noticed = 0;
const shownMs = 8_000;

export function dismiss(id: number): void {
  notices.set(notices.get().filter((notice) => notice.id !== id));
}

export function notify(kind: Notice['kind'], text: string, undo?: () => void): number {
  noticed += 1;
  const id = noticed;
  // What was done before cannot be taken back any more by a press that was meant for this one.
  const failures = notices.get().filter((notice) => notice.kind === 'failed');
  notices.set([...failures, { id, kind, text, undo }].slice(-4));
  if (kind === 'done') setTimeout(() => dismiss(id), shownMs);
  return id;
}

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      networkMode: 'always',
      staleTime: 2_000,
      refetchOnWindowFocus: false,
      // The SDK repeats what may be repeated.
      retry: false,
    },
    mutations: { networkMode: 'always' },
  },
});

interface Read<T> {
  data: T | undefined;
  error: Error | null;
  isPending: boolean;
}

interface ReadOptions<T> {
  everyMs?: number | false | ((data: T | undefined) => number | false);
  enabled?: boolean;
  /** Keeps the rows of the previous page until the next page is loaded. */
  keep?: boolean;
}

/** `key` begins with the noun of an action's `changes`. */
export function useRead<T extends object>(
  key: readonly unknown[],
  read: () => Promise<T>,
  { everyMs = false, enabled = true, keep = false }: ReadOptions<T> = {},
): Read<T> {
  const interval =
    typeof everyMs === 'function' ? ({ state }: { state: { data: T | undefined } }) => everyMs(state.data) : everyMs;
  const { data, error, isPending } = useQuery<T>({
    queryKey: key,
    queryFn: read,
    enabled,
    refetchInterval: interval,
    placeholderData: (keep ? keepPreviousData : undefined) as never,
  });
  return { data: data as T | undefined, error, isPending };
}

/** Whether a control of a form has the mistake's path, or the beginning of it (parts/form.tsx). */
const isMarked = ({ path }: Finding): boolean =>
  path.split('.').some((_, at, parts) => {
    const controls = document.getElementsByName(parts.slice(0, at + 1).join('.'));
    return [...controls].some((control) => control.closest('form') !== null);
  });

/** What a failed action says; undefined where a form says it at its fields. */
function sentenceOf(error: Error, unanswered: string): string | undefined {
  const code = error instanceof LoyaltyError ? error.code : '';
  if (code === 'NETWORK') return unanswered;
  const findings = findingsOf(error);
  if (code !== 'VALIDATION_FAILED' || findings.length === 0) return refusalOf(error);
  const others = findings.filter((finding) => !isMarked(finding));
  if (others.length === 0) return undefined;
  return texts.frame.wrongElsewhere(
    others.map(({ path, message }) => texts.frame.wrong(labelOf(path), message)).join('; '),
  );
}

/** The name that a field of the API has on the screen. */
const labelOf = (path: string): string => fieldNames[path] ?? path;

/** When an attempt or a push that follows an action has usually ended. */
const followedMs = [500, 2_000];

export interface ActionOptions<I, O> {
  /** Shown on success; undefined where the page itself says it. */
  said?: string | ((out: O, input: I) => string | undefined);
  /** Takes the change back; offered with what is said. */
  undo?: (out: O) => void;
  /** The nouns whose reads are repeated. */
  changes?: readonly string[];
  /** Shown when no answer came. */
  unanswered?: string;
  onDone?: (out: O, input: I) => void;
}

export function useAction<I = void, O = unknown>(act: (input: I) => Promise<O>, options: ActionOptions<I, O> = {}) {
  const client = useQueryClient();
  const shown = useRef<number>(undefined);
  /** Takes back what was said of a failure: the action runs again, or its page is left. */
  const unsay = () => {
    if (shown.current !== undefined) dismiss(shown.current);
    shown.current = undefined;
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when the page is left
  useEffect(() => unsay, []);
  const readAgain = () => {
    for (const noun of options.changes ?? []) void client.invalidateQueries({ queryKey: [noun] });
  };
  const mutation = useMutation<O, Error, I>({
    mutationFn: act,
    onMutate: unsay,
    onSuccess(out, input) {
      readAgain();
      for (const ms of followedMs) setTimeout(readAgain, ms);
      const { said, undo } = options;
      const sentence = typeof said === 'function' ? said(out, input) : said;
      if (sentence !== undefined) {
        const id = notify('done', sentence, undo && (() => undo(out)));
        // Elsewhere there may be something else to undo.
        if (undo) shown.current = id;
      }
      options.onDone?.(out, input);
    },
    onError(error) {
      const code = error instanceof LoyaltyError ? error.code : '';
      // The cached reads are outdated.
      if (error instanceof LoyaltyError && [404, 409].includes(error.status)) readAgain();
      const sentence = sentenceOf(error, options.unanswered ?? texts.frame.notAnswered);
      if (sentence !== undefined && code !== 'AUTHENTICATION_REQUIRED' && code !== 'INVALID_TOKEN')
        shown.current = notify('failed', sentence);
    },
  });
  const findings = findingsOf(mutation.error);
  return { run: mutation.mutate, isRunning: mutation.isPending, findings, reset: mutation.reset };
}

/**
 * Keeps what was typed in this tab until it is sent, so that a reload, a sign-in or a new version loses nothing. While
 * nothing is typed, it is `current`.
 */
export function useDraft<T>(key: string, current: T): [T, (next: T) => void, () => void] {
  const name = `draft:${key}`;
  const [typed, setTyped] = useState<{ value: T } | null>(() => {
    try {
      const kept = sessionStorage.getItem(name);
      return kept === null ? null : { value: JSON.parse(kept) as T };
    } catch {
      return null;
    }
  });
  const set = (value: T) => {
    setTyped({ value });
    try {
      sessionStorage.setItem(name, JSON.stringify(value));
    } catch {
      // Too large for the browser's storage: it is kept only on the page.
    }
  };
  const clear = () => {
    forgetKept(name);
    setTyped(null);
  };
  return [typed ? typed.value : current, set, clear];
}

/** The value once it has not changed for this many milliseconds. */
export function useSettled<T>(value: T, ms: number): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}
