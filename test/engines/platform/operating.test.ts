// Runs every recipe of docs/operating.md as written, in a shell, against a real Temporal.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cacheDirOf } from '../../../stack/engines/cache.js';
import { obtainTemporal } from '../../../stack/engines/temporalSources.js';
import { until } from '../../rig/checks/until.js';
import { type Receiver, startReceiver } from '../../rig/standins/receiver.js';
import { forkEngines } from '../../rig/start/forkEngines.js';
import { aMerchant, type TestMerchant } from '../../rig/start/merchant.js';
import { startService, type TestService } from '../../rig/start/service.js';

const root = join(import.meta.dirname, '..', '..', '..');
const page = readFileSync(join(root, 'docs/operating.md'), 'utf8');
const ran = new Set<string>();

let service: TestService;
let merchant: TestMerchant;
let receiver: Receiver;
let path: string;
let memberId: string;
let programId: string;
let subscriptionId: string;
const key = 'operating-0001';

function recipe(title: string): string {
  const section = page.split(/^## /m).find((part) => part.startsWith(`${title}\n`)) ?? '';
  const block = /^```sh\n([\s\S]*?)^```$/m.exec(section)?.[1];
  if (block === undefined) throw new Error(`docs/operating.md has no recipe "${title}".`);
  ran.add(title);
  return block;
}

async function run(title: string, env: Record<string, string> = {}): Promise<string> {
  const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', recipe(title)], {
    cwd: root,
    timeout: 300_000,
    env: {
      ...process.env,
      PATH: [dirname(path), process.env.PATH].join(delimiter),
      TEMPORAL_ADDRESS: forkEngines().temporalAddress,
      MONGODB_URI: forkEngines().mongodbUri,
      MONGODB_DATABASE: service.deps.config.MONGODB_DATABASE,
      RELAY_SHARDS: '1',
      ...env,
    },
  });
  return stdout;
}

beforeAll(async () => {
  const search = { cacheDir: cacheDirOf(process.env), env: process.env };
  const engine = await obtainTemporal(search, { task: { say: () => {} }, signal: new AbortController().signal });
  path = engine.path;
  // A reset leaves two runs with one id, and one of them never ends, so this file does not replay its histories.
  service = await startService({ replay: false });
  merchant = await aMerchant(service);
  receiver = await startReceiver((_request, answer) => answer.writeHead(500).end());
  const member = await merchant.enroll({ firstName: 'Ada' });
  memberId = member.id;
  programId = member.programId;
  await merchant.call(`/merchants/me/members/${memberId}/points`, {
    method: 'PATCH',
    headers: { 'Idempotency-Key': key },
    body: { delta: 5 },
  });
  // No subscription exists yet, and events that are published after the next call would be sent to the new one.
  await until(async () => (await service.deps.collections.events.countDocuments({ state: 'new' })) === 0);
  const { body } = await merchant.call('/merchants/me/webhooks', {
    body: { url: receiver.url, events: ['points.changed'], retryPolicy: { maxAttempts: 2, backoffMs: 10 } },
  });
  subscriptionId = body.data.id;
});
afterAll(async () => {
  await service.stop();
  await receiver.stop();
});

const exhausted = () => service.deps.collections.deliveries.find({ subscriptionId, state: 'exhausted' }).toArray();

async function failDeliveries(count: number): Promise<string[]> {
  receiver.setResponder((_request, answer) => answer.writeHead(500).end());
  for (let turn = 0; turn < count; turn += 1)
    await merchant.call(`/merchants/me/members/${memberId}/points`, { method: 'PATCH', body: { delta: 1 } });
  await until(async () => (await exhausted()).length === count);
  const query = `WorkflowType = 'deliverWebhook' AND ExecutionStatus = 'Failed' AND SubscriptionId = '${subscriptionId}'`;
  await until(async () => (await service.client.workflow.count(query)).count >= count);
  return (await exhausted()).map(({ eventId }) => eventId);
}

const allArrive = () => {
  receiver.requests.length = 0;
  receiver.setResponder((_request, answer) => answer.writeHead(204).end());
};

describe('recipes', () => {
  it("find a member's changes, one by its idempotency key", async () => {
    const found = await until(async () => {
      const text = await run("Find a member's changes", { MEMBER: memberId, KEY: key });
      return text.includes(`enroll:${memberId}`) && text;
    });
    expect(found).toContain(`points:${memberId}:${key}`);
    expect(found).toContain('WorkflowExecutionStarted');
  });

  it('find a failed delivery, deliver it again, then all of a subscription', async () => {
    const [eventId = ''] = await failDeliveries(1);
    const env = { EVENT: eventId, SUBSCRIPTION: subscriptionId };
    expect(await run('Find a failed delivery', env)).toContain(`delivery:${eventId}:${subscriptionId}`);

    allArrive();
    await run('Deliver one again', env);
    await until(async () => (await exhausted()).length === 0);
    expect(receiver.requests.map(({ headers }) => headers['webhook-id'])).toEqual([eventId]);

    const eventIds = await failDeliveries(3);
    allArrive();
    await run('Deliver all of a subscription again', env);
    await until(async () => (await exhausted()).length === 0);
    const arrived = new Set(receiver.requests.map(({ headers }) => headers['webhook-id']));
    expect([...arrived].sort()).toEqual([...eventIds].sort());
  });

  it('find a batch, here that of rebuilding passes', async () => {
    const said = await run('Rebuild the passes of a program', { PROGRAM: programId });
    expect(said).toContain('completed: 0 of 0 passes pushed');
    const batchId = /started rebuild:(\S+)/.exec(said)?.[1] ?? '';
    await until(async () => (await run('Find a batch', { BATCH: batchId })).includes(`rebuild:${batchId}`));
  });

  it('set, limit and remove the rate of a queue', async () => {
    const configOf = async (queue: string) => {
      const { stdout } = await promisify(execFile)(
        path,
        ['task-queue', 'config', 'get', '--task-queue', queue, '--task-queue-type', 'activity', '--output', 'json'],
        { env: { ...process.env, TEMPORAL_ADDRESS: forkEngines().temporalAddress } },
      );
      return stdout;
    };
    await run('Pause a queue');
    expect(await configOf('webhooks')).toContain('receivers are moved');
    await run('Resume a queue');
    await run('Rate-limit receivers');
    expect(await configOf('webhooks')).not.toContain('receivers are moved');
    expect(await configOf('retries')).toContain('one receiver asked for less');
  });

  it('drain', async () => {
    expect(await run('Drain')).toContain('the outbox is empty');
  });
});

it('every recipe of the page has run', () => {
  const titles = page
    .split(/^## /m)
    .filter((section) => section.includes('```sh'))
    .map((section) => section.split('\n', 1)[0]);
  expect([...ran].sort()).toEqual(titles.sort());
});
