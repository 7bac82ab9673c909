// Processes whose clocks differ agree on leases, because their times follow the database's clock.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { leaseEvents } from '../../../activities/events/leases.writes.js';
import { memberCreated, newMemberRows } from '../../../activities/members/newMember.rules.js';
import { type ClosableDeps, createDeps } from '../../../platform/createDeps.js';
import { databaseNow } from '../../../platform/mongodb/databaseNow.js';
import { newId } from '../../../schemas/shared/ids.js';
import { aMerchant, type TestMerchant } from '../../rig/start/merchant.js';
import { startService, type TestService } from '../../rig/start/service.js';

const skews = [-3_600_000, -5_000, 0, 5_000, 3_600_000];

let service: TestService;
let merchant: TestMerchant;
let processes: ClosableDeps[];

beforeAll(async () => {
  service = await startService();
  merchant = await aMerchant(service);
  const { config, log } = service.deps;
  processes = skews.map((skew) => createDeps({ config, log, ownNow: () => Date.now() + skew, timeouts: 'tool' }));
  await Promise.all(processes.map((deps) => databaseNow(deps)));
});
afterAll(async () => {
  await Promise.all(processes.map((deps) => deps.close()));
  await service.stop();
});

it('a worker whose clock is ahead of an API takes no event from the workflow that the API has left it to', async () => {
  const program = await merchant.program();
  const actor = { type: 'import', id: 'test' } as const;
  for (const api of processes)
    for (const worker of processes) {
      const { member } = newMemberRows(api, { program, person: {}, source: 'import', attribution: {}, actor });
      const event = memberCreated(api, { member, eventId: newId(), leaseOwner: `enroll:${member._id}` });
      await api.collections.events.insertOne(event);
      const taken = await leaseEvents(worker, { leaseOwner: 'relay:0', eventIds: [event._id] });
      expect(taken).toEqual([]);
      expect(await worker.collections.events.deleteOne({ _id: event._id })).toMatchObject({ deletedCount: 1 });
    }
});

it('a process tells the time of the database, whatever its own clock says', async () => {
  for (const deps of processes) {
    const before = await databaseNow(deps);
    const now = deps.now().getTime();
    const after = await databaseNow(deps);
    // As wrong as the first heartbeat, with its connection attempt, lasted.
    expect(now).toBeGreaterThan(before.getTime() - 2_000);
    expect(now).toBeLessThan(after.getTime() + 2_000);
  }
});
