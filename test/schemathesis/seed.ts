// Creates data before the first request, because requests with unknown ids would be answered 404. Random values are
// used too.
import { demoMerchantId } from '../../stack/demo.js';
import type { StackFile } from '../../stack/stackFile.js';
import { csvOf, importForm } from '../rig/start/imports.js';

type Seed = Pick<StackFile, 'baseUrl' | 'demo'>;

/** Values by the name of their dictionary. */
export type Dictionaries = Record<string, (string | number)[]>;

// biome-ignore lint/suspicious/noExplicitAny: an answer is whatever came; what is missing fails where it is used
async function call({ baseUrl, demo }: Seed, path: string, body?: unknown): Promise<any> {
  const form = body instanceof FormData;
  const answer = await fetch(`${baseUrl}/merchants/me${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      Authorization: `Bearer ${demo.consoleToken}`,
      ...(!form && { 'Content-Type': 'application/json' }),
    },
    ...(body !== undefined && { body: form ? body : JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${text}`);
  return JSON.parse(text).data;
}

export async function seed(stack: Seed): Promise<Dictionaries> {
  const { programs } = stack.demo;
  const programId = Object.values(programs);
  const members = await Promise.all(
    programId.map((id, index) => {
      // A full stamp card; for points a balance that redeeming does not use up.
      const initialPoints = id === programs.stamps ? 10 : 1_000_000;
      return call(stack, '/members', {
        programId: id,
        firstName: 'Ada',
        email: `ada${index}@example.com`,
        initialPoints,
      });
    }),
  );
  const subscribed = async () => {
    const webhook = await call(stack, '/webhooks', { url: 'http://127.0.0.1:9/nobody', events: ['*'] });
    await call(stack, `/webhooks/${webhook.id}/test`, {});
    return webhook;
  };
  const webhook = await subscribed();
  // A second subscription that no request uses or deletes, so that its deliveries can be replayed until the end.
  await subscribed();
  const { items } = await call(stack, '/webhooks/delivery-logs');
  const campaign = await call(stack, '/campaigns', { message: 'Hello' });
  const earning = await seedEarning(stack);
  // A code pairs once.
  const readers = await Promise.all(
    Array.from({ length: 20 }, (_, index) => call(stack, '/readers', { name: `Till ${index}` })),
  );
  const csv = csvOf(3);
  const imported = await call(stack, '/members/import', importForm({ programId: programs.points, file: csv }));
  return {
    programs: programId,
    slugs: ['demo-points', 'demo-stamps', 'demo-tiered'],
    members: members.map(({ id }) => id),
    codes: members.map(({ memberCode }) => memberCode),
    webhooks: [webhook.id],
    deliveries: items.map(({ id }: { id: string }) => id),
    campaigns: [campaign.id],
    pairingCodes: readers.map(({ pairingCode }) => pairingCode),
    batches: [imported.batchId, campaign.id],
    files: [csv, csvOf(2, 'someone')],
    mappings: ['{"firstName":"firstName"}', '{"Till":null}'],
    ...earning,
  };
}

/** A published program with an earning rule, and a member of it that no request deletes. */
async function seedEarning(stack: Seed): Promise<Dictionaries> {
  const { _id: programId } = await call(stack, '/programs', {
    name: 'Earning',
    slug: 'earning',
    style: 'points',
    fields: { primaryLabel: 'POINTS' },
    goal: 100,
    earn: { per: 100, points: 1, currency: 'EUR' },
  });
  await call(stack, `/programs/${programId}/publish`, {});
  const { items: versions } = await call(stack, `/programs/${programId}/versions`);
  const member = await call(stack, '/members', { programId, firstName: 'Earner', email: 'earner@example.com' });
  const regular = await call(stack, '/members', { programId, firstName: 'Regular', initialPoints: 1_000_000 });
  for (let sale = 0; sale < 20; sale += 1) await call(stack, `/members/${member.id}/earn`, { amount: 1_000 });
  const { items: ledger } = await call(stack, `/members/${member.id}/transactions`);
  return {
    earningPrograms: [programId],
    versions: versions.map(({ version }: { version: number }) => String(version)),
    earners: [member.id],
    earnerCodes: [member.memberCode],
    tillCodes: [regular.memberCode],
    transactions: ledger.map(({ id }: { id: string }) => id),
    currencies: ['EUR'],
    amounts: [250, 1_000],
    // A key that is used again needs the body of the first time.
    keys: Array.from({ length: 2_000 }, (_, index) => `tap-number-${index}`),
    saleTimes: [new Date().toISOString()],
    merchants: [demoMerchantId],
    timeZones: ['Europe/Berlin'],
  };
}

/**
 * The parameters of operations with the dictionary that their values come from. The first entry that matches an
 * operation is used.
 */
export const bindings: [pathRegex: string, parameters: Record<string, keyof Dictionaries>][] = [
  ['/till/pair$', { 'body.code': 'pairingCodes' }],
  ['/till/lookup$', { 'body.memberCode': 'tillCodes', 'body.programId': 'earningPrograms' }],
  [
    '/till/earn$',
    {
      'body.memberCode': 'tillCodes',
      'body.programId': 'earningPrograms',
      'body.amount': 'amounts',
      'body.currency': 'currencies',
      'body.occurredAt': 'saleTimes',
      'header.Idempotency-Key': 'keys',
    },
  ],
  [
    '/till/',
    {
      'body.memberCode': 'tillCodes',
      'body.programId': 'earningPrograms',
      'body.occurredAt': 'saleTimes',
      'header.Idempotency-Key': 'keys',
    },
  ],
  ['/versions/', { 'path.id': 'earningPrograms', 'path.version': 'versions' }],
  ['/reverse$', { 'path.id': 'earners', 'path.transactionId': 'transactions' }],
  ['/earn$', { 'path.id': 'earners', 'body.currency': 'currencies', 'body.occurredAt': 'saleTimes' }],
  [
    '/programs/\\{id\\}$',
    {
      'path.id': 'earningPrograms',
      'body._id': 'earningPrograms',
      'body.merchantId': 'merchants',
      'body.timeZone': 'timeZones',
    },
  ],
  ['/programs/', { 'path.id': 'programs' }],
  ['/members/\\{id\\}', { 'path.id': 'members' }],
  ['/members$', { 'body.programId': 'programs', 'query.programId': 'programs', 'query.serial': 'codes' }],
  [
    '/import',
    {
      'body.programId': 'programs',
      'query.programId': 'programs',
      'body.file': 'files',
      'body.mapping': 'mappings',
      'query.mapping': 'mappings',
    },
  ],
  ['/batches/', { 'path.id': 'batches' }],
  ['/delivery-logs', { 'path.logId': 'deliveries', 'query.subscriptionId': 'webhooks' }],
  ['/webhooks/\\{id\\}', { 'path.id': 'webhooks' }],
  ['/enroll/', { 'path.slug': 'slugs' }],
  ['/scans', { 'body.code': 'earnerCodes', 'body.programId': 'earningPrograms' }],
  ['/campaigns$', { 'body.programId': 'programs' }],
  ['/campaigns/', { 'path.id': 'campaigns' }],
];
