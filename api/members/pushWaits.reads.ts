// Waits for the results of pushes. A worker records the result on the event of the change; one query at a time asks for
// all events that requests of this process wait for.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Deps } from '../../platform/deps.js';
import { within } from '../../platform/within.js';
import type { EventRow } from '../../schemas/events/events.rows.js';
import type { PassUpdate } from '../../schemas/shared/passUpdate.schema.js';

export interface PushWaits {
  /** Null when the wallets did not accept the push, or nothing is known after `waitMs` or when `signal` is aborted. */
  resultOf: (eventId: string, waitMs: number, signal?: AbortSignal) => Promise<PassUpdate | null>;
}

const lookMs = 10;
/** While the newest of the waits is older than a second: a wallet is slow. */
const rareLookMs = 50;
const soonMs = 1_000;
const longestLookMs = 250;

interface Wait {
  eventId: string;
  end: (passUpdate: PassUpdate | null) => void;
}

type Seen = Pick<EventRow, '_id' | 'passUpdate' | 'pushDueAt' | 'state'>;

/** Undefined while nothing is recorded. */
function resultIn(event: Seen | undefined): PassUpdate | null | undefined {
  if (event?.passUpdate) return event.passUpdate;
  return event && event.state === 'new' && event.pushDueAt === undefined ? undefined : null;
}

export function createPushWaits({ collections, log }: Pick<Deps, 'collections' | 'log'>): PushWaits {
  const waits = new Set<Wait>();
  let newestAt = 0;
  let looking = false;

  async function look(): Promise<void> {
    const asked = [...waits];
    const ids = [...new Set(asked.map(({ eventId }) => eventId))];
    const events = await collections.events
      .find({ _id: { $in: ids } }, { projection: { passUpdate: 1, pushDueAt: 1, state: 1 } })
      .toArray();
    const seen = new Map<string, Seen>(events.map((event) => [event._id, event]));
    for (const wait of asked) {
      const result = resultIn(seen.get(wait.eventId));
      if (result !== undefined) wait.end(result);
    }
  }

  async function lookWhileWaiting(): Promise<void> {
    while (waits.size > 0) {
      await sleep(performance.now() - newestAt < soonMs ? lookMs : rareLookMs);
      const seen = look().catch((error: unknown) => log.debug({ err: error }, 'the results of pushes were not read'));
      // An answer of the database that hangs does not keep the others waiting.
      await within(seen, { ms: longestLookMs, fallback: undefined });
    }
    looking = false;
  }

  return {
    resultOf: (eventId, waitMs, signal) =>
      new Promise((resolve) => {
        const wait: Wait = {
          eventId,
          end(passUpdate) {
            clearTimeout(timeout);
            waits.delete(wait);
            resolve(passUpdate);
          },
        };
        const timeout = setTimeout(() => {
          log.info({ eventId, waitMs }, 'the result of a push is not known within the wait');
          wait.end(null);
        }, waitMs);
        signal?.addEventListener('abort', () => wait.end(null), { once: true });
        waits.add(wait);
        newestAt = performance.now();
        if (looking) return;
        looking = true;
        void lookWhileWaiting();
      }),
  };
}
