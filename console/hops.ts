// The hops of the live desk, grouped by what started them: a change, a card that was added, a restart.

/** What begins a group of hops. The console shows the time of the others since then. */
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

const steps = ['add', 'register', 'push', 'list', 'fetch', 'face', 'saved'] as const;
export type Step = (typeof steps)[number];

export interface Hop {
  id: number;
  at: number;
  who: 'iphone' | 'android' | 'apns' | 'desk' | 'mail';
  what: Start | Step;
  /** The member whose card it is about, and how the console calls that person. */
  memberId?: string;
  name?: string;
  detail?: string;
  lockScreen?: string;
  /** Google put its message onto the card without showing it on the lock screen. */
  isSilent?: boolean;
  /** The page of the mail is `/mails/<name>` of the desk. */
  mail?: string;
}

export interface Change {
  start: Hop;
  /** Oldest first. */
  steps: Hop[];
}

const isStep = ({ what }: Hop): boolean => (steps as readonly string[]).includes(what);

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
