// Sends the taps that wait, in order for each member and each with its own key, until the service has decided. Only one
// tab of the browser sends at a time.
import type { Call } from './calls.js';
import type { TillStore } from './store.js';
import { type Answer, type Device, requestOf, type Tap, verdictOf } from './taps.js';

export interface Ports {
  store: TillStore;
  call: Call;
  now: () => number;
  newKey: () => string;
  /** Runs the work while no other tab runs one. */
  lock: (work: () => Promise<void>) => Promise<void>;
  /** Lets the other tabs know that something changed. */
  announce: () => void;
  later: (ms: number, work: () => void) => void;
}

interface Listener {
  onAnswer: (answer: Answer) => void;
  onSettled: (tap: Tap, answer: Answer<{ current: number }>) => Promise<void>;
  /** The device whose taps may be sent, if there is one. */
  sendable: () => Promise<Device | undefined>;
}

interface Wait {
  since: number;
  until: number;
}

/** Several members' taps are under way at once, so that a slow one holds up no other. */
const lanes = 4;
const firstWaitMs = 1_000;
const longestWaitMs = 60_000;

const nothingToUndo = { code: 'NOTHING_TO_UNDO', message: 'The change was refused.' };

export function createSender(ports: Ports, { onAnswer, onSettled, sendable }: Listener) {
  const { store, call, now, lock, later } = ports;
  /** When a member's tap, or with the empty name anything at all, is tried again. */
  const waits = new Map<string, Wait & { times: number }>();
  /** The service asked for patience. */
  let closed: Wait | undefined;
  let wake: (() => void) | undefined;
  let isQueued = false;
  /** Only the plan that was made last is carried out. */
  let plan = 0;

  /** The service does not count the taps of people, so it cannot know which of them an undo means. */
  async function answerTo(tap: Tap, device: Device): Promise<Answer<{ current: number }>> {
    const undone = tap.kind === 'undo' ? tap.undoes : undefined;
    if (undone !== undefined && device.token === undefined) {
      const taps = await store.taps();
      const change = taps.find(({ device: of, sequence }) => of === tap.device && sequence === undone);
      if (change?.state === 'refused') return { status: 409, error: nothingToUndo };
    }
    // That it is sent matters more than that the device notes so.
    await store.markTried(tap.id).catch(() => undefined);
    const { path, body } = requestOf(tap, device);
    return call(path, body, { token: device.token, key: tap.key });
  }

  function waitFor(name: string, retryAfterMs = 0): void {
    const times = (waits.get(name)?.times ?? 0) + 1;
    const since = now();
    waits.set(name, { times, since, until: since + Math.min(firstWaitMs * 2 ** (times - 1), longestWaitMs) });
    if (retryAfterMs > 0) closed = { since, until: Math.max(endOf(closed), since + retryAfterMs) };
  }
  /** 0 for a wait that is over, also because the clock of the device was put back. */
  const endOf = (wait: Wait | undefined): number =>
    wait && wait.since <= now() && now() < wait.until ? wait.until : 0;
  const hasToWait = (name: string): boolean => endOf(waits.get(name)) > 0;

  async function pump(): Promise<void> {
    const device = await sendable();
    if (!device) return;
    const busy = new Map<string, Promise<void>>();
    let stopped = false;

    async function send(tap: Tap): Promise<void> {
      const answer = await answerTo(tap, device as Device);
      onAnswer(answer);
      const verdict = verdictOf(answer);
      const isAboutAll = answer.status === 0 || verdict === 'shutOut';
      if (!isAboutAll) waits.delete('');
      if (verdict === 'sent' || verdict === 'refused') {
        const { display, message } = answer.error ?? {};
        const why = display ?? message;
        await store.settle(tap.id, { state: verdict, ...(why !== undefined && { why }) });
        await onSettled(tap, answer);
        waits.delete(tap.code);
        return;
      }
      stopped ||= isAboutAll || answer.status === 429;
      waitFor(isAboutAll ? '' : tap.code, answer.retryAfterMs);
    }

    for (;;) {
      const woken = new Promise<void>((resolve) => {
        wake = resolve;
      });
      const waiting = await store.waiting();
      for (const tap of waiting) {
        if (stopped || busy.size >= lanes) break;
        if (tap.device !== device.id || hasToWait(tap.code) || busy.has(tap.code)) continue;
        busy.set(
          tap.code,
          send(tap)
            // A device that cannot store is asked again later; the service knows the key.
            .catch(() => waitFor(tap.code))
            .then(() => {
              busy.delete(tap.code);
              wake?.();
            }),
        );
      }
      if (busy.size === 0) break;
      await woken;
    }
    wake = undefined;
    await planNext(device);
  }

  async function planNext(device: Device): Promise<void> {
    const own = (await store.waiting()).filter((tap) => tap.device === device.id);
    if (own.length === 0) return;
    const dues = own.map(({ code }) => endOf(waits.get(code)));
    const due = Math.max(Math.min(...dues), endOf(waits.get('')), endOf(closed), now());
    plan += 1;
    const mine = plan;
    later(due - now() + 1, () => void (mine === plan && flush()));
  }

  /** Sends what waits. `urgent`: also before the time of the next attempt, because the line may be back. */
  function flush(urgent = false): Promise<void> {
    wake?.();
    if (urgent) waits.clear();
    if (isQueued || endOf(closed) > 0 || hasToWait('')) return Promise.resolve();
    isQueued = true;
    return lock(async () => {
      isQueued = false;
      await pump();
    }).catch(() => {
      isQueued = false;
    });
  }

  return flush;
}
