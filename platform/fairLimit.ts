// Shares a number of slots among owners (merchants) and their keys (subscriptions). A slot may be held for long and is
// never taken back, so each owner leaves room for the next one:
// - A key gets a further slot only while more slots are free than its owner's slots and its own, added up. A single
//   owner of many keys thus gets about half of all slots, and each of n owners 1/(n+1).
// - Exception: a key's first four slots do not count what its owner holds, so that busy keys do not block the others.
//   The first is given while at least 1/16 of all slots is free, the second while 2/16 are, and so on.
// - A slot that becomes free goes to the waiting owner with the fewest slots, and of its keys to the one with the
//   fewest.
// Not bottleneck or p-queue, which share no slots among owners and withdraw no request.

/** A request for one slot. The object itself identifies the request to `withdraw`. */
export interface SlotRequest {
  owner: string;
  key: string;
  /** True when the request must not use the slots of `reserved`. */
  deferred?: boolean;
  /** The request is withdrawn after this wait; default: no limit. */
  maxWaitMs?: number;
}

export interface FairLimitOptions {
  total: number;
  /** The maximum number of slots of one key; default: no limit of its own. */
  perKey?: number;
  /** Slots of `total` that deferred requests never get; must be below `total`. */
  reserved?: number;
}

/** The request was withdrawn before it got a slot. */
export class Withdrawn extends Error {
  override readonly name = 'Withdrawn';
}

export interface FairLimit {
  /** Runs `work` as soon as a slot is free for it, and returns its result. Throws Withdrawn. */
  run<T>(request: SlotRequest, work: () => Promise<T>): Promise<T>;
  /** True when the request was still waiting; its `run` then throws Withdrawn. */
  withdraw(request: SlotRequest): boolean;
  /** How many requests of the key would get a slot now. */
  room(owner: string, key: string): number;
  /** The number of slots that the key holds. */
  heldBy(key: string): number;
  /** For how many milliseconds the oldest slot of the key has been held; 0 when the key holds none. */
  oldestMs(key: string): number;
  /** The number of keys that hold a slot or wait for one. */
  busyKeys(): number;
}

interface Waiting {
  request: SlotRequest;
  begin: () => void;
  refuse: (error: Error) => void;
}

type Queue = Map<SlotRequest, Waiting>;

/** The start times of the held slots of a key, oldest first, and its waiting requests in the order of the calls. */
interface KeyState {
  held: Set<{ since: number }>;
  waiting: { deferred: Queue; others: Queue };
}

const queueOf = ({ waiting }: KeyState, { deferred }: SlotRequest): Queue =>
  deferred ? waiting.deferred : waiting.others;
const waitingIn = ({ waiting }: KeyState): number => waiting.deferred.size + waiting.others.size;
const headOf = (queue: Queue): Waiting | undefined => queue.values().next().value;

const mostBeyondShare = 4;
const partBeyondShare = 1 / 16;

export function createFairLimit({ total, perKey = total, reserved = 0 }: FairLimitOptions): FairLimit {
  const keys = new Map<string, KeyState>();
  const waitingKeys = new Set<KeyState>();
  const heldByOwner = new Map<string, number>();
  let held = 0;
  let heldDeferred = 0;

  /** How many slots a key may hold, regardless of its owner's share. */
  const beyondShare = (free: number): number => Math.min(mostBeyondShare, Math.floor(free / (total * partBeyondShare)));
  const heldOf = (owner: string): number => heldByOwner.get(owner) ?? 0;

  function stateOf(key: string): KeyState {
    const known = keys.get(key);
    if (known) return known;
    const made: KeyState = { held: new Set(), waiting: { deferred: new Map(), others: new Map() } };
    keys.set(key, made);
    return made;
  }

  function mayBegin({ owner, deferred }: SlotRequest, state: KeyState): boolean {
    if (deferred && heldDeferred >= total - reserved) return false;
    const free = total - held;
    return free > 0 && state.held.size < Math.min(perKey, Math.max(free - heldOf(owner), beyondShare(free)));
  }

  function dropIfIdle(key: string, state: KeyState): void {
    if (waitingIn(state) > 0) return;
    waitingKeys.delete(state);
    if (state.held.size === 0) keys.delete(key);
  }

  function count({ owner, deferred }: SlotRequest, by: 1 | -1): void {
    held += by;
    if (deferred) heldDeferred += by;
    const ofOwner = heldOf(owner) + by;
    if (ofOwner === 0) heldByOwner.delete(owner);
    else heldByOwner.set(owner, ofOwner);
  }

  /** A waiting request of the owner with the fewest slots, and among its keys the one with the fewest slots. */
  function next(): Waiting | undefined {
    let best: { head: Waiting; ofOwner: number; ofKey: number } | undefined;
    for (const state of waitingKeys) {
      const { others, deferred } = state.waiting;
      const head = [headOf(others), headOf(deferred)].find((waiting) => waiting && mayBegin(waiting.request, state));
      if (!head) continue;
      const ofOwner = heldOf(head.request.owner);
      const ofKey = state.held.size;
      if (!best || ofOwner < best.ofOwner || (ofOwner === best.ofOwner && ofKey < best.ofKey))
        best = { head, ofOwner, ofKey };
    }
    return best?.head;
  }

  async function hold<T>(request: SlotRequest, state: KeyState, work: () => Promise<T>): Promise<T> {
    const slot = { since: performance.now() };
    state.held.add(slot);
    count(request, 1);
    try {
      return await work();
    } finally {
      state.held.delete(slot);
      count(request, -1);
      dropIfIdle(request.key, state);
      for (let waiting = next(); waiting; waiting = next()) waiting.begin();
    }
  }

  function withdraw(request: SlotRequest): boolean {
    const state = keys.get(request.key);
    const waiting = state && queueOf(state, request).get(request);
    if (!state || !waiting) return false;
    queueOf(state, request).delete(request);
    dropIfIdle(request.key, state);
    waiting.refuse(new Withdrawn('The request for a slot was withdrawn.'));
    return true;
  }

  return {
    run(request, work) {
      const state = stateOf(request.key);
      const queue = queueOf(state, request);
      if (queue.size === 0 && mayBegin(request, state)) return hold(request, state, work);
      waitingKeys.add(state);
      return new Promise((resolve, reject) => {
        const begin = () => {
          queue.delete(request);
          hold(request, state, work).then(resolve, reject);
          dropIfIdle(request.key, state);
        };
        queue.set(request, { request, begin, refuse: reject });
        // A request that has its slot cannot be withdrawn.
        if (request.maxWaitMs !== undefined) setTimeout(() => withdraw(request), request.maxWaitMs).unref();
      });
    },

    withdraw,

    room(owner, key) {
      const state = keys.get(key);
      if (state && waitingIn(state) > 0) return 0;
      const ofKey = state?.held.size ?? 0;
      // Each further slot reduces the free slots by one and adds one to those of the owner and the key.
      const free = total - held;
      const share = Math.floor((free - heldOf(owner) - ofKey + 2) / 3);
      return Math.max(Math.min(Math.max(share, beyondShare(free) - ofKey), perKey - ofKey), 0);
    },

    heldBy: (key) => keys.get(key)?.held.size ?? 0,

    oldestMs(key) {
      const oldest = keys.get(key)?.held.values().next().value;
      return oldest ? performance.now() - oldest.since : 0;
    },

    busyKeys: () => keys.size,
  };
}
