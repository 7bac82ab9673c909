// What changed the cards on the phones, found by reading the members and their ledgers after each push.
import { z } from 'zod';
import type { Hop } from '../../../console/hops.js';

export interface Who {
  memberId: string;
  name: string;
}

export interface ChangesOptions {
  /** The `data` of an answer to `GET /merchants/me/members/<id><path>`. */
  read: (memberId: string, path: string) => Promise<unknown>;
  append: (hop: Omit<Hop, 'id'>) => void;
  now?: () => number;
}

export interface Changes {
  /** From now on the changes of this card are looked for. */
  added: (memberId: string) => void;
  /** Notes what changed since the last look, with the time at which it was stored. Ends when it is noted. */
  look: (who: Who, pushed?: boolean) => Promise<void>;
}

const time = z.string().transform((text) => Date.parse(text));
const memberData = z.object({
  updatedAt: time,
  program: z.object({ fields: z.object({ primaryLabel: z.string() }) }),
});
const ledgerData = z.object({
  items: z.array(z.object({ id: z.string(), previous: z.number(), current: z.number(), createdAt: time })),
});

/** A push without a stored change, such as that of a new design, is told apart from the last change after this time. */
const sameChangeMs = 60_000;

export function createChanges({ read, append, now = Date.now }: ChangesOptions): Changes {
  /** By member: the time of adding, that of the newest change in the log, and the ledger rows in the log. */
  const known = new Map<string, { from: number; at: number; entries: Set<string> }>();
  let looking: Promise<void> = Promise.resolve();

  async function noteChanges({ memberId, name }: Who, at: number, pushed: boolean): Promise<void> {
    const last = known.get(memberId);
    if (!last) return;
    // The member first: a change between the two reads is then in the ledger, and no touch without a row.
    const { updatedAt, program } = memberData.parse(await read(memberId, ''));
    const { items } = ledgerData.parse(await read(memberId, '/transactions?pageSize=10'));
    const entries = items.filter(({ id, createdAt }) => !last.entries.has(id) && createdAt > last.from);
    for (const { id, previous, current, createdAt } of entries.toReversed()) {
      last.entries.add(id);
      last.at = Math.max(last.at, createdAt);
      const detail = `${program.fields.primaryLabel}: ${previous} → ${current}`;
      append({ at: createdAt, memberId, name, who: 'desk', what: 'changed', detail });
    }
    if (entries.length > 0 || !pushed) return;
    const since = updatedAt > last.at ? updatedAt : at;
    if (since === at && at - last.at < sameChangeMs) return;
    last.at = since;
    append({ at: since, memberId, name, who: 'desk', what: 'touched' });
  }

  return {
    added(memberId) {
      const at = now();
      known.set(memberId, { from: at, at, entries: known.get(memberId)?.entries ?? new Set() });
    },
    look(who, pushed = false) {
      const at = now();
      looking = looking.then(() => noteChanges(who, at, pushed)).catch(() => undefined);
      return looking;
    },
  };
}
