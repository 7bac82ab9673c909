// The hops of the live desk, grouped by what started them: a change, a card that was added, a restart.

export type Start =
  | 'changed'
  | 'touched'
  | 'added'
  | 'flightOn'
  | 'flightOff'
  | 'killed'
  | 'starting'
  | 'ready'
  | 'mail';
export type Step = 'add' | 'register' | 'push' | 'list' | 'fetch' | 'face' | 'saved';

export interface Hop {
  id: number;
  at: number;
  who: 'iphone' | 'android' | 'apns' | 'desk' | 'mail';
  what: Start | Step;
  memberId?: string;
  name?: string;
  detail?: string;
  lockScreen?: string;
  /** The name of a mail, which the desk shows as a page. */
  mail?: string;
}

export interface Change {
  start: Hop;
  /** Oldest first. */
  steps: Hop[];
}

const steps: readonly string[] = ['add', 'register', 'push', 'list', 'fetch', 'face', 'saved'] satisfies Step[];
const isStep = ({ what }: Hop) => steps.includes(what);

/**
 * Newest first. A step belongs to the last start of its member before it; a step without a start begins a group of its
 * own.
 */
export function changesOf(hops: readonly Hop[]): Change[] {
  // Of the same millisecond, the start comes first.
  const inOrder = hops.toSorted((one, other) => one.at - other.at || Number(isStep(one)) - Number(isStep(other)));
  const changes: Change[] = [];
  const ofMember = new Map<string | undefined, Change>();
  for (const hop of inOrder) {
    const known = isStep(hop) ? ofMember.get(hop.memberId) : undefined;
    if (known) {
      known.steps.push(hop);
      continue;
    }
    const change = { start: hop, steps: [] };
    changes.push(change);
    if (hop.memberId !== undefined) ofMember.set(hop.memberId, change);
  }
  return changes.toReversed();
}
