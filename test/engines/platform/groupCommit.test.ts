// Concurrent small transactions share a commit, and concurrent single reads share a query. Each transaction is still
// atomic on its own, and a failure of one does not affect the others.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Deps } from '../../../platform/deps.js';
import { VersionConflict } from '../../../platform/mongodb/conflicts.js';
import { insert, update } from '../../../platform/mongodb/statements.js';
import { transact } from '../../../platform/mongodb/transact.js';
import type { Statement } from '../../../platform/mongodb/transaction.js';
import type { MemberRow } from '../../../schemas/members/members.rows.js';
import { newId } from '../../../schemas/shared/ids.js';
import type { IdempotencyKeyRow } from '../../../schemas/shared/service.rows.js';
import { aMerchant, manyMembers } from '../../rig/start/merchant.js';
import { startService, type TestService } from '../../rig/start/service.js';

let service: TestService;
let deps: Deps;
let members: MemberRow[];

beforeAll(async () => {
  service = await startService({ worker: false });
  deps = service.deps;
  const program = await (await aMerchant(service)).program();
  members = await manyMembers(deps, { program, count: 24 });
});
afterAll(() => service.stop());

const keyedChange = (_id: string, { merchantId }: MemberRow): IdempotencyKeyRow => ({
  _id,
  merchantId,
  fingerprint: 'x',
  eventId: newId(),
  createdAt: new Date(),
});

/** Statements that raise the member's version from `version`, with an idempotency key. */
const raise = (member: MemberRow, { key = newId(), version = member.version } = {}): [Statement[], number] => [
  [
    update(deps, 'members', { _id: member._id, version }, { $set: { version: version + 1 } }),
    insert(deps, 'idempotencyKeys', keyedChange(key, member)),
  ],
  1,
];

const versions = async (): Promise<number[]> => {
  const rows = await deps.collections.members.find({ _id: { $in: members.map(({ _id }) => _id) } }).toArray();
  const byId = new Map(rows.map((row) => [row._id, row.version]));
  return members.map(({ _id }) => byId.get(_id) ?? -1);
};

describe('concurrent transactions', () => {
  it('are all committed when they are answered', async () => {
    const keys = members.map(() => newId());
    await Promise.all(members.map((member, index) => transact(deps, ...raise(member, { key: keys[index] ?? '' }))));
    expect(await versions()).toEqual(members.map(() => 2));
    expect(await deps.collections.idempotencyKeys.countDocuments({ _id: { $in: keys } })).toBe(members.length);
  });

  it('are not delayed by one with a version conflict or with a key that is taken', async () => {
    const before = await versions();
    const taken = newId();
    const [first, second, third, ...others] = members;
    if (!first || !second || !third) throw new Error('Too few members.');
    await deps.collections.idempotencyKeys.insertOne(keyedChange(taken, first));
    const key = newId();
    const outcomes = await Promise.allSettled([
      transact(deps, ...raise(first, { version: 1 })),
      transact(deps, ...raise(second, { version: 2, key: taken })),
      transact(deps, ...raise(third, { version: 2, key })),
      ...others.map((member) => transact(deps, ...raise(member, { version: 2 }))),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual([
      'rejected',
      'rejected',
      ...others.map(() => 'fulfilled'),
      'fulfilled',
    ]);
    expect(outcomes[0]).toMatchObject({ reason: expect.any(VersionConflict) });
    expect(await versions()).toEqual(before.map((version, index) => (index < 2 ? version : version + 1)));
  });

  it('are checked for their own matches only', async () => {
    const [first, second] = members;
    if (!first || !second) throw new Error('Too few members.');
    const [before = 0, other = 0] = await versions();
    const touch = (version: number): Statement => update(deps, 'members', { _id: first._id }, { $set: { version } });
    const outcomes = await Promise.allSettled([
      // Matches two rows where one is expected.
      transact(deps, [touch(before), touch(before + 1)], 1),
      transact(deps, ...raise(second, { version: other - 1 })),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    expect((await versions()).slice(0, 2)).toEqual([before + 1, other]);
  });
});

describe('concurrent single reads', () => {
  it('each return their own row, and no row of another merchant', async () => {
    const foreign = newId();
    const rows = await Promise.all([
      ...members.map(({ _id, merchantId }) => deps.read.member({ _id, merchantId })),
      ...members.map(({ _id }) => deps.read.member({ _id, merchantId: foreign })),
      deps.read.member({ _id: newId(), merchantId: members[0]?.merchantId ?? '' }),
    ]);
    expect(rows.map((row) => row?._id ?? null)).toEqual([
      ...members.map(({ _id }) => _id),
      ...members.map(() => null),
      null,
    ]);
  });

  it('see everything that was committed before they started', async () => {
    const [member] = members;
    if (!member) throw new Error('Too few members.');
    for (let round = 0; round < 10; round += 1) {
      const [version = 0] = await versions();
      await transact(deps, ...raise(member, { version }));
      const reads = await Promise.all([1, 2, 3].map(() => deps.read.member(member)));
      expect(reads.map((row) => row?.version)).toEqual([version + 1, version + 1, version + 1]);
    }
  });
});
