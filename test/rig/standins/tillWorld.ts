// A browser with several tabs of the till, which can be killed between any two steps, and a service whose answers get
// lost. Only the database is real.

import type { CallOptions } from '../../../console/till/calls.js';
import { createTillStore, type TillStore } from '../../../console/till/store.js';
import type { Answer, Device } from '../../../console/till/taps.js';
import { createTill, type Till } from '../../../console/till/till.js';

/** What becomes of one request. */
export type Fate = 'answered' | 'requestLost' | 'answerLost' | 'busy' | 'failed' | 'inUse' | 'portal' | 'tooMany';

interface Body {
  memberCode: string;
  phone?: string;
  /** Absent in the taps of people. */
  sequence?: number;
  quantity?: number;
  undoes?: number;
}

/** How many port calls a tab has left, and whether the last one is still carried out. */
export interface Death {
  after: number;
  isDone: boolean;
}

/** The store with each of its calls as a step of a tab. */
export function steppedStore(store: TillStore, step: <T>(work: () => Promise<T>) => Promise<T>): TillStore {
  const methods = Object.entries(store).map(([method, work]) => [
    method,
    method === 'close'
      ? work
      : (...given: never[]) => step(() => (work as (...all: never[]) => Promise<unknown>)(...given)),
  ]);
  return Object.fromEntries(methods) as unknown as TillStore; // the same methods
}

const never = <T>(): Promise<T> => new Promise<T>(() => {});
const goal = 10;
const gold = 8;

function createService() {
  const decided = new Map<string, { sequence: number; code: string; answer: Answer }>();
  const keysOf = new Map<number, Set<string>>();
  const balances = new Map<string, number>();
  let changes: { code: string; sequence: number; delta: number; undone: boolean }[] = [];

  function decide({ memberCode: code, sequence = 0, quantity = 1, undoes = sequence }: Body, path: string): Answer {
    const balance = balances.get(code) ?? 0;
    const refuse = (failure: string): Answer => ({
      status: failure === 'CARD_FULL' ? 400 : 409,
      error: { code: failure, message: failure, display: `Sorry: ${failure}` },
    });
    const change = (delta: number): Answer => {
      balances.set(code, balance + delta);
      if (path !== '/till/undo') changes = [...changes, { code, sequence, delta, undone: false }];
      return { status: 200, data: { current: balance + delta } };
    };
    if (path === '/till/redeem') return balance < goal ? refuse('CARD_NOT_FULL') : change(-balance);
    if (path === '/till/earn') return balance + quantity > goal ? refuse('CARD_FULL') : change(quantity);
    const last = changes.findLast((each) => each.code === code);
    if (!last || last.sequence !== undoes || last.undone || balance - last.delta > goal || balance < last.delta)
      return refuse('NOTHING_TO_UNDO');
    last.undone = true;
    return change(-last.delta);
  }

  return {
    decided,
    keysOf,
    balances,
    take(path: string, body: Body, key: string): Answer {
      const { sequence = 0 } = body;
      keysOf.set(sequence, (keysOf.get(sequence) ?? new Set()).add(key));
      const known = decided.get(key);
      if (known) return { ...known.answer, isRepeat: true };
      const answer = decide(body, path);
      decided.set(key, { sequence, code: body.memberCode, answer });
      return answer;
    },
  };
}

const failures: Partial<Record<Fate, Answer>> = {
  busy: { status: 503, error: { code: 'UNAVAILABLE', message: 'later' }, retryAfterMs: 5_000 },
  failed: { status: 500, error: { code: 'INTERNAL', message: 'sorry' } },
  inUse: { status: 409, error: { code: 'IDEMPOTENCY_KEY_IN_USE', message: 'wait' } },
  portal: { status: 200 },
  tooMany: { status: 429, error: { code: 'RATE_LIMITED', message: 'wait' }, retryAfterMs: 30_000 },
};

export function createWorld(name: string) {
  const service = createService();
  const fates: Fate[] = [];
  let clock = Date.parse('2026-03-01T09:00:00Z');
  let pending = 0;
  let keys = 0;
  let isOnline = true;
  let isRevoked = false;
  let skewMs = 0;
  let user = 'u';
  let timers: { due: number; work: () => void; tab: Tab }[] = [];
  let queue: { tab: Tab; run: () => void }[] = [];
  let holder: Tab | undefined;
  const tabs = new Set<Tab>();
  const phones = new Map<string, string>();
  const programs: object[] = [];
  let helloGate = Promise.resolve();
  const hellos: { lastSequence: number; waiting: number }[] = [];

  interface Tab {
    till: Till;
    isAlive: boolean;
    kill: () => void;
  }

  function nextHolder(): void {
    holder = undefined;
    const next = queue.shift();
    if (!next) return;
    holder = next.tab;
    next.run();
  }

  function lookUp(memberCode: string): Answer {
    const balance = service.balances.get(memberCode);
    if (balance === undefined) return { status: 404, error: { code: 'MEMBER_NOT_FOUND', message: 'unknown' } };
    const person = { memberCode, firstName: 'Ada', lastInitial: 'L' };
    const tier = balance < gold ? 'Silver' : 'Gold';
    const known = { ...person, balance, tier: programs.length === 0 ? null : tier };
    return { status: 200, data: { ...known, rewards: [], status: 'active' }, programId: 'p' };
  }

  async function answerTo(path: string, body: unknown, { key, token }: CallOptions): Promise<Answer> {
    await new Promise((resolve) => setImmediate(resolve));
    if (!isOnline) return { status: 0 };
    if (path === '/auth/session')
      return { status: 200, data: { user: { id: user }, merchant: { id: 'm' }, permissions: ['till:use'] } };
    if (isRevoked && token !== 'lpr_y')
      return { status: 401, error: { code: 'INVALID_TOKEN', message: 'The reader is revoked.' } };
    if (path === '/till/pair') return { status: 200, data: { reader: { id: 'r1' }, token: 'lpr_x' } };
    if (path === '/till/lookup') {
      const { phone, memberCode } = body as Body;
      return lookUp(phone === undefined ? memberCode.toUpperCase() : (phones.get(phone) ?? ''));
    }
    if (path === '/till/hello') {
      await helloGate;
      hellos.push(body as { lastSequence: number; waiting: number });
      const now = new Date(clock).toISOString();
      const data = { reader: null, merchant: { name: 'Café' }, programs, lookupBy: ['phone'], now };
      return { status: 200, data };
    }
    const fate = fates.shift() ?? 'answered';
    if (fate === 'requestLost') return { status: 0 };
    const failure = failures[fate];
    if (failure) return failure;
    const answer = service.take(path, body as Body, key ?? '');
    return fate === 'answerLost' ? { status: 0 } : answer;
  }

  function openTab(death?: Death): Tab {
    const store = createTillStore(name);
    let left = death?.after ?? Number.POSITIVE_INFINITY;
    const tab: Tab = {
      till: undefined as unknown as Till, // given below, since it needs the tab
      isAlive: true,
      kill() {
        if (!tab.isAlive) return;
        tab.isAlive = false;
        tabs.delete(tab);
        queue = queue.filter((each) => each.tab !== tab);
        timers = timers.filter((each) => each.tab !== tab);
        if (holder === tab) nextHolder();
      },
    };
    /** One step of the tab, which may be its last one. */
    async function step<T>(work: () => Promise<T>): Promise<T> {
      if (!tab.isAlive) return never();
      left -= 1;
      if (left < 0 && !death?.isDone) tab.kill();
      if (!tab.isAlive) return never();
      pending += 1;
      try {
        return await work();
      } finally {
        pending -= 1;
        if (left < 0) tab.kill();
        // biome-ignore lint/correctness/noUnsafeFinally: a dead tab hears no answer
        if (!tab.isAlive) return never();
      }
    }
    tab.till = createTill({
      store: steppedStore(store, step),
      // What it answers is what the till reads of the answers of the service.
      call: (path, body, options) => step(() => answerTo(path, body, options) as Promise<Answer<never>>),
      now: () => clock + skewMs,
      newKey: () => `key-${++keys}-0000`,
      lock: (work) =>
        new Promise<void>((resolve, reject) => {
          const run = () => {
            work()
              .then(resolve, reject)
              .finally(() => holder === tab && nextHolder());
          };
          if (!tab.isAlive) return;
          if (holder) queue.push({ tab, run });
          else {
            holder = tab;
            run();
          }
        }),
      announce() {
        for (const other of tabs) if (other !== tab) void other.till.refresh();
      },
      later: (ms, work) => timers.push({ due: clock + ms, work, tab }),
    });
    tabs.add(tab);
    return tab;
  }

  /** Waits until no step is under way. */
  async function settle(): Promise<void> {
    for (let quiet = 0; quiet < 5; quiet = pending === 0 ? quiet + 1 : 0)
      await new Promise((resolve) => setImmediate(resolve));
  }

  return {
    service,
    fates,
    hellos,
    /** Member codes by phone number. */
    phones,
    /** Of the hello; with one of them members have a tier. */
    programs,
    tabs,
    openTab,
    settle,
    store: createTillStore(name),
    now: () => clock,
    setSkew(ms: number) {
      skewMs = ms;
    },
    holdHellos(until: Promise<void>) {
      helloGate = until;
    },
    revoke() {
      isRevoked = true;
    },
    signIn(id: string) {
      user = id;
    },
    setOnline(value: boolean) {
      isOnline = value;
    },
    async pass(ms: number): Promise<void> {
      clock += ms;
      const due = timers.filter((timer) => timer.due <= clock);
      timers = timers.filter((timer) => timer.due > clock);
      for (const { work } of due) work();
      await settle();
    },
  };
}

export const aDevice: Device = { id: 'reader:r1:p1', token: 'lpr_x', counted: 0, aheadMs: 0 };
