// Names are resolved by the DNS protocol itself, against a real name server and within a time limit.
import { readFile } from 'node:fs/promises';

import { afterEach, describe, expect, it } from 'vitest';
import { resolveHost } from '../../../activities/webhooks/resolveHost.client.js';
import { type NameServer, startNameServer, type Zone } from '../../rig/standins/nameServer.js';

let nameServer: NameServer | undefined;
afterEach(async () => {
  await nameServer?.stop();
  nameServer = undefined;
});

async function resolveIn(zone: Zone, host: string, timeoutMs = 20_000): Promise<string[]> {
  nameServer = await startNameServer(zone);
  return resolveHost(host, { timeoutMs, servers: [nameServer.address] });
}

describe('a name', () => {
  it('has all its addresses of both families', async () => {
    const addresses = ['192.0.2.1', '127.0.0.1', '2001:db8::1', '::1'];
    expect((await resolveIn(() => addresses, 'hooks.example.test')).toSorted()).toEqual(addresses.toSorted());
  });

  it('has the addresses of its only family', async () => {
    expect(await resolveIn(() => ['192.0.2.1'], 'hooks.example.test')).toEqual(['192.0.2.1']);
    await nameServer?.stop();
    expect(await resolveIn(() => ['2001:db8::1'], 'hooks.example.test')).toEqual(['2001:db8::1']);
  });

  it.each([
    ['does not exist', null],
    ['exists without an address', []],
  ])('that %s is a failure of class dns', async (_what, known) => {
    await expect(resolveIn(() => known, 'hooks.example.test')).rejects.toMatchObject({ kind: 'dns' });
  });

  it('whose server does not answer is a failure of class dns at the timeout', async () => {
    await expect(resolveIn(() => 'silence', 'hooks.example.test', 300)).rejects.toMatchObject({ kind: 'dns' });
  });

  it('uses no thread while its server does not answer', async () => {
    nameServer = await startNameServer(() => 'silence');
    const options = { timeoutMs: 2_000, servers: [nameServer.address] };
    const hosts = Array.from({ length: 20 }, (_, index) => `hooks-${index}.example.test`);
    const internal = Promise.allSettled(hosts.map((host) => resolveHost(host, options)));
    const first = await Promise.race([internal, readFile(import.meta.filename)]);
    expect(first).toBeInstanceOf(Buffer);
    expect((await internal).every(({ status }) => status === 'rejected')).toBe(true);
  });

  it('in the hosts file is resolved from it, without a query', async () => {
    expect(await resolveIn(() => ['192.0.2.1'], 'localhost')).toContain('127.0.0.1');
    expect(nameServer?.asked).toEqual([]);
  });
});
