// The SDK's command against the service.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { signService } from '../../../schemas/webhooks/signature.rules.js';
import { until } from '../../rig/checks/until.js';
import { type Receiver, startReceiver } from '../../rig/standins/receiver.js';
import { type RunningKit, runKit, startKit } from '../../rig/start/kitCommand.js';
import { aMerchant, type TestMerchant } from '../../rig/start/merchant.js';
import { startService, type TestService } from '../../rig/start/service.js';

let service: TestService;
let merchant: TestMerchant;
let receiver: Receiver;
let folder: string;
let env: Record<string, string>;

beforeAll(async () => {
  service = await startService();
});
afterAll(async () => {
  await service.stop();
});
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kit-'));
  merchant = await aMerchant(service, { roleIds: ['owner'] });
  await merchant.program();
  receiver = await startReceiver();
  env = { STACK_DIR: folder, LOYALTY_URL: service.publicUrl, LOYALTY_API_KEY: merchant.apiKey };
  return async () => {
    await receiver.stop();
    await rm(folder, { recursive: true, force: true });
  };
});

async function listening(work: (kit: RunningKit) => Promise<void>, ...more: string[]) {
  const kit = startKit(['listen', '--forward-to', receiver.url, '--json', ...more], env);
  try {
    await until(() => kit.lines().length > 0);
    await work(kit);
  } finally {
    kit.process.kill('SIGTERM');
  }
  expect(await kit.ended).toBe(0);
  expect(kit.errors()).toBe('');
  return JSON.parse(kit.lines()[0] ?? '{}');
}

const changePoints = async (id: string, delta: number) => {
  const answer = await merchant.call(`/merchants/me/members/${id}/points`, { method: 'PATCH', body: { delta } });
  expect(answer.status).toBe(200);
};
interface Sent {
  event: string;
  data: { delta: number };
}
const deltasOf = (events: Sent[]) =>
  events.filter(({ event }) => event === 'points.changed').map(({ data }) => data.delta);

describe('listen', () => {
  it('forwards what happens, signed, and goes on where it stopped', async () => {
    const { id } = await merchant.enroll();
    await changePoints(id, 1);
    const { id: merchantId } = merchant;
    await until(async () => !(await service.deps.collections.events.findOne({ merchantId, state: 'new' })));
    const events = () => receiver.requests.map(({ body }): Sent => JSON.parse(body.toString('utf8')));
    const first = await listening(async () => {
      await changePoints(id, 2);
      await until(() => deltasOf(events()).includes(2));
    });
    await changePoints(id, 3);
    const second = await listening(async () => {
      await changePoints(id, 4);
      await until(() => deltasOf(events()).includes(4));
    });
    expect(deltasOf(events())).toEqual([2, 3, 4]);
    expect(second.secret).toBe(first.secret);
    for (const { headers, body } of receiver.requests) {
      new Webhook(first.secret).verify(body.toString('utf8'), headers as Record<string, string>);
      const timestamp = String(headers['x-service-webhook-timestamp']);
      expect(headers['x-service-webhook-signature']).toBe(signService(first.secret, timestamp, body));
      expect(headers['x-service-webhook-event']).toBe(JSON.parse(body.toString('utf8')).event);
    }
  });

  it('sends the bytes that a subscriber is sent', async () => {
    const subscriber = await startReceiver();
    await merchant.call('/merchants/me/webhooks', { body: { url: subscriber.url, events: ['points.changed'] } });
    const { id } = await merchant.enroll();
    await listening(
      async () => {
        await changePoints(id, 7);
        await until(() => subscriber.requests.length === 1 && receiver.requests.length === 1);
      },
      ...['--types', 'points.changed'],
    );
    expect(receiver.requests[0]?.body.toString()).toBe(subscriber.requests[0]?.body.toString());
    await subscriber.stop();
  });

  it('tries again when the receiver fails or is not there, and gives up what it refuses for good', async () => {
    const { id } = await merchant.enroll();
    const { port } = receiver;
    await listening(
      async (kit) => {
        receiver.setResponder((_, answer) => answer.writeHead(receiver.requests.length < 2 ? 500 : 204).end());
        await changePoints(id, 1);
        await until(() => receiver.requests.length === 2);
        await receiver.stop();
        await changePoints(id, 2);
        await until(() => kit.lines().some((line) => line.includes('ECONNREFUSED')));
        receiver = await startReceiver((_, answer) => answer.writeHead(500).end(), { port });
        await until(() => kit.lines().some((line) => JSON.parse(line).givenUp));
        await changePoints(id, 3);
        await until(() => deltasOf(receiver.requests.map(({ body }) => JSON.parse(body.toString()))).includes(3));
      },
      ...['--types', 'points.changed', '--attempts', '2'],
    );
    const said = receiver.requests.slice(0, 3).map(({ body }) => JSON.parse(body.toString()).data.delta);
    expect(said).toEqual([2, 2, 3]);
  });

  it('says so when its place is gone, and starts at the newest event', async () => {
    await listening(async () => undefined);
    await service.deps.collections.apiKeys.updateOne(
      { merchantId: merchant.id },
      { $set: { merchantId: `${merchant.id}-2` } },
    );
    const kit = startKit(['listen', '--forward-to', receiver.url], env);
    await until(() => kit.lines().length > 0);
    kit.process.kill('SIGINT');
    expect(await kit.ended).toBe(0);
    expect(kit.errors()).toContain('is gone');
  });
});

describe('trigger', () => {
  it.each([
    'member.created',
    'member.updated',
    'member.deleted',
    'points.changed',
    'reward.redeemed',
    'pass.created',
    'pass.scanned',
    'campaign.sent',
    'batch.completed',
    'webhook.disabled',
  ])('makes %s happen', async (type) => {
    const { code, lines, errors } = await runKit(['trigger', type, '--json'], env);
    expect({ code, errors }).toEqual({ code: 0, errors: '' });
    expect(lines.map((line) => JSON.parse(line).event)).toEqual([type]);
  });

  it('says what it cannot make happen', async () => {
    expect(await runKit(['trigger', 'pass.installed'], env)).toMatchObject({
      code: 1,
      errors: expect.stringContaining('phone'),
    });
    expect(await runKit(['trigger', 'nothing'], env)).toMatchObject({
      code: 2,
      errors: expect.stringContaining('one of'),
    });
  });
});

describe('tail', () => {
  it('shows requests and deliveries as they happen, each once', async () => {
    await merchant.call('/merchants/me/webhooks', { body: { url: receiver.url, events: ['points.changed'] } });
    const { id } = await merchant.enroll();
    const kit = startKit(['tail', '--json'], env);
    await until(() => kit.errors().includes('as they happen'));
    await changePoints(id, 5);
    const shown = () => kit.lines().map((line) => JSON.parse(line));
    const changes = () => shown().filter(({ path }) => path === `/merchants/me/members/${id}/points`);
    const delivered = () => shown().filter(({ kind, state }) => kind === 'delivery' && state === 'succeeded');
    await until(() => changes().length > 0 && delivered().length > 0);
    await until(() => shown().filter(({ kind }) => kind === 'request').length > 3);
    kit.process.kill('SIGINT');
    expect(await kit.ended).toBe(0);
    expect([changes().length, delivered().length]).toEqual([1, 1]);
    expect(changes()[0]).toMatchObject({ kind: 'request', method: 'PATCH', status: 200 });
  });

  it('shows one request and what followed from it', async () => {
    const { id } = await merchant.enroll();
    const answer = await merchant.call(`/merchants/me/members/${id}/points`, { method: 'PATCH', body: { delta: 5 } });
    const requestId = answer.headers.get('X-Request-Id') ?? '';
    const { lines } = await until(async () => {
      const ran = await runKit(['tail', requestId], env);
      return ran.code === 0 && ran;
    });
    expect(lines[0]).toContain(`PATCH /merchants/me/members/${id}/points  200`);
    expect(lines.some((line) => line.includes('ledger') && line.includes('adjust 5'))).toBe(true);
    const unknown = await runKit(['tail', 'req_not_there'], env);
    expect(unknown).toMatchObject({ code: 1, errors: expect.stringMatching(/^REQUEST_NOT_FOUND: /) });
  });

  it('shows a request whose id begins like an option, and says how to write it', async () => {
    const headers = { 'X-Request-Id': '-order-17' };
    await merchant.call('/merchants/me/members', { headers });
    expect(await runKit(['tail', '-order-17'], env)).toMatchObject({
      code: 2,
      errors: expect.stringContaining("'--'"),
    });
    const { lines } = await until(async () => {
      const ran = await runKit(['tail', '--', '-order-17'], env);
      return ran.code === 0 && ran;
    });
    expect(lines[0]).toContain('GET /merchants/me/members  200');
  });
});

describe('mcp', () => {
  it('reads with the key of the caller, and offers nothing that writes', async () => {
    const { id, firstName } = await merchant.enroll({ firstName: 'Ada' });
    const kit = startKit(['mcp'], env);
    let asked = 0;
    const ask = async (method: string, params: object = {}) => {
      asked += 1;
      const own = asked;
      kit.process.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: own, method, params })}\n`);
      const answers = () => kit.lines().map((line) => JSON.parse(line));
      return (await until(() => answers().find((answer) => answer.id === own))).result;
    };
    const call = (name: string, given: object = {}) => ask('tools/call', { name, arguments: given });
    const clientInfo = { name: 'test', version: '1' };
    const hello = await ask('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
    expect(hello.serverInfo.name).toBe('loyalty-pass');
    kit.process.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');

    const { tools }: { tools: { name: string; annotations: object }[] } = await ask('tools/list');
    const names = tools.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['listMembers', 'getMember', 'listTransactions', 'readFeed']));
    expect(names.filter((name) => /^(create|update|delete|revoke|adjust|redeem|enroll|send)/.test(name))).toEqual([]);
    expect(tools.every(({ annotations }) => JSON.stringify(annotations).includes('"readOnlyHint":true'))).toBe(true);

    const member = await call('getMember', { id });
    expect(JSON.parse(member.content[0].text)).toMatchObject({ id, firstName });
    const list = await call('listMembers', { q: 'Ada', pageSize: 1 });
    expect(JSON.parse(list.content[0].text).items).toHaveLength(1);
    const csv = await call('exportTimeline', { id });
    expect(csv.content[0].text).toContain(',');
    expect(await call('getMember', { id: 'x' })).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(/^MEMBER_NOT_FOUND: /) }],
    });
    expect(await call('getMember')).toMatchObject({ isError: true, content: [{ text: 'id: required' }] });
    expect(await call('eraseMember', { id })).toMatchObject({ isError: true });
    kit.process.stdin.end();
    expect(await kit.ended).toBe(0);
    expect(kit.errors()).toBe('');
  });

  it('ends with a signal', async () => {
    const kit = startKit(['mcp'], env);
    kit.process.stdin.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n');
    await until(() => kit.lines().length === 1);
    kit.process.kill('SIGTERM');
    expect(await kit.ended).toBe(0);
  });
});

describe('the command', () => {
  it('verifies what the service sends', async () => {
    const made = await merchant.call('/merchants/me/webhooks', {
      body: { url: receiver.url, events: ['member.created'] },
    });
    await merchant.enroll();
    await until(() => receiver.requests.length === 1);
    const { headers = {}, body = Buffer.alloc(0) } = receiver.requests[0] ?? {};
    const captured = `${Object.entries(headers)
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join('')}\r\n${body}`;
    const verified = (secret: string) => runKit(['verify', '--json', '--secret', secret], env, captured);
    expect(await verified(made.body.data.secret)).toMatchObject({ code: 0, errors: '' });
    const { code, lines } = await verified('another-secret');
    expect([code, JSON.parse(lines[0] ?? '{}').cause]).toEqual([1, 'wrong-secret']);
  });

  it('explains itself and names mistakes, each with its exit code', async () => {
    for (const verb of ['listen', 'trigger', 'tail', 'verify', 'mcp']) {
      const { code, lines } = await runKit([verb, '--help'], {});
      expect(code).toBe(0);
      expect(lines.some((line) => line.startsWith(`Example: npm run -s kit -- ${verb}`))).toBe(true);
    }
    expect(await runKit(['listen', 'here', '--help'], {})).toMatchObject({ code: 0, errors: '' });
    expect(await runKit(['lisen'], env)).toMatchObject({
      code: 2,
      errors: expect.stringContaining('"lisen" is no verb'),
    });
    expect(await runKit(['listen', '--forward'], env)).toMatchObject({ code: 2 });
    const lost = await runKit(['trigger', 'points.changed'], {
      STACK_DIR: folder,
      LOYALTY_URL: '',
      LOYALTY_API_KEY: '',
    });
    expect(lost).toMatchObject({ code: 1, errors: expect.stringContaining('No stack is running') });
    const refused = await runKit(['trigger', 'points.changed'], { ...env, LOYALTY_API_KEY: 'lps_wrong' });
    expect(refused).toMatchObject({ code: 1, errors: expect.stringMatching(/^INVALID_API_KEY: /) });
  });
});
