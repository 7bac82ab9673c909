// Examples of answers, from a table of sample values by field name, so that a new endpoint has an example at once. Each
// value stands once, at the field of the schema; the example of an answer is made of those of its schema's fields.
import { sampleData } from '../../schemas/events/eventSamples.schema.js';
import { type JsonSchema, resolve } from './shapes.view.js';

export const sampleTime = '2026-03-01T09:30:00.000Z';
const memberId = '3f2c9a54-6a0f-4c1e-9a3e-0d1f0a7c5b21';
const id = '0b6c1f0e-4d6f-4f0e-8f9d-3b8a8c2d7e11';
const secret = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD';

/** The keys are `operation.field`, `Component.field`, or the field alone. */
const values: Record<string, unknown> = {
  pairingCode: 'KTRWQEFN',
  pairingLink: 'https://cards.example.com/till#KTRWQEFN',
  'pairTill.token': 'lpr_Zk8y2nQ1pX7vB4mD6tR9wL3sH5cJ0fG8aE2uY1iO7kP',
  lastInitial: 'L',
  id,
  _id: 'demo-points',
  batchId: id,
  memberId,
  subscriptionId: '5d0a7f1b-0f7e-4b7e-8a39-64f3f1a2b9c0',
  eventId: 'a8e1f7b2-3c61-4a05-9f0d-1c2b7e9d4f33',
  memberCode: '7H2K9M4QXT',
  serialNumber: 'b7d9f1f6-9b0e-4f59-8a38-2c5e2f7f1d10',
  programId: 'demo-points',
  merchantId: 'demo',
  firstName: 'Ada',
  lastName: 'Lovelace',
  email: 'ada@example.com',
  fieldValues: { points: 30 },
  balance: 30,
  tags: ['vip'],
  passUrl: 'https://loyalty.example.com/passes/kJ8xq0v2T5mN3bR7wY1cZA',
  saveUrl: 'https://pay.google.com/gp/v/save/eyJhbGciOiJSUzI1NiJ9',
  lastUpdateTag: sampleTime,
  previous: 20,
  current: 30,
  delta: 10,
  field: 'points',
  changeMessage: 'You now have %@ points',
  slug: 'demo-points',
  primaryLabel: 'POINTS',
  goal: 100,
  url: 'https://example.com/webhooks',
  events: ['points.changed', 'reward.redeemed'],
  eventType: 'points.changed',
  enabled: true,
  timeoutMs: 10_000,
  maxAttempts: 8,
  backoffMs: 30_000,
  secret,
  keyPrefix: 'lps_q7Xk2Vf9',
  key: 'lps_q7Xk2Vf9LxUeP3mTzB0aWcR5nYdH8sJgKiQoEtCvMwA',
  roleIds: ['integration'],
  createdBy: 'user-1',
  page: 1,
  pageSize: 25,
  total: 1,
  created: 1,
  success: true,
  statusCode: 200,
  attempts: 1,
  attempt: 1,
  durationMs: 41,
  pushMessages: true,
  row: 1,
  line: 2,
  percent: 100,
  'ImportColumn.header': 'E-Mail',
  'ImportColumn.field': 'email',
  'ImportFailure.reason': 'email: must be an email address',
  rebuilt: true,
  objectPatched: true,
  devicesNotified: 1,
  devicesAttempted: 1,
  description: 'Feeds the data warehouse',
  'SubscriptionHealth.failingSince': null,
  'Delivery.nextAttemptAt': null,
  startedBy: { type: 'api-key', id: 'key-1', name: 'Till backend' },
  actor: { type: 'api-key', id: 'key-1', name: 'Till backend' },
  'ApiKey.name': 'Till backend',
  'ApiKeyWithSecret.name': 'Till backend',
  'Program.name': 'Demo Points',
  'ProgramSummary.name': 'Demo Points',
  'ProgramSnapshot.name': 'Demo Points',
  'Subscription.name': 'example.com',
  'SubscriptionWithSecret.name': 'example.com',
  'Member.id': memberId,
  'MemberWithProgram.id': memberId,
  'MemberDetail.id': memberId,
  'MemberBalance.id': memberId,
  'redeemReward.previous': 120,
  'redeemReward.current': 20,
  'redeemReward.fieldValues': { points: 20 },
  'redeemReward.balance': 20,
  rule: { programVersion: 1 },
  'RewardState.id': 'coffee',
  'RewardState.name': 'Coffee',
  'RewardState.cost': 50,
  'RewardState.missing': 20,
  'earnPoints.awarded': 10,
  'BalanceExplained.lifetimePoints': 130,
  'BalanceExplained.entries': 4,
  'Transaction.type': 'adjust',
  'Delivery.state': 'succeeded',
  'Transaction.id': `points:${memberId}:till-4-receipt-20391`,
  'TimelineItem.type': 'push_sent',
  'TimelineItem.platform': 'apple',
  'Delivery.payload': {
    event: 'points.changed',
    data: sampleData('points.changed', { merchantId: 'demo', now: new Date(sampleTime) }),
  },
};

export interface ExampleOf {
  components: Record<string, JsonSchema>;
  /** Its own values take precedence; without one, the example that the schemas give by themselves. */
  operation?: string;
}

/** An example made of those of the schema's parts. */
export function exampleOf(schema: JsonSchema, at: ExampleOf): unknown {
  if (schema.examples) return schema.examples[0];
  if (schema.allOf?.every(({ $ref, properties }) => $ref ?? properties))
    return Object.assign({}, ...schema.allOf.map((part) => exampleOf(part, at)));
  if (schema.$ref !== undefined) return exampleOf(resolve(schema, at.components), at);
  const choice = schema.anyOf?.[0] ?? schema.oneOf?.[0];
  if (choice) return exampleOf(choice, at);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  if (schema.properties) return exampleObject(schema, at);
  if (schema.items) return [exampleOf(schema.items, at)];
  return exampleScalar(schema);
}

function exampleObject(schema: JsonSchema, at: ExampleOf): Record<string, unknown> {
  const shown = Object.entries(schema.properties ?? {}).flatMap(([field, part]) => {
    const own = `${at.operation}.${field}`;
    if (own in values && isOfType(values[own], part.type)) return [[field, values[own]]];
    return part.examples || schema.required?.includes(field) ? [[field, exampleOf(part, at)]] : [];
  });
  return Object.fromEntries(shown);
}

const isReference = ({ $ref, anyOf }: JsonSchema): boolean => $ref !== undefined || anyOf?.some(isReference) === true;

/** A required field needs no example where its schema implies it. */
function shownAs(part: JsonSchema, value: unknown, isRequired: boolean): JsonSchema {
  const implied = isRequired && JSON.stringify(exampleOf(part, { components: {} })) === JSON.stringify(value);
  return implied || (isRequired && isReference(part)) ? part : { ...part, examples: [value] };
}

/**
 * The schema with examples of its fields where they need one. A reference has the example of what it refers to. An
 * optional field without a value in the table gets none, so that no example shows it.
 */
export function withExamples(schema: JsonSchema, owner?: string): JsonSchema {
  const { properties, items, anyOf, required } = schema;
  const given = Object.entries(properties ?? {}).map(([field, part]) => {
    const name = [`${owner}.${field}`, field].find((known) => known in values);
    const isKnown = name !== undefined && isOfType(values[name], part.type);
    const isRequired = required?.includes(field) === true;
    return [field, isKnown ? shownAs(part, values[name], isRequired) : withExamples(part)];
  });
  return {
    ...schema,
    ...(properties && { properties: Object.fromEntries(given) }),
    ...(items && { items: withExamples(items, owner) }),
    ...(anyOf && { anyOf: anyOf.map((choice) => withExamples(choice, owner)) }),
  };
}

/** The schema of an object with the fields of a sample as their examples. */
export function withSample(schema: JsonSchema, sample: object): JsonSchema {
  const values = new Map<string, unknown>(Object.entries(sample));
  const given = Object.entries(schema.properties ?? {}).map(([field, part]) => [
    field,
    values.has(field) ? shownAs(part, values.get(field), schema.required?.includes(field) === true) : part,
  ]);
  return { ...schema, properties: Object.fromEntries(given) };
}

/** Whether a sample value has the type of the field: a field of another type usually only shares the name. */
function isOfType(value: unknown, type: JsonSchema['type']): boolean {
  if (type === undefined || value === null) return true;
  const kinds = [type].flat();
  if (Array.isArray(value)) return kinds.includes('array');
  return kinds.includes(typeof value) || (typeof value === 'number' && kinds.includes('integer'));
}

function exampleScalar({ type, format, minimum }: JsonSchema): unknown {
  const kinds = [type].flat();
  if (kinds.includes('null')) return null;
  const [kind] = kinds;
  if (kind === 'integer' || kind === 'number') return minimum ?? 0;
  if (kind === 'boolean') return false;
  if (kind === 'object') return {};
  if (format === 'date-time') return sampleTime;
  if (format === 'date') return sampleTime.slice(0, 10);
  return format === 'uuid' ? id : 'text';
}
