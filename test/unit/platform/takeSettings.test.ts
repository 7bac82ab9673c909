// Settings that the supervisor sends to a process that runs.
import pino from 'pino';
import { afterEach, expect, it, vi } from 'vitest';
import { takeSettings } from '../../../platform/config/takeSettings.js';
import type { Config } from '../../../schemas/shared/config.schema.js';

const before = process.listeners('message');
afterEach(() => {
  for (const listener of process.listeners('message'))
    if (!before.includes(listener)) process.removeListener('message', listener);
});

function taking(reopen: () => Promise<void>) {
  const log = pino({ enabled: false });
  const logged = vi.spyOn(log, 'error');
  const config = {} as Config;
  takeSettings(config, { log, reopen });
  return { config, logged, send: (wallets: object) => process.emit('message', { wallets }, undefined) };
}

const usable = { MONGODB_URI: 'mongodb://127.0.0.1:1/', TEMPORAL_ADDRESS: '127.0.0.1:1' };

it('settings that cannot be used are logged, and change nothing', async () => {
  const { config, logged, send } = taking(async () => {});
  send({ ...usable, PORT: 'ninety' });
  await expect.poll(() => logged).toHaveBeenCalledOnce();
  expect(config).toEqual({});
});

it('wallets that cannot be opened are logged, and the process goes on', async () => {
  const { config, logged, send } = taking(() => Promise.reject(new Error('no such file')));
  send({
    ...usable,
    PORT: '9000',
    CONSOLE_JWT_SECRET: 'a-secret-for-tests-only-0123456789-abc',
    SECRETS_KEY: Buffer.alloc(32).toString('base64'),
  });
  await expect.poll(() => logged).toHaveBeenCalledOnce();
  expect(config.PORT).toBe(9_000);
});
