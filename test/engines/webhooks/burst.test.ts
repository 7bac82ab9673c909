// A burst of new connections is answered late, but not with 503, while MongoDB is healthy. The process has the timeouts
// of one that answers callers, and none may end because the process was busy.
import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { aMerchant, type TestMerchant } from '../../rig/start/merchant.js';
import { startService, type TestService } from '../../rig/start/service.js';

let service: TestService;
let merchant: TestMerchant;

beforeAll(async () => {
  service = await startService({ worker: false, patience: 'caller', env: { LOG_LEVEL: 'warn' } });
  merchant = await aMerchant(service);
  await merchant.enroll({ email: 'ada@example.com' });
});
afterAll(() => service.stop());

/** A separate thread, so that the clients do not use the service's processor time. */
const clients = `
const { workerData: { url, headers, count }, parentPort } = require('node:worker_threads');
const { request } = require('node:http');
const one = () => new Promise((resolve) => {
  request(url, { agent: false, headers }, (answer) => {
    let text = '';
    answer.on('data', (part) => { text += part; });
    answer.on('end', () => resolve(answer.statusCode === 200 ? '200' : answer.statusCode + ' ' + text));
  })
    .on('error', (error) => resolve(error.code)).end();
});
Promise.all(Array.from({ length: count }, one)).then((statuses) => {
  const counts = {};
  for (const status of statuses) counts[status] = (counts[status] ?? 0) + 1;
  parentPort.postMessage(counts);
});`;

const burst = (count: number): Promise<Record<string, number>> =>
  new Promise((resolve, reject) => {
    const workerData = {
      url: `${service.baseUrl}/merchants/me/members`,
      headers: { 'X-API-Key': merchant.apiKey },
      count,
    };
    new Worker(clients, { eval: true, workerData }).once('message', resolve).once('error', reject);
  });

it('a burst of new connections is answered with 200 on each', async () => {
  expect(await burst(1_000)).toEqual({ 200: 1_000 });
});
