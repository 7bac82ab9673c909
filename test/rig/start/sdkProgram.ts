// The program of an integrator with the packed SDK: it enrolls, changes points many times, reads the list and the feed.
// It is a string, because the package is made while the test runs.
export const sdkProgram = `
import { createClient, LoyaltyError, type LoyaltyEvent, verifyWebhook, WebhookVerificationError } from '@loyalty-pass/sdk';

const { LOYALTY_URL: baseUrl = '', LOYALTY_API_KEY: apiKey = '', PROGRAM_ID: programId = '' } = process.env;
const client = createClient({ baseUrl, apiKey });

const { data: member } = await client.POST('/merchants/me/members', { body: { programId, firstName: 'Ada' } });
const path = { id: member.id };
const currents: number[] = [];
for (let delta = 1; delta <= 12; delta += 1) {
  const { data } = await client.PATCH('/merchants/me/members/{id}/points', { params: { path }, body: { delta } });
  currents.push(data.current);
}
const refused = await client
  .POST('/merchants/me/members/{id}/redeem', { params: { path }, body: { rewardId: 'none' } })
  .then(() => undefined, (error: unknown) => (error instanceof LoyaltyError ? error : undefined));

const query = { pageSize: 5 };
const deltas: number[] = [];
for await (const entry of client.items('/merchants/me/members/{id}/transactions', { params: { path, query } }))
  deltas.push(entry.delta);

const stop = new AbortController();
const told: number[] = [];
for await (const event of client.events({ types: ['points.changed'], signal: stop.signal, pollMs: 50 })) {
  if (event.event === 'points.changed') told.push(event.data.delta);
  if (told.length === 12) stop.abort();
}

const reason = await verifyWebhook({}, '{}', 'a-secret').then(
  (event: LoyaltyEvent) => event.eventId,
  (error: unknown) => (error instanceof WebhookVerificationError ? error.reason : ''),
);
console.log(JSON.stringify({ id: member.id, currents, refused: refused?.code, deltas, told, reason }));
`;
