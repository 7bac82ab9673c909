// `kit trigger`: makes the real thing happen, with a member of its own, and waits for its event.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { LoyaltyClient, LoyaltyEvent } from '../client.js';
import { clock, Failure, type Kit, newestCursor, type Verb } from './verb.js';

type EventType = LoyaltyEvent['event'];

interface Scene {
  client: LoyaltyClient;
  program: { _id: string; goal?: number };
  /** Enrolls a member that is there for this alone. */
  member: (fields?: { initialPoints?: number }) => Promise<{ id: string; memberCode: string }>;
  /** Runs when the event has come. */
  afterwards: (work: () => Promise<unknown>) => void;
}

/** Makes it happen; resolves with the id by which the event is known. */
type Trigger = (scene: Scene) => Promise<string>;

const enrolled: Trigger = async ({ member }) => (await member()).id;
/** Of what was started: a dry run, which has none, is not asked for. */
const idOf = (started: { id: string } | { dryRun: true }): string => ('id' in started ? started.id : '');
const at = (id: string) => ({ params: { path: { id } } });

const triggers: Partial<Record<EventType, Trigger>> = {
  'member.created': enrolled,
  'pass.created': enrolled,
  async 'member.updated'({ client, member }) {
    const { id } = await member();
    await client.PATCH('/merchants/me/members/{id}', { ...at(id), body: { firstName: 'Kitty' } });
    return id;
  },
  async 'member.deleted'({ client, member }) {
    const { id } = await member();
    await client.DELETE('/merchants/me/members/{id}', at(id));
    return id;
  },
  async 'points.changed'({ client, member }) {
    const { id } = await member();
    await client.PATCH('/merchants/me/members/{id}/points', { ...at(id), body: { delta: 1 } });
    return id;
  },
  async 'reward.redeemed'({ client, program, member }) {
    const { id } = await member({ initialPoints: program.goal ?? 0 });
    await client.POST('/merchants/me/members/{id}/redeem', at(id));
    return id;
  },
  async 'pass.scanned'({ client, member }) {
    const { id, memberCode } = await member();
    await client.POST('/merchants/me/scans', { body: { code: memberCode } });
    return id;
  },
  async 'campaign.sent'({ client, program, member }) {
    const { id, memberCode } = await member();
    const tags = [`kit-${memberCode.toLowerCase()}`];
    await client.POST('/merchants/me/members/{id}/tags', { ...at(id), body: { tags } });
    const body = { programId: program._id, tags, message: 'A message of kit trigger' };
    return idOf((await client.POST('/merchants/me/campaigns', { body })).data);
  },
  async 'batch.completed'({ client, program }) {
    const file = new File(['firstName,lastName\nKit,Trigger\n'], 'kit.csv', { type: 'text/csv' });
    return idOf((await client.POST('/merchants/me/imports', { body: { programId: program._id, file } })).data);
  },
  async 'webhook.disabled'({ client, member, afterwards }) {
    const gone = createServer((_, answer) => answer.writeHead(410).end());
    await new Promise<void>((resolve) => gone.listen(0, '127.0.0.1', resolve));
    afterwards(async () => gone.close());
    const url = `http://127.0.0.1:${(gone.address() as AddressInfo).port}/kit`;
    const { data } = await client.POST('/merchants/me/webhooks', { body: { url, events: ['member.created'] } });
    afterwards(() => client.DELETE('/merchants/me/webhooks/{id}', at(data.id)));
    await member();
    return data.id;
  },
};

const needsPhone = ['pass.installed', 'pass.updated', 'pass.removed'];
const waitMs = 60_000;

async function sceneOf(kit: Kit, programId: string | undefined): Promise<Scene & { close: () => Promise<void> }> {
  const client = kit.client();
  const { data: programs } = await client.GET('/merchants/me/programs', { signal: kit.signal });
  const program =
    programs.find(({ _id, style }) => (programId ? _id === programId : style === 'points')) ?? programs[0];
  if (!program || (programId && program._id !== programId))
    throw new Failure(`There is no program ${programId ?? 'yet'}.`);
  const work: (() => Promise<unknown>)[] = [];
  return {
    client,
    program,
    async member(fields = {}) {
      const body = { programId: program._id, firstName: 'Kit', lastName: 'Trigger', ...fields };
      return (await client.POST('/merchants/me/members', { body })).data;
    },
    afterwards: (each) => void work.push(each),
    async close() {
      for (const each of work) await each();
    },
  };
}

async function eventAbout(kit: Kit, type: EventType, id: string, after: string | undefined): Promise<LoyaltyEvent> {
  const over = new AbortController();
  const timer = setTimeout(() => over.abort(), waitMs);
  try {
    const signal = AbortSignal.any([kit.signal, over.signal]);
    for await (const event of kit.client().events({ after, types: [type], signal, pollMs: 250 }))
      if (Object.values(event.data).includes(id)) return event;
  } finally {
    clearTimeout(timer);
  }
  kit.signal.throwIfAborted();
  throw new Failure(`It was done (${id}), but ${type} has not come within a minute.`);
}

const known = Object.keys(triggers);

export const trigger: Verb = {
  usage: 'trigger EVENT [--program ID]',
  does: `Makes the real thing happen, to a member of its own that stays, and shows the event when it has come. EVENT:
${known.slice(0, 5).join(', ')},
${known.slice(5).join(', ')}`,
  example: 'trigger points.changed',
  takesWord: true,
  options: { program: { type: 'string' } },
  async run(kit, { values, args: [type = ''] }) {
    const make = triggers[type as EventType];
    if (needsPhone.includes(type))
      throw new Failure(`${type} needs a phone: add a pass (in the repository: npm run phone).`);
    if (type === 'batch.failed')
      throw new Failure('batch.failed needs a batch that is cancelled while it runs, or a service that fails.');
    if (!make) throw new Failure(`EVENT is one of ${known.join(', ')}.`, 2);
    const scene = await sceneOf(kit, values.program as string | undefined);
    const types = [type as EventType];
    const after = await newestCursor(kit.client(), { types, signal: kit.signal });
    try {
      const event = await eventAbout(kit, type as EventType, await make(scene), after);
      kit.say(
        `${clock(event.occurredAt)}  ${event.event}  ${event.eventId}\n${JSON.stringify(event.data, null, 2)}`,
        event,
      );
    } finally {
      await scene.close();
    }
    return 0;
  },
};
