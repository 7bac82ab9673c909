// Measures the cost of one change, one delivery and one imported row: documents and bytes in MongoDB, workflows and
// actions in Temporal. Prints the table of docs/operating.md, on a running stack: `node --import tsx
// test/bench/costs.ts`.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { Client, Connection } from '@temporalio/client';
import { BSON, MongoClient } from 'mongodb';
import { connectStack } from '../../stack/connect.js';
import { permanentWorkflows } from '../crash/evidence.js';
import { actionsOf } from '../rig/checks/actions.js';

const { mongodbUri, temporalAddress, stack } = connectStack(process.env);
if (!stack) throw new Error('Costs are measured on the demo of a running stack: npm start first.');
const { demo, baseUrl } = stack;
const mongo = new MongoClient(mongodbUri);
const database = mongo.db(process.env.MONGODB_DATABASE ?? 'loyalty');
const connection = await Connection.connect({ address: temporalAddress });
const client = new Client({ connection, namespace: process.env.TEMPORAL_NAMESPACE ?? 'default' });

type Body = Record<string, unknown> | FormData;
// biome-ignore lint/suspicious/noExplicitAny: a bench reads what it asked for
async function call(path: string, method: string, body?: Body): Promise<any> {
  const json = !(body instanceof FormData);
  const response = await fetch(`${baseUrl}/merchants/me${path}`, {
    method,
    headers: { 'X-API-Key': demo.apiKey, ...(json && { 'Content-Type': 'application/json' }) },
    ...(body && { body: json ? JSON.stringify(body) : body }),
  });
  const answer = Object(await response.json());
  if (!response.ok) throw new Error(JSON.stringify(answer));
  return answer.data;
}

interface Size {
  documents: number;
  bytes: number;
}

async function stored(): Promise<Map<string, Size>> {
  const sizes = new Map<string, Size>();
  for (const { name } of await database.listCollections({}, { nameOnly: true }).toArray()) {
    const size: Size = { documents: 0, bytes: 0 };
    for await (const row of database.collection(name).find()) {
      size.documents += 1;
      size.bytes += BSON.calculateObjectSize(row);
    }
    sizes.set(name, size);
  }
  return sizes;
}

async function quiet(): Promise<void> {
  const atWork = { phase: { $nin: ['completed', 'failed', 'cancelled'] } };
  while (
    (await database.collection('batches').countDocuments(atWork)) > 0 ||
    (await database.collection('events').countDocuments({ state: 'new' })) > 0
  )
    await new Promise((resolve) => setTimeout(resolve, 200));
  await new Promise((resolve) => setTimeout(resolve, 1_500));
}

async function measure(what: string, times: number, work: () => Promise<void>): Promise<void> {
  await quiet();
  const before = await stored();
  const since = new Date().toISOString();
  await work();
  await quiet();
  const after = await stored();
  const grown = [...after].map(([name, size]) => ({
    name,
    documents: (size.documents - (before.get(name)?.documents ?? 0)) / times,
    bytes: (size.bytes - (before.get(name)?.bytes ?? 0)) / times,
  }));
  let workflows = 0;
  let actions = 0;
  const duties = permanentWorkflows.map((name) => `"${name}"`).join();
  const query = `StartTime >= "${since}" AND WorkflowType NOT IN (${duties})`;
  for await (const execution of client.workflow.list({ query })) {
    workflows += 1;
    const { workflowId, runId } = execution;
    const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    actions += actionsOf(events ?? []);
  }
  const sum = (part: 'documents' | 'bytes') => grown.reduce((total, row) => total + row[part], 0);
  const where = grown
    .filter(({ documents }) => documents > 0.01)
    .map(({ name, documents }) => `${name} ${documents.toFixed(1)}`);
  const per = (value: number) => String(Number((value / times).toPrecision(2)));
  console.log(
    `| ${what} | ${sum('documents').toFixed(1)} (${where.join(', ')}) | ${Math.round(sum('bytes'))} | ${per(workflows)} | ${per(actions)} |`,
  );
}

/** Answers each event with 500 that often, then with 200. */
async function failingReceiver(failures: number) {
  const seen = new Map<string, number>();
  const server = createServer(async (request, response) => {
    const { eventId } = Object(await json(request));
    const times = seen.get(eventId) ?? 0;
    seen.set(eventId, times + 1);
    response.writeHead(times < failures ? 500 : 200).end();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    accepted: () => [...seen.values()].filter((times) => times > failures).length,
    close: () => server.close(),
  };
}

console.log('| what | documents | bytes of BSON | workflows | actions |\n|---|---|---|---|---|');
const many = 50;
const ids: string[] = [];
const each = async (work: (index: number) => Promise<void>) => {
  for (let index = 0; index < many; index += 1) {
    await work(index);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
};
await measure('enroll', many, () =>
  each(async (index) => {
    const member = await call('/members', 'POST', {
      programId: demo.programs.points,
      firstName: 'Ada',
      lastName: 'Lovelace',
      email: `costs-${Date.now()}-${index}@example.com`,
    });
    ids.push(member.id);
  }),
);
const points = () =>
  each(
    async (index) =>
      void (await call(`/members/${ids[index]}/points`, 'PATCH', { delta: 5, changeMessage: 'Five more' })),
  );
await measure('points', many, points);
for (const [what, failures] of [
  ['points with one delivery', 0],
  ['points with a delivery that fails twice', 2],
] as const) {
  const receiver = await failingReceiver(failures);
  const subscription = await call('/webhooks', 'POST', {
    ...{ url: receiver.url, events: ['points.changed'], retryPolicy: { maxAttempts: 5, backoffMs: 500 } },
  });
  await measure(what, many, async () => {
    await points();
    while (receiver.accepted() < many) await new Promise((resolve) => setTimeout(resolve, 100));
  });
  await call(`/webhooks/${subscription.id}`, 'DELETE');
  receiver.close();
}
const rows = 1_000;
await measure(`imported row (of ${rows})`, rows, async () => {
  const csv = Array.from({ length: rows }, (_, index) => `Ada,Lovelace,import-${Date.now()}-${index}@example.com`);
  const form = new FormData();
  form.set('file', new Blob([['firstName,lastName,email', ...csv].join('\n')], { type: 'text/csv' }), 'members.csv');
  form.set('programId', demo.programs.points);
  await call('/members/import', 'POST', form);
});
await connection.close();
await mongo.close();
