// Subscriptions and the delivery log in requests and answers (docs/interface.md, sections 2.10, 2.11, 4.6 and 6).

import { z } from 'zod';
import { disabledReason, eventTypes } from '../events/events.schema.js';
import { moment } from '../shared/calendar.rules.js';
import { nameText, pastedText, plainText, text } from '../shared/text.js';
import { longestWaitMs } from './retries.rules.js';
import { secretMistake } from './signature.rules.js';

export const maxSubscriptions = 20;

const url = plainText().min(1).max(2048).meta({ format: 'uri', description: 'https, on a public address' });
const events = z
  .array(z.enum([...eventTypes, '*']))
  .min(1)
  .max(eventTypes.length);
const timeoutMs = z.int().min(1_000).max(30_000).describe('milliseconds in which an attempt must be answered');
const maxAttempts = z.int().min(1).max(20).describe('every attempt counts, the first included');
const backoffMs = z.int().min(0).max(longestWaitMs).describe('milliseconds before the second attempt');
const factor = z
  .number()
  .min(1)
  .max(10)
  .describe(`each wait is the one before times this, ${longestWaitMs / 3_600_000} hours at most`);

/** A given policy without a factor waits the same time before each attempt. */
const constant = 1;

export const subscriptionRequest = z.strictObject({
  url,
  events,
  name: nameText(100).optional().describe('the host of the URL, if left out'),
  description: text(0, 500).optional(),
  enabled: z.boolean().default(true),
  secret: pastedText(16, 128)
    .check(({ value, issues }) => {
      const mistake = secretMistake(value);
      if (mistake !== undefined) issues.push({ code: 'custom', input: value, message: mistake });
    })
    .optional()
    .describe('made if left out; shown in the answer to this request alone'),
  timeoutMs: timeoutMs.default(10_000),
  retryPolicy: z
    .strictObject({
      maxAttempts: maxAttempts.default(8),
      backoffMs: backoffMs.default(30_000),
      factor: factor.default(constant),
    })
    .prefault({ factor: 4 })
    .describe('when left out: 8 attempts over a day and a half, with factor 4'),
});

export const subscriptionPatch = z
  .strictObject({
    name: nameText(100).optional(),
    description: text(0, 500).optional(),
    url: url.optional(),
    events: events.optional(),
    enabled: z.boolean().optional(),
    timeoutMs: timeoutMs.optional(),
    retryPolicy: z
      .strictObject({
        maxAttempts: maxAttempts.optional(),
        backoffMs: backoffMs.optional(),
        factor: factor.default(constant),
      })
      .optional(),
  })
  .refine((patch) => Object.keys(patch).length > 0, 'must change at least one field')
  .meta({ minProperties: 1 });

export const secretRotation = z
  .strictObject({ revokePrevious: z.boolean().default(false).describe('older secrets end at once') })
  .optional();

export const replayRequest = z
  .strictObject({
    since: moment.describe('of the events, by `occurredAt`'),
    until: moment.optional().describe('now, when left out'),
    only: z
      .enum(['failed', 'all'])
      .default('failed')
      .describe('failed: its latest delivery, replays included, was given up or skipped, or hangs'),
  })
  .refine(({ since, until }) => until === undefined || since < until, {
    path: ['until'],
    message: 'must be after since',
  });

export const health = z.object({
  state: z.enum(['ok', 'failing', 'disabled']),
  failingSince: z.iso.datetime().nullable(),
  lastSuccessAt: z.iso.datetime().nullable(),
  consecutiveFailures: z.int(),
  disabledReason: disabledReason
    .optional()
    .describe('why the service disabled it: it answered 410, or failed for five days on end'),
});

export const retryPolicy = z.object({ maxAttempts: z.int(), backoffMs: z.int(), factor: z.number() });

export const subscription = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  url: z.string(),
  events: z.array(z.string()),
  enabled: z.boolean(),
  timeoutMs: z.int(),
  retryPolicy,
  health,
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
});

export const subscriptionWithSecret = subscription.extend({ secret: z.string() });

const deliveryStates = ['pending', 'retrying', 'succeeded', 'exhausted', 'skipped'] as const;
export const deliveryState = z.enum(deliveryStates);

/** The states of a delivery that has not ended. */
export const unfinishedStates: DeliveryState[] = ['pending', 'retrying'];

export const isUnfinished = (state: DeliveryState): boolean => unfinishedStates.includes(state);

export const deliveryAttempt = z.object({
  attempt: z.int(),
  at: z.iso.datetime(),
  statusCode: z.int().nullable(),
  error: z.string().nullable(),
  durationMs: z.number(),
});

export const delivery = z.object({
  id: z.string(),
  subscriptionId: z.string(),
  eventType: z.string(),
  eventId: z.string(),
  url: z.string(),
  state: deliveryState,
  success: z.boolean(),
  statusCode: z.int().nullable(),
  error: z.string().nullable(),
  attempts: z.int(),
  history: z.array(deliveryAttempt),
  payload: z.record(z.string(), z.unknown()).nullable(),
  createdAt: z.iso.datetime(),
  lastAttemptAt: z.iso.datetime().nullable(),
  nextAttemptAt: z.iso.datetime().nullable(),
  replayOf: z.string().optional(),
});

export const queued = z.object({ queued: z.literal(true), eventType: z.string(), eventId: z.string() });

export type DeliveryState = z.infer<typeof deliveryState>;
