// Creates data before the first request, because requests with unknown ids would be answered 404. Random values are
// used too.
import type { StackFile } from '../../stack/stackFile.js';
import { csvOf, importForm } from '../rig/imports.js';

type Seed = Pick<StackFile, 'baseUrl' | 'demo'>;

/** Values by the name of their dictionary. */
export type Dictionaries = Record<string, string[]>;

// biome-ignore lint/suspicious/noExplicitAny: an answer is whatever came; what is missing fails where it is used
async function call({ baseUrl, demo }: Seed, path: string, body?: unknown): Promise<any> {
  const form = body instanceof FormData;
  const answer = await fetch(`${baseUrl}/merchants/me${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'X-API-Key': demo.apiKey, ...(!form && { 'Content-Type': 'application/json' }) },
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
    batches: [imported.batchId, campaign.id],
    files: [csv, csvOf(2, 'someone')],
  };
}

/** The parameters of paths with the dictionary that their values come from. */
export const bindings: [pathRegex: string, parameters: Record<string, keyof Dictionaries>][] = [
  ['/programs/', { 'path.id': 'programs' }],
  ['/members/\\{id\\}', { 'path.id': 'members' }],
  ['/members$', { 'body.programId': 'programs', 'query.programId': 'programs', 'query.serial': 'codes' }],
  ['/import', { 'body.programId': 'programs', 'query.programId': 'programs', 'body.file': 'files' }],
  ['/batches/', { 'path.id': 'batches' }],
  ['/delivery-logs', { 'path.logId': 'deliveries', 'query.subscriptionId': 'webhooks' }],
  ['/webhooks/\\{id\\}', { 'path.id': 'webhooks' }],
  ['/enroll/', { 'path.slug': 'slugs' }],
  ['/scans', { 'body.code': 'codes' }],
  ['/campaigns$', { 'body.programId': 'programs' }],
  ['/campaigns/', { 'path.id': 'campaigns' }],
];
