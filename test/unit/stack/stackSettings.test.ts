// The settings of `npm start`: the demo's defaults, and the user's overrides.
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { ExpectedFailure } from '../../../stack/expectedFailure.js';
import { readSettings } from '../../../stack/settings.js';

function failureOf(env: NodeJS.ProcessEnv): ExpectedFailure {
  try {
    readSettings(env);
  } catch (error) {
    if (error instanceof ExpectedFailure) return error;
    throw error;
  }
  throw new Error('The settings were accepted.');
}

test('without any environment the demo listens on loopback and may call receivers on loopback', () => {
  const settings = readSettings({});
  expect(settings).toMatchObject({ host: '127.0.0.1', port: 3000, metricsPort: 9464, stackDir: resolve('.stack') });
  expect(settings.env).toMatchObject({ WEBHOOK_ALLOW_HTTP: 'true', WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8,::1/128' });
});

test("the user's settings override the demo's, also when they are empty", () => {
  const { env } = readSettings({ WEBHOOK_ALLOW_HTTP: 'false', WEBHOOK_ALLOW_CIDRS: '' });
  expect(env).toMatchObject({ WEBHOOK_ALLOW_HTTP: 'false', WEBHOOK_ALLOW_CIDRS: '' });
});

test('mails go into a folder of the stack, unless SMTP_URL is set, also to nothing', () => {
  expect(readSettings({ STACK_DIR: '/data/stack' }).env.MAIL_FOLDER).toBe(join('/data/stack', 'mail'));
  expect(readSettings({ SMTP_URL: '' }).env).not.toHaveProperty('MAIL_FOLDER');
  expect(readSettings({ SMTP_URL: 'smtps://mail.example.com' }).env).not.toHaveProperty('MAIL_FOLDER');
  expect(readSettings({ MAIL_FOLDER: '/data/mail' }).env.MAIL_FOLDER).toBe('/data/mail');
});

test('an empty address of an engine counts as unset', () => {
  const { given, env } = readSettings({ MONGODB_URI: '', TEMPORAL_ADDRESS: '', REDIS_URL: '' });
  expect(given).toEqual({ mongodbUri: undefined, temporalAddress: undefined, redisUrl: undefined });
  expect(env).not.toHaveProperty('MONGODB_URI');
});

test('one message names every wrong variable of the stack and of the service', () => {
  const failure = failureOf({ PORT: 'three', STACK_MONGO_PORT: '99999', SECRETS_KEY: 'short', STACK_DIR: '' });
  expect(failure.exitCode).toBe(78);
  for (const name of ['PORT', 'STACK_MONGO_PORT', 'SECRETS_KEY', 'STACK_DIR']) expect(failure.message).toContain(name);
  expect(failure.message).not.toContain('METRICS_PORT');
});
