// Creates and parses all ids that carry meaning; only this file does. A workflow id is `<noun>:<owner id>:<business
// key>`, so that an operator finds a change by member id or idempotency key, and so that one change never has two
// workflows.
import { createHash, randomBytes, randomUUID } from 'node:crypto';

export const newId = (): string => randomUUID();

let unused = Buffer.alloc(0);

/**
 * Draws 8,192 random bytes from the system at a time, because a draw for each id makes the bulk creation of members
 * several times as expensive.
 */
function random(bytes: number): Buffer {
  if (unused.length < bytes) unused = randomBytes(Math.max(bytes, 8_192));
  const taken = unused.subarray(0, bytes);
  unused = unused.subarray(bytes);
  return taken;
}

/**
 * A URL-safe token of `bytes` random bytes; 24 (192 bits) by default. It begins and ends in a letter or a digit, which
 * costs a tenth of a bit: a command line takes a word that begins with `-` for an option, and mail programs leave a `-`
 * or `_` at its end out of the link.
 */
export function newToken(bytes = 24): string {
  const token = random(bytes).toString('base64url');
  return /^[-_]|[-_]$/.test(token) ? newToken(bytes) : token;
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export const isUuid = (value: string): boolean => uuid.test(value);

/** UUIDs are stored in lower case; RFC 9562 reads capitals, too, which some platforms write. */
export function lowerUuid(value: string): string {
  const lower = value.toLowerCase();
  return isUuid(lower) ? lower : value;
}

const crockford = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** Ten characters without I, L, O and U: 50 random bits that can be read aloud and typed without mistakes. */
export function newMemberCode(): string {
  return Array.from(random(10), (byte) => crockford.charAt(byte & 31)).join('');
}

const memberCode = /^[0-9A-Z]{10}$/;

export const isMemberCode = (code: string): boolean => memberCode.test(code);

/**
 * The workflow id of a keyed change. It is also the id of the change's ledger entry and of its row in
 * `idempotencyKeys`.
 */
export function keyedChangeId(operation: string, memberId: string, key: string): string {
  return `${operation}:${memberId}:${key}`;
}

export type BatchOperation = 'import' | 'campaign' | 'replay' | 'card-mails';

/** The id in `idempotencyKeys` of a request that makes something. `owner`: the merchant, or the subscription of a replay. */
export const requestKeyId = (operation: BatchOperation | 'enroll', owner: string, key: string): string =>
  `${operation}:${owner}:${key}`;

export const enrollId = (memberId: string): string => `enroll:${memberId}`;
export const eraseId = (memberId: string): string => `erase:${memberId}`;
export const changeId = (noun: string, memberId: string, eventId: string): string => `${noun}:${memberId}:${eventId}`;
export const importId = (batchId: string): string => `import:${batchId}`;
export const campaignId = (batchId: string): string => `campaign:${batchId}`;
/** The rule of a program's automatic message. `programKey` may have a dot, but no colon. */
export const ruleIdOf = (programKey: string, audience: string): string => `${programKey}:${audience}`;
export const automaticId = (ruleId: string): string => `automatic:${ruleId}`;
/** The id of the campaign that a rule starts for a calendar day, such as 2026-11-26. */
export const automaticCampaignId = (ruleId: string, day: string): string => derivedId('automatic', ruleId, day);
export const replayId = (batchId: string): string => `replay:${batchId}`;
export const cardMailsId = (batchId: string): string => `cards:${batchId}`;
export const rebuildId = (batchId: string): string => `rebuild:${batchId}`;
/** The workflow id of retries for a group of events and members. It is derived from their ids. */
export const retryId = (ids: readonly string[]): string => `retry:${ids[0]}:${derivedId(...ids)}`;
/**
 * The key of a program whose id its merchant chose: that others have chosen the same id neither shows nor matters. The
 * key of every other program is its id. No id has a dot.
 */
export const chosenProgramKey = (merchantId: string, programId: string): string => `${merchantId}.${programId}`;
/** The id by which its merchant knows a program. */
export const programIdOf = (key: string): string => key.slice(key.lastIndexOf('.') + 1);
/** The workflow id of an operator's expiry of one program; `at` in milliseconds since 1970. */
export const expireId = (programId: string, at: number | 'now'): string => `expire:${programId}:${at}`;
/** `owner`: the member or the merchant of the mail. */
export const mailWorkflowId = (owner: string, mailId: string): string => `mail:${owner}:${mailId}`;
export const relayId = (shard: number): string => `relay:${shard}`;
/** The id of the relay that holds or held a lease; undefined when a workflow of its own does. */
export const relayOf = (leaseOwner: string): string | undefined => /^relay:\d+/.exec(leaseOwner)?.[0];

/** `suffix` distinguishes a replay or a test from the first delivery of the same event. */
export function deliveryWorkflowId(eventId: string, subscriptionId: string, suffix?: string): string {
  return suffix ? `delivery:${eventId}:${subscriptionId}:${suffix}` : `delivery:${eventId}:${subscriptionId}`;
}

/** A UUID derived from its parts, so that a repeated effect gets the same id. */
export function derivedId(...parts: string[]): string {
  const hex = createHash('sha256').update(parts.join('\n')).digest('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    '-',
  );
}

/** The id of the event of a new member. */
export const createdEventId = (memberId: string): string => derivedId('event', enrollId(memberId));

/** The id of the event of a first pass. */
export const passCreatedEventId = (memberId: string, platform: string, ...again: string[]): string =>
  derivedId('pass.created', memberId, platform, ...again);

/** The id of the event that a wallet accepted the push of another event. */
export const passUpdatedEventId = (eventId: string, platform: string): string =>
  derivedId('pass.updated', eventId, platform);

/** The id of the event of an erasure; the same when the erasure is repeated after a restore. */
export const deletedEventId = (memberId: string): string => derivedId('event', eraseId(memberId));

/** Replaces the code of an erased member. */
export const spentCodeId = (merchantId: string, memberCode: string): string =>
  derivedId('code', merchantId, memberCode);

/** The id of the first delivery of an event to a subscription, whether that delivery exists or not. */
export const firstDeliveryId = (eventId: string, subscriptionId: string): string =>
  derivedId('delivery', eventId, subscriptionId);

/** The id of the mail whose link confirms an address; the token of the link is stored in no readable form. */
export const confirmationId = (token: string): string => derivedId('confirmation', token);

/** Finds what waits for the confirmation of an address in a program. */
export const confirmationMark = (programId: string, email: string): string =>
  derivedId('confirmation of', programId, email);

export const sha256 = (value: string | Uint8Array): string => createHash('sha256').update(value).digest('hex');
