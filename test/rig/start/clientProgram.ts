// The program of an integrator with the client that was generated from the OpenAPI document: subscribe, enroll, award
// points, redeem, replay. It is a string, because the client's types are generated while the test runs.

export const clientProgram = `
import createClient from 'openapi-fetch';
import type { paths } from './schema.js';

const client = createClient<paths>({
  baseUrl: String(process.env.BASE_URL),
  headers: { 'X-API-Key': String(process.env.API_KEY) },
});

function must<T>({ data, error }: { data?: { success: true; data: T }; error?: unknown }): T {
  if (!data) throw new Error(JSON.stringify(error));
  return data.data;
}

const subscription = must(
  await client.POST('/merchants/me/webhooks', {
    body: { url: String(process.env.RECEIVER_URL), events: ['points.changed'] },
  }),
);
const member = must(
  await client.POST('/merchants/me/members', {
    body: { programId: String(process.env.PROGRAM_ID), firstName: 'Ada', initialPoints: 95 },
  }),
);
const path = { id: member.id };
const header = { 'Idempotency-Key': 'client-change-1' };
const award = () => client.PATCH('/merchants/me/members/{id}/points', { params: { path, header }, body: { delta: 10 } });
const first = await award();
const retried = await award();
const awarded = must(first);
const redeemed = must(await client.POST('/merchants/me/members/{id}/redeem', { params: { path } }));
const refused = await client.POST('/merchants/me/members/{id}/redeem', { params: { path } });

async function delivered() {
  for (;;) {
    const query = { subscriptionId: subscription.id, eventType: 'points.changed', success: true };
    const { items } = must(await client.GET('/merchants/me/webhooks/delivery-logs', { params: { query } }));
    if (items[0]) return items[0];
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
const delivery = await delivered();
const replayed = must(
  await client.POST('/merchants/me/webhooks/delivery-logs/{logId}/replay', { params: { path: { logId: delivery.id } } }),
);

console.log(
  JSON.stringify({
    current: [awarded.current, redeemed.current],
    replayedAnswer: [retried.response.headers.get('Idempotent-Replayed'), must(retried).current],
    refused: refused.error?.error.code,
    sameEvent: replayed.eventId === delivery.eventId,
    eventId: delivery.eventId,
  }),
);
`;
