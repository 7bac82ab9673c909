// A merchant with twenty thousand phones: a change of all passes uses one connection to APNs and loses no push.
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { createApns } from '../../activities/wallets/apple/apns.client.js';
import { loadAppleCredentials } from '../../activities/wallets/apple/credentials.rules.js';
import { startApnsServer } from '../rig/standins/apnsServer.js';
import { makeAppleCertificates } from '../rig/standins/appleCertificates.js';

it('one connection carries a push to a merchant’s twenty thousand devices', async () => {
  const certificates = await makeAppleCertificates();
  // New certificates are valid from the next second at the latest.
  const credentials = loadAppleCredentials(certificates.settings, new Date(Date.now() + 1_000));
  if (credentials.mode === 'stub') throw new Error(credentials.reason);
  const server = await startApnsServer(certificates, { maxConcurrentStreams: 100 });
  const { origin, ca } = server;
  const apns = createApns({ origin, ca, credentials, log: pino({ level: 'silent' }), timeoutMs: 100_000 });
  try {
    const answers = await apns.push(Array.from({ length: 20_000 }, (_, index) => `device-${index}`));
    expect(answers).toHaveLength(20_000);
    expect(answers.filter(({ outcome }) => outcome !== 'sent')).toEqual([]);
    expect(server.connectionCount()).toBe(1);
  } finally {
    await apns.close();
    await server.close();
  }
});
