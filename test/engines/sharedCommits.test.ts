// Transactions of one moment share a commit, and single reads share a query; each is still all or nothing by itself, and what
// one of them runs into is nobody else's business.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Store } from '../../activities/deps.js';
import { insert, StaleRead, type Statement, transact, update } from '../../activities/transact.js';
import type { GestureRow, MemberRow } from '../../schemas/collections.js';
import { newId } from '../../schemas/ids.js';
import { aMerchant, manyMembers } from '../rig/merchant.js';
import { startService, type TestService } from '../rig/service.js';

let service: TestService;
let store: Store;
let members: MemberRow[];

beforeAll(async () => {
  service = await startService({ worker: false });
  store = service.store;
  const program = await (await aMerchant(service)).program();
  members = await manyMembers(store, { program, count: 24 });
});
afterAll(() => service.stop());

const gesture = (_id: string, { merchantId }: MemberRow): GestureRow => ({
  _id,
  merchantId,
  fingerprint: 'x',
  eventId: newId(),
  createdAt: new Date(),
});

/** Raises the member's version from `version`, under a key. */
const raise = (member: MemberRow, { key = newId(), version = member.version } = {}): [Statement[], number] => [
  [
    update(store, 'members', { _id: member._id, version }, { $set: { version: version + 1 } }),
    insert(store, 'gestures', gesture(key, member)),
  ],
  1,
];

const versions = async (): Promise<number[]> => {
  const rows = await store.rows.members.find({ _id: { $in: members.map(({ _id }) => _id) } }).toArray();
  const byId = new Map(rows.map((row) => [row._id, row.version]));
  return members.map(({ _id }) => byId.get(_id) ?? -1);
};

describe('transactions of one moment', () => {
  it('are all there once each was answered', async () => {
    const keys = members.map(() => newId());
    await Promise.all(members.map((member, index) => transact(store, ...raise(member, { key: keys[index] ?? '' }))));
    expect(await versions()).toEqual(members.map(() => 2));
    expect(await store.rows.gestures.countDocuments({ _id: { $in: keys } })).toBe(members.length);
  });

  it('are not held up by one that was decided on an old state, nor by a key that is taken', async () => {
    const before = await versions();
    const taken = newId();
    const [first, second, third, ...others] = members;
    if (!first || !second || !third) throw new Error('Too few members.');
    await store.rows.gestures.insertOne(gesture(taken, first));
    const key = newId();
    const outcomes = await Promise.allSettled([
      transact(store, ...raise(first, { version: 1 })),
      transact(store, ...raise(second, { version: 2, key: taken })),
      transact(store, ...raise(third, { version: 2, key })),
      ...others.map((member) => transact(store, ...raise(member, { version: 2 }))),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual([
      'rejected',
      'rejected',
      ...others.map(() => 'fulfilled'),
      'fulfilled',
    ]);
    expect(outcomes[0]).toMatchObject({ reason: expect.any(StaleRead) });
    expect(await versions()).toEqual(before.map((version, index) => (index < 2 ? version : version + 1)));
  });

  it('cannot lend their matches to each other', async () => {
    const [first, second] = members;
    if (!first || !second) throw new Error('Too few members.');
    const [before = 0, other = 0] = await versions();
    const touch = (version: number): Statement => update(store, 'members', { _id: first._id }, { $set: { version } });
    const outcomes = await Promise.allSettled([
      // Matches twice, and asks for one.
      transact(store, [touch(before), touch(before + 1)], 1),
      transact(store, ...raise(second, { version: other - 1 })),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    expect((await versions()).slice(0, 2)).toEqual([before + 1, other]);
  });
});

describe('single reads of one moment', () => {
  it('answer each with its own row, and with none of another merchant', async () => {
    const foreign = newId();
    const rows = await Promise.all([
      ...members.map(({ _id, merchantId }) => store.read.member({ _id, merchantId })),
      ...members.map(({ _id }) => store.read.member({ _id, merchantId: foreign })),
      store.read.member({ _id: newId(), merchantId: members[0]?.merchantId ?? '' }),
    ]);
    expect(rows.map((row) => row?._id ?? null)).toEqual([
      ...members.map(({ _id }) => _id),
      ...members.map(() => null),
      null,
    ]);
  });

  it('see what was committed before they were asked for', async () => {
    const [member] = members;
    if (!member) throw new Error('Too few members.');
    for (let round = 0; round < 10; round += 1) {
      const [version = 0] = await versions();
      await transact(store, ...raise(member, { version }));
      const reads = await Promise.all([1, 2, 3].map(() => store.read.member(member)));
      expect(reads.map((row) => row?.version)).toEqual([version + 1, version + 1, version + 1]);
    }
  });
});
