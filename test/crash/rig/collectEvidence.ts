// Collects the evidence from the database, the receivers and Temporal after all work is done.
import { fieldOfCount } from '../../../activities/stats/counting.writes.js';
import type { StatsRow } from '../../../schemas/stats/stats.rows.js';
import type { CountName } from '../../../schemas/stats/stats.schema.js';
import type { CountedFound, Evidence, Operation } from '../evidence.js';
import { type Site, styleOf, type World } from './world.js';

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
const number = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);
const texts = (value: unknown): string[] | undefined =>
  Array.isArray(value) ? value.filter((each) => typeof each === 'string') : undefined;

/** Leaves out undefined fields. */
function given<T extends Record<string, unknown>>(fields: T): { [K in keyof T]?: NonNullable<T[K]> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: NonNullable<T[K]>;
  };
}

function countedOf(rows: readonly StatsRow[], deliveriesInLog: number): CountedFound {
  const days = rows.flatMap(({ days: all = {} }) => Object.values(all));
  const sum = (name: CountName) => days.reduce((total, day) => total + (day[fieldOfCount(name)] ?? 0), 0);
  return {
    enrolled: sum('members.enrolled'),
    points:
      sum('points.given') +
      sum('points.imported') +
      sum('points.corrected') -
      sum('points.spent') -
      sum('points.expired'),
    redeems: sum('redeems'),
    deliveries: sum('deliveries.succeeded'),
    deliveriesInLog,
  };
}

export async function collectEvidence(
  { cluster, receivers }: World<Site>,
  operations: Operation[],
  feeds: string[][] = [],
): Promise<Evidence> {
  const { collections } = cluster.deps;
  const [programs, members, ledger, events, stats, deliveries] = await Promise.all([
    collections.programs.find().toArray(),
    collections.members.find().toArray(),
    collections.ledger.find().toArray(),
    collections.events.find({}, { projection: { envelope: 0 } }).toArray(),
    collections.stats.find().toArray(),
    collections.deliveries.find({}, { projection: { history: 0 } }).toArray(),
  ]);
  const byId = new Map(programs.map((program) => [program._id, program]));
  const workflows: Evidence['workflows'] = [];
  for await (const { workflowId, type, status } of cluster.temporal.workflow.list())
    workflows.push({ id: workflowId, type, status: status.name });
  return {
    collectedAt: Date.now(),
    operations,
    feeds,
    workflows,
    counted: countedOf(stats, deliveries.filter(({ state }) => state === 'succeeded').length),
    members: members.map(
      ({ _id, email = '', balance, status, tags, programId, lifetimePoints, redeemedCount, expiry }) => ({
        ...{ id: _id, email, balance, status, tags, lifetimePoints, redeemedCount },
        goal: byId.get(programId)?.goal ?? 0,
        resets: styleOf(programId) === 'stamps',
        ...given({ lots: expiry?.lots.map(({ left, at }) => ({ left, at: at.getTime() })) }),
        ...given({ dailyLimit: byId.get(programId)?.earn?.dailyLimit }),
      }),
    ),
    ledger: ledger.map(({ _id, memberId, type, previous, current, delta, memberVersion, ...row }) => ({
      ...{ id: _id, memberId, type, previous, current, delta, memberVersion },
      lifetime: row.effect?.lifetimePoints ?? 0,
      redeemed: row.effect?.redeemedCount ?? 0,
      ...given({ eventId: row.eventId, reverses: row.reverses, reversedBy: row.reversedBy }),
      ...given({ lots: row.lots?.map(({ by, at }) => ({ by, at: at.getTime() })), createdAt: row.createdAt.getTime() }),
      ...given({ soldOn: row.earning?.soldAt.toISOString().slice(0, 10) }),
    })),
    events: events.map(({ _id, type, memberId = '', data, state, internal }) => ({
      id: _id,
      type,
      memberId,
      memberVersion: number(data.memberVersion) ?? 0,
      published: state === 'published',
      internal: internal === true,
      ...given({
        previous: number(data.previous),
        current: number(data.current),
        platform: text(data.platform),
        status: text(data.status),
        previousStatus: text(data.previousStatus),
        changed: texts(data.changed),
        tags: texts(data.tags),
      }),
    })),
    deliveries: deliveries
      .filter((delivery) => delivery.root === undefined)
      .map(({ _id, eventId, subscriptionId, state }) => ({ id: _id, eventId, subscriptionId, state })),
    subscriptions: receivers.map(({ subscriptionId, name, events: wanted, steady }) => ({
      id: subscriptionId,
      name,
      events: wanted,
      steady,
    })),
    receipts: receivers.flatMap((receiver) => receiver.receipts()),
  };
}
