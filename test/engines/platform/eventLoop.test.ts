// Neither the nightly recount nor publishing blocks the event loop of the worker for more than about 100 ms, however
// much data one merchant has, because the work of all other merchants runs on the same loop.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { changeMember } from '../../../activities/members/changeMember.writes.js';
import { recountMerchants } from '../../../activities/members/recount.activity.js';
import { pointsRule } from '../../../activities/points/adjustOrRedeem.rules.js';
import { publishEvents } from '../../../activities/webhooks/publishEvents.activity.js';
import { update } from '../../../platform/mongodb/statements.js';
import { writeBulk } from '../../../platform/mongodb/transact.js';
import { newId } from '../../../schemas/shared/ids.js';
import { longestAllowedBlockMs, longestBlockMs } from '../../rig/checks/stalls.js';
import { aMerchant, manyMembers } from '../../rig/start/merchant.js';
import { startService, type TestService } from '../../rig/start/service.js';
import { startTestWorker } from '../../rig/start/testWorker.js';

let service: TestService;

beforeAll(async () => {
  service = await startService({ worker: false });
});
afterAll(async () => {
  await service.stop();
});

/**
 * Measures up to three times until a run is short enough: a pause of the garbage collector or of the machine is not
 * caused by the merchant.
 */
async function shortestOfThree(what: string, measure: () => Promise<number>) {
  let ms = Number.POSITIVE_INFINITY;
  let mostMs = 0;
  let rounds = 0;
  for (; rounds < 3 && ms >= mostMs; rounds += 1) {
    mostMs = longestAllowedBlockMs();
    ms = Math.min(ms, await measure());
  }
  console.log(`  longest block while ${what}: ${Math.round(ms)} ms of ${Math.round(mostMs)} allowed`);
  return { ms, mostMs, rounds };
}

it('the event loop is not blocked while a merchant with 20,000 different tags is recounted', async () => {
  const merchant = await aMerchant(service);
  const members = await manyMembers(service.deps, { program: await merchant.program(), count: 800 });
  const { tags } = service.deps.collections;
  const tag = (index: number) => `a-tag-of-this-merchant-${index}`;
  await writeBulk(
    service.deps,
    members.map(({ _id }, index) => {
      const own = Array.from({ length: 25 }, (_, at) => tag(index * 25 + at));
      return update(service.deps, 'members', { _id }, { $set: { tags: own } });
    }),
  );
  // All but one are listed, so that little has to be written.
  for (let from = 1; from < 20_000; from += 1_000)
    await tags.insertMany(
      Array.from({ length: Math.min(1_000, 20_000 - from) }, (_, at) => ({
        _id: `${merchant.id}:${tag(from + at)}`,
        merchantId: merchant.id,
        tag: tag(from + at),
      })),
    );
  const longest = await shortestOfThree('20,000 tags were recounted', () =>
    longestBlockMs(() => recountMerchants(service.deps, {}, { waitMs: 1 })),
  );
  expect(await tags.findOne({ _id: `${merchant.id}:${tag(0)}` })).not.toBeNull();
  expect(longest.ms).toBeLessThan(longest.mostMs);
});

/** A receiver in a separate process, so that only the sender's work is measured. */
async function aReceiverProcess() {
  const answerAll = `const server = require('http').createServer((request, answer) => {
    request.resume().on('end', () => answer.writeHead(204).end());
  }).listen(0, '127.0.0.1', () => console.log(server.address().port));`;
  const child = spawn(process.execPath, ['-e', answerAll], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [port] = await once(child.stdout, 'data');
  return { url: `http://127.0.0.1:${String(port).trim()}`, stop: () => child.kill() };
}

it('the event loop is not blocked while 200 events are published to 20 subscriptions', async () => {
  const receiver = await aReceiverProcess();
  const merchant = await aMerchant(service);
  const { id: memberId } = await merchant.enroll();
  for (let index = 0; index < 20; index += 1)
    await merchant.call('/merchants/me/webhooks', {
      body: { url: `${receiver.url}/${index}`, events: ['points.changed'] },
    });
  const { deps, close } = await startTestWorker(service);
  const publish = async () => {
    const changed = await changeMember(service.deps, {
      merchantId: merchant.id,
      memberId,
      chooseLeaseOwner: () => null,
      temporalAvailable: true,
      decide: pointsRule({ delta: 1 }, { actor: { type: 'user', id: 'tester' }, now: new Date() }),
    });
    const { events } = service.deps.collections;
    const event = changed.kind === 'done' && (await events.findOne({ _id: changed.eventId }));
    if (!event) throw new Error('The points were to be changed.');
    const copies = Array.from({ length: 199 }, () => ({ ...event, _id: newId() }));
    await events.insertMany(copies);
    const eventIds = [event, ...copies].map(({ _id }) => _id);
    return longestBlockMs(() => publishEvents(deps, { leaseOwner: 'tester', eventIds }));
  };
  const longest = await shortestOfThree('4,000 deliveries were made', publish);
  const made = await service.deps.collections.deliveries.countDocuments({ merchantId: merchant.id });
  expect(made).toBe(longest.rounds * 4_000);
  expect(longest.ms).toBeLessThan(longest.mostMs);
  await close();
  receiver.stop();
});
