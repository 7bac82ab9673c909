// An answer that waits for a push: how it learns of the result, and how often it asks.
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { newMemberEvent } from '../../../activities/events/newEvent.rules.js';
import { createPushWaits, type PushWaits } from '../../../api/members/pushWaits.reads.js';
import type { EventRow } from '../../../schemas/events/events.rows.js';
import type { MemberRow } from '../../../schemas/members/members.rows.js';
import { newId } from '../../../schemas/shared/ids.js';
import type { PassUpdate } from '../../../schemas/shared/passUpdate.schema.js';
import { aMerchant, manyMembers } from '../../rig/start/merchant.js';
import { startService, type TestService } from '../../rig/start/service.js';

let service: TestService;
let members: MemberRow[];
let waits: PushWaits;

beforeAll(async () => {
  service = await startService({ worker: false });
  members = await manyMembers(service.deps, { program: await (await aMerchant(service)).program(), count: 30 });
  waits = createPushWaits(service.deps);
});
afterAll(() => service.stop());

const passUpdate: PassUpdate = {
  serialNumber: 'serial-1',
  lastUpdateTag: '2026-11-21T04:00:00.000Z',
  rebuilt: true,
  apple: { devicesNotified: 1, devicesAttempted: 1, mode: 'real' },
  google: { objectPatched: false, mode: 'stub' },
};

async function anEvent(member: MemberRow | undefined = members[0]): Promise<string> {
  if (!member) throw new Error('There are no members.');
  const eventId = newId();
  const event: Parameters<typeof newMemberEvent>[1]['event'] = {
    type: 'member.updated',
    data: { changed: ['firstName'], status: 'active', tags: [] },
  };
  await service.deps.collections.events.insertOne(
    newMemberEvent(service.deps, { eventId, event, member, leaseOwner: `change:${eventId}`, passAction: 'push' }),
  );
  return eventId;
}

const record = (_id: string, $set: Partial<EventRow>) => service.deps.collections.events.updateOne({ _id }, { $set });

it('the result is given to all who wait for it, also when it was there before they asked', async () => {
  const eventId = await anEvent();
  const both = [waits.resultOf(eventId, 60_000), waits.resultOf(eventId, 60_000)];
  await record(eventId, { passUpdate });
  expect(await Promise.all(both)).toEqual([passUpdate, passUpdate]);
  expect(await waits.resultOf(eventId, 60_000)).toEqual(passUpdate);
});

it.each([
  ['a wallet did not accept the push, which is repeated', { pushDueAt: new Date() }],
  ['the event was published without it', { state: 'published' }],
] as const)('the answer is null when %s', async (_when, fields) => {
  const eventId = await anEvent();
  const waiting = waits.resultOf(eventId, 60_000);
  await record(eventId, fields);
  expect(await waiting).toBeNull();
});

it('the answer is null when the event is gone, as that of an erased member', async () => {
  expect(await waits.resultOf(newId(), 60_000)).toBeNull();
});

it('the answer is null after the wait, and others go on waiting', async () => {
  const [eventId, other] = [await anEvent(), await anEvent()];
  const longer = waits.resultOf(other, 60_000);
  expect(await waits.resultOf(eventId, 50)).toBeNull();
  await record(other, { passUpdate });
  expect(await longer).toEqual(passUpdate);
});

it('one query asks for all of them, and none is sent when nobody waits', async () => {
  const eventIds = await Promise.all(members.map((member) => anEvent(member)));
  const find = vi.spyOn(service.deps.collections.events, 'find');
  const waiting = eventIds.map((eventId) => waits.resultOf(eventId, 60_000));
  await Promise.all(eventIds.map((eventId) => record(eventId, { passUpdate })));
  await Promise.all(waiting);
  expect(find.mock.calls[0]).toMatchObject([{ _id: { $in: eventIds } }, { projection: { passUpdate: 1 } }]);
  const asked = find.mock.calls.length;
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(find.mock.calls.length).toBe(asked);
  find.mockRestore();
});
