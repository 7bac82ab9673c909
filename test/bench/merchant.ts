// A merchant of one's own with members that were never enrolled: their rows are written straight into the database.
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, FormData } from 'undici';
import { newMemberRows } from '../../activities/newMember.js';
import { newApiKey } from '../../schemas/apiKeys.js';
import type { MemberRow } from '../../schemas/collections.js';
import { newId, newToken } from '../../schemas/ids.js';
import type { Person } from '../../schemas/members.js';
import { type Program, programFile } from '../../schemas/programs.js';
import { type Bench, log } from './bench.js';

/** A gesture that was answered 503 is sent again with its key, as the answer says; its time goes on. */
const again = { most: 5, waitMs: 100 };

export interface BenchMerchant {
  id: string;
  key: string;
  program: Program;
  /** Fails when the answer is not a success; answers its body as text. */
  call: (request: {
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
    path: string;
    /** A form or a stream is sent as it is, anything else as JSON. */
    body?: object | FormData | Readable;
    headers?: Record<string, string>;
  }) => Promise<string>;
  close: () => Promise<void>;
}

export async function aMerchant(
  { store, origin }: Pick<Bench, 'store' | 'origin'>,
  { callers = 64 }: { callers?: number } = {},
): Promise<BenchMerchant> {
  const id = `bench-${newToken(6)}`;
  const { key, keyPrefix, hash } = newApiKey();
  const _id = `program-${newToken(6)}`;
  const program: Program = {
    ...programFile.parse({
      _id,
      slug: `bench-${newId()}`,
      name: 'Bench',
      style: 'points',
      fields: { primaryLabel: 'POINTS' },
      goal: 100,
    }),
    merchantId: id,
  };
  await store.rows.programs.insertOne(program);
  await store.rows.apiKeys.insertOne({
    _id: newId(),
    merchantId: id,
    hash,
    keyPrefix,
    name: 'bench',
    roleIds: ['owner'],
    createdBy: 'bench',
    createdAt: new Date(),
  });
  const agent = new Agent({ connections: callers, pipelining: 1 });
  let sentAgain = 0;
  return {
    id,
    key,
    program,
    async call({ method, path, body, headers }) {
      const asItIs = body instanceof FormData || body instanceof Readable;
      for (let tries = 1; ; tries += 1) {
        const answer = await agent.request({
          origin,
          path: `/api/v1${path}`,
          method,
          headers: { 'x-api-key': key, ...(body && !asItIs && { 'content-type': 'application/json' }), ...headers },
          ...(body && { body: asItIs ? body : JSON.stringify(body) }),
        });
        const text = await answer.body.text();
        if (answer.statusCode < 300) return text;
        const refused = `${method} ${path} answered ${answer.statusCode}: ${text}`;
        if (answer.statusCode !== 503 || tries === again.most || !headers?.['idempotency-key'])
          throw new Error(refused);
        sentAgain += 1;
        await sleep(again.waitMs);
      }
    },
    async close() {
      if (sentAgain > 0) log(`${sentAgain} answers were 503; the gestures were sent again`);
      await agent.close();
    },
  };
}

const firstNames = ['Ada', 'Grace', 'Alan', 'Edsger', 'Barbara', 'Donald', 'Margaret', 'Dennis', 'Radia', 'Ken'];
const insertedTogether = 500;

/** Writes `count` members of that merchant; `index` counts from `from`. */
export async function addMembers(
  { store }: Pick<Bench, 'store'>,
  { program, count, from = 0 }: { program: Program; count: number; from?: number },
): Promise<MemberRow[]> {
  const members: MemberRow[] = [];
  for (let at = 0; at < count; at += insertedTogether) {
    const rows = Array.from({ length: Math.min(insertedTogether, count - at) }, (_, offset) =>
      aNewMember(store, program, from + at + offset),
    );
    await Promise.all([
      store.rows.members.insertMany(
        rows.map(({ member }) => member),
        { ordered: false },
      ),
      store.rows.memberTokens.insertMany(
        rows.flatMap(({ tokens }) => tokens),
        { ordered: false },
      ),
    ]);
    members.push(...rows.map(({ member }) => member));
  }
  return members;
}

export function aNewMember(store: Bench['store'], program: Program, index: number, person: Person = {}) {
  return newMemberRows(store, {
    program,
    person: {
      firstName: firstNames[index % firstNames.length] ?? '',
      lastName: `Lovelace${index % 997}`,
      email: `member-${index}@${program._id.toLowerCase()}.example`,
      ...person,
    },
    source: 'api',
    attribution: {},
    actor: { type: 'import', id: 'bench' },
  });
}

/** One that no other of so many callers gets: two changes of one member at once would wait for each other. */
export function ownOf<T>(items: readonly T[], caller: number, callers: number): T {
  const own = Math.floor(Math.random() * Math.floor(items.length / callers)) * callers + caller;
  const item = items[own];
  if (item === undefined) throw new Error('There are more callers than items.');
  return item;
}
