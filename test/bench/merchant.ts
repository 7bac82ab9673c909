// A new merchant whose members are written directly into the database, without enrollment.
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, FormData } from 'undici';
import { newMemberRows } from '../../activities/members/newMember.rules.js';
import { newApiKey } from '../../schemas/access/apiKeys.schema.js';
import type { MemberRow } from '../../schemas/members/members.rows.js';
import type { Person } from '../../schemas/members/members.schema.js';
import { type Program, programFile } from '../../schemas/programs/programs.schema.js';
import { newId, newToken } from '../../schemas/shared/ids.js';
import { type Bench, log } from './bench.js';

/** A change that was answered 503 is sent again with its key; its measured time continues. */
const again = { most: 5, waitMs: 100 };

export interface BenchMerchant {
  id: string;
  key: string;
  program: Program;
  /** Throws when the answer is not a success; returns its body as text. */
  call: (request: {
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
    path: string;
    /** A form or a stream is sent unchanged, anything else as JSON. */
    body?: object | FormData | Readable;
    headers?: Record<string, string>;
  }) => Promise<string>;
  /** Gives the member one point, as a change of its own. */
  award: (memberId: string) => Promise<string>;
  close: () => Promise<void>;
}

/** With `agent`, its calls share the connections of that agent, which stays open. */
export async function aMerchant(
  { deps, origin }: Pick<Bench, 'deps' | 'origin'>,
  { callers = 64, agent: shared }: { callers?: number; agent?: Agent } = {},
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
  await deps.collections.programs.insertOne(program);
  await deps.collections.apiKeys.insertOne({
    _id: newId(),
    merchantId: id,
    hash,
    keyPrefix,
    name: 'bench',
    roleIds: ['owner'],
    createdBy: 'bench',
    createdAt: new Date(),
  });
  const agent = shared ?? new Agent({ connections: callers, pipelining: 1 });
  let sentAgain = 0;
  const call: BenchMerchant['call'] = async ({ method, path, body, headers }) => {
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
      if (answer.statusCode !== 503 || tries === again.most || !headers?.['idempotency-key']) throw new Error(refused);
      sentAgain += 1;
      await sleep(again.waitMs);
    }
  };
  return {
    id,
    key,
    program,
    call,
    award: (memberId) =>
      call({
        method: 'PATCH',
        path: `/merchants/me/members/${memberId}/points`,
        body: { delta: 1 },
        headers: { 'idempotency-key': newToken() },
      }),
    async close() {
      if (sentAgain > 0) log(`${sentAgain} answers were 503; the changes were sent again`);
      if (!shared) await agent.close();
    },
  };
}

const firstNames = ['Ada', 'Grace', 'Alan', 'Edsger', 'Barbara', 'Donald', 'Margaret', 'Dennis', 'Radia', 'Ken'];
const insertedTogether = 500;

/** Writes `count` members of the merchant; `index` starts at `from`. */
export async function addMembers(
  { deps }: Pick<Bench, 'deps'>,
  { program, count, from = 0 }: { program: Program; count: number; from?: number },
): Promise<MemberRow[]> {
  const members: MemberRow[] = [];
  for (let at = 0; at < count; at += insertedTogether) {
    const rows = Array.from({ length: Math.min(insertedTogether, count - at) }, (_, offset) =>
      aNewMember(deps, program, from + at + offset),
    );
    await Promise.all([
      deps.collections.members.insertMany(
        rows.map(({ member }) => member),
        { ordered: false },
      ),
      deps.collections.memberSearchWords.insertMany(
        rows.flatMap(({ searchWordRows }) => searchWordRows),
        { ordered: false },
      ),
    ]);
    members.push(...rows.map(({ member }) => member));
  }
  return members;
}

export function aNewMember(deps: Bench['deps'], program: Program, index: number, person: Person = {}) {
  return newMemberRows(deps, {
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
