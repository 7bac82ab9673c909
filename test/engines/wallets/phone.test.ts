// The phone programs for integrators, run as processes: with the local APNs and Google, and without any wallet.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../rig/checks/until.js';
import { aMerchant } from '../../rig/start/merchant.js';
import { joinInPublic } from '../../rig/start/realWallets.js';
import { startService, type TestService } from '../../rig/start/service.js';

interface Running {
  said: () => string;
  end: () => Promise<void>;
}

let stackDir: string;
const running: Running[] = [];
const services: TestService[] = [];

function phone(...args: string[]): Running {
  const child: ChildProcess = spawn(process.execPath, ['--import', 'tsx', 'test/rig/phones/phone.ts', ...args], {
    env: { ...process.env, STACK_DIR: stackDir },
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (bytes: Buffer) => {
      said += bytes.toString('utf8');
    });
  const ended = once(child, 'exit');
  const one = {
    said: () => said,
    async end() {
      child.kill('SIGINT');
      await ended;
    },
  };
  running.push(one);
  return one;
}

const heard = (one: Running, words: string | RegExp): Promise<true> =>
  until(() => (typeof words === 'string' ? one.said().includes(words) : words.test(one.said())));

beforeAll(async () => {
  stackDir = await mkdtemp(join(tmpdir(), 'loyalty-pass-phone-'));
});
afterAll(async () => {
  await Promise.all(running.map(({ end }) => end()));
  for (const service of services) await service.stop();
  await rm(stackDir, { recursive: true, force: true });
});

async function serviceWith(env: Record<string, string>) {
  const service = await startService({ env });
  services.push(service);
  const merchant = await aMerchant(service);
  const { slug } = await merchant.program({ name: 'Corner Coffee' });
  const email = `${crypto.randomUUID()}@example.com`;
  const { cardUrl } = await joinInPublic(service, { slug, email, firstName: 'Ada' });
  const member = await until(() => service.deps.collections.members.findOne({ email }));
  const award = (changeMessage: string) =>
    merchant.call(`/merchants/me/members/${member._id}/points`, { method: 'PATCH', body: { delta: 5, changeMessage } });
  return { service, cardUrl, member, award };
}

describe('npm run phone', () => {
  it('adds a pass, shows each push, fetch and version, and keeps its identity when it is started again', async () => {
    const standIns = phone('wallets');
    await heard(standIns, 'npm start');
    const lines = (await readFile(join(stackDir, 'wallets', 'wallets.env'), 'utf8')).trim().split('\n');
    const env = Object.fromEntries(lines.map((line) => /^(\w+)="(.*)"$/.exec(line)?.slice(1) as [string, string]));
    const { service, cardUrl, member, award } = await serviceWith(env);

    const iphone = phone('add', cardUrl);
    await heard(iphone, 'waiting for pushes');
    const wallet = phone('save', cardUrl);
    await heard(wallet, 'saved ');
    await until(async () => (await service.deps.collections.members.findOne({ _id: member._id }))?.pass.googleSaved);
    expect((await award('Five more')).body.data.passUpdate).toMatchObject({
      apple: { devicesNotified: 1, mode: 'real' },
      google: { objectPatched: true, mode: 'real' },
    });
    await heard(iphone, /push for pass\.com[\s\S]*passes\/[\s\S]*POINTS +5[\s\S]*on the lock screen: Five more/);
    expect(iphone.said()).toContain(member.memberCode);
    await heard(wallet, /POINTS +5[\s\S]*Five more/);
    expect(standIns.said()).toContain('push to ');

    await iphone.end();
    const again = phone('add', `${cardUrl}?welcome`);
    await heard(again, 'waiting for pushes');
    const devices = await service.deps.collections.devices.find({ memberId: member._id }).toArray();
    expect(devices).toHaveLength(1);
    expect(
      await service.deps.collections.events.countDocuments({ type: 'pass.installed', 'data.platform': 'apple' }),
    ).toBe(1);
  });

  it('follows the web card when passes are in stub mode', async () => {
    const { cardUrl, award } = await serviceWith({});
    const follower = phone('add', cardUrl);
    await heard(follower, /stub here[\s\S]*POINTS +0/);
    await award('Hello Ada');
    await heard(follower, /POINTS +5[\s\S]*Hello Ada/);
  });

  it('reports what is missing in one line', async () => {
    const [nothing, nowhere] = [phone(), phone('add', 'http://127.0.0.1:9/passes/none')];
    await heard(nothing, 'npm run phone -- add PASS_URL');
    await heard(nowhere, 'is not the address of a card here');
    expect(nowhere.said().trim().split('\n')).toHaveLength(1);
  });
});
