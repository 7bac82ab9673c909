// What the containers call: a stand-in for Apple and the merchant's receivers, on this machine's address in the network
// of the containers.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { createRandom } from '../crash/rig/random.js';
import { type SubscribedReceiver, startReceivers } from '../crash/rig/receivers.js';
import { type Apple, startApple } from '../crash/rig/world.js';
import { createTestAuthority } from '../rig/standins/certificates.js';

const run = promisify(execFile);

export interface StandIns {
  apple: Apple;
  receivers: SubscribedReceiver[];
  /** What the service needs to call them. */
  env: Record<string, string>;
  stop(): Promise<void>;
}

/** `keeper` is a container of that name which keeps the network's bridge, and so the address, while others stop. */
export async function startStandIns(network: string, keeper: string): Promise<StandIns> {
  await run('podman', ['network', 'create', network]);
  await run('podman', ['run', '--detach', '--rm', '--name', keeper, '--network', network, base, 'sleep', '86400']);
  const { stdout } = await run('podman', ['network', 'inspect', network, '--format', '{{(index .Subnets 0).Gateway}}']);
  const host = stdout.trim();
  const authority = createTestAuthority();
  const [apple, receivers] = await Promise.all([
    startApple({ host, certificate: authority.issue([host]), ca: authority.ca }),
    startReceivers(createRandom(41).fork('audience'), { host }),
  ]);
  // The compose file gives the certificates as files.
  const { APNS_ORIGIN = '', APNS_CA = '' } = apple.env;
  return {
    apple,
    receivers,
    env: { APNS_ORIGIN, APNS_CA, WEBHOOK_ALLOW_HTTP: 'true', WEBHOOK_ALLOW_CIDRS: `${host}/32` },
    async stop() {
      await Promise.all(receivers.map((receiver) => receiver.stop()));
      await apple.apns.close();
      await run('podman', ['rm', '--force', '--time', '0', keeper]);
      await run('podman', ['network', 'rm', '--force', network]);
    },
  };
}

const base = 'localhost/rehearsal-debian';
