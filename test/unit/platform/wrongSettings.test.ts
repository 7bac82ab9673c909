// A process of the service whose settings are wrong ends at once, with a code of its own and a line for each setting.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const given = {
  ...{ HOST: '127.0.0.1', PORT: '0', METRICS_PORT: '0', WORKER_METRICS_PORT: '0' },
  ...{ CONSOLE_JWT_SECRET: '0'.repeat(32), SECRETS_KEY: Buffer.alloc(32).toString('base64') },
  // Nothing is there.
  ...{ MONGODB_URI: 'mongodb://127.0.0.1:1/', TEMPORAL_ADDRESS: '127.0.0.1:1' },
};
const wrong = {
  ...{ MONGODB_URI: 'mongodb://127.0.0.1:1/?speed=high', TEMPORAL_ADDRESS: '127.0.0.1:high' },
  ...{ APPLE_SIGNER_KEY_FILE: '/', SMTP_CA_FILE: '/nowhere/ca.pem' },
};

it.each([
  ['api', wrong],
  ['api', { HOST: '192.0.2.1' }],
  ['worker', wrong],
])('%s ends with exit code 78 and names %o', async (name, settings) => {
  const ended = spawn(process.execPath, ['--import', 'tsx', join(name, 'main.ts')], {
    cwd: join(import.meta.dirname, '..', '..', '..'),
    env: { PATH: process.env.PATH, ...given, ...settings },
  });
  let printed = '';
  for (const stream of [ended.stdout, ended.stderr]) stream.on('data', (data) => (printed += String(data)));
  const [code] = await once(ended, 'close');
  for (const setting of Object.keys(settings)) expect(printed).toContain(setting);
  expect(code).toBe(78);
});
