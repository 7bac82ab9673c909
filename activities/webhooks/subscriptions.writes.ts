// Subscriptions of a merchant. The address guard checks a URL when it is stored, and again at each attempt. Secrets are
// encrypted before they are stored.
import { isIP } from 'node:net';
import type { z } from 'zod';
import type { Deps } from '../../platform/deps.js';
import { noteChange } from '../../platform/mongodb/audit.js';
import { removeOne } from '../../platform/mongodb/changeOne.js';
import { insertWithQuota } from '../../platform/mongodb/insertWithQuota.js';
import { retryOnConflict } from '../../platform/mongodb/retryOnConflict.js';
import { update } from '../../platform/mongodb/statements.js';
import { transact } from '../../platform/mongodb/transact.js';
import { forbiddenReason } from '../../schemas/shared/addresses.rules.js';
import { ServiceError } from '../../schemas/shared/errors.js';
import { newId } from '../../schemas/shared/ids.js';
import { makeWebhookSecret } from '../../schemas/webhooks/signature.rules.js';
import { bareHost, checkWebhookUrl, isLocalhost, type WebhookUrlRules } from '../../schemas/webhooks/url.rules.js';
import type { SubscriptionRow } from '../../schemas/webhooks/webhooks.rows.js';
import {
  maxSubscriptions,
  type subscriptionPatch,
  type subscriptionRequest,
} from '../../schemas/webhooks/webhooks.schema.js';
import { resolveHost } from './resolveHost.client.js';
import { type SecretsDeps, sealSecret } from './signingSecrets.writes.js';

export interface SubscriptionDeps extends SecretsDeps {
  urlPolicy: WebhookUrlRules;
}

/**
 * Throws WEBHOOK_URL_FORBIDDEN. A host name that does not resolve is accepted; attempts to it fail with error `dns`.
 */
async function requireAllowed(deps: SubscriptionDeps, url: string): Promise<{ host: string; shown: string }> {
  const checked = checkWebhookUrl(url, deps.urlPolicy);
  const reason = checked.ok ? await forbiddenHost(checked.url, deps.urlPolicy) : checked.reason;
  if (reason !== null || !checked.ok)
    throw new ServiceError('WEBHOOK_URL_FORBIDDEN', [{ path: 'url', message: reason ?? '' }]);
  return { host: checked.url.host, shown: checked.shown };
}

/** Throws WEBHOOK_URL_FORBIDDEN, WEBHOOK_LIMIT_REACHED. */
export async function createSubscription(
  deps: SubscriptionDeps,
  { merchantId, request }: { merchantId: string; request: z.output<typeof subscriptionRequest> },
): Promise<{ row: SubscriptionRow; secret: string }> {
  const { host, shown: url } = await requireAllowed(deps, request.url);
  const secret = request.secret ?? makeWebhookSecret();
  const now = deps.now();
  const id = newId();
  const row: SubscriptionRow = {
    _id: id,
    merchantId,
    name: request.name ?? host,
    description: request.description ?? '',
    url,
    events: [...new Set(request.events)],
    enabled: request.enabled,
    timeoutMs: request.timeoutMs,
    retryPolicy: request.retryPolicy,
    secrets: [{ sealed: sealSecret(deps, id, secret) }],
    health: { failingSince: null, lastSuccessAt: null, consecutiveFailures: 0 },
    createdAt: now,
    updatedAt: now,
  };
  await insertWithQuota(deps, {
    merchantId,
    owner: `subscriptions:${merchantId}`,
    countHeld: () => deps.collections.subscriptions.countDocuments({ merchantId }, { limit: maxSubscriptions }),
    quota: maxSubscriptions,
    refusal: new ServiceError('WEBHOOK_LIMIT_REACHED'),
    name: 'subscriptions',
    rows: async () => [row],
  });
  return { row, secret };
}

/** Throws WEBHOOK_NOT_FOUND. */
export async function readSubscription(deps: Deps, at: { merchantId: string; id: string }): Promise<SubscriptionRow> {
  const row = await deps.collections.subscriptions.findOne({ _id: at.id, merchantId: at.merchantId });
  if (!row) throw new ServiceError('WEBHOOK_NOT_FOUND');
  return row;
}

const definedOf = (fields: object) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

/** What a request edits. */
const editedOf = ({ name, description, url, events, enabled, timeoutMs, retryPolicy }: SubscriptionRow) => ({
  ...{ name, description, url, events, enabled, timeoutMs, retryPolicy },
});

/**
 * Throws WEBHOOK_NOT_FOUND, WEBHOOK_URL_FORBIDDEN. Enabling a disabled subscription resets its failure counters and its
 * `disabledReason`.
 */
export async function updateSubscription(
  deps: SubscriptionDeps,
  { merchantId, id, patch }: { merchantId: string; id: string; patch: z.output<typeof subscriptionPatch> },
): Promise<SubscriptionRow> {
  await readSubscription(deps, { merchantId, id });
  const url = patch.url === undefined ? undefined : (await requireAllowed(deps, patch.url)).shown;
  const { retryPolicy, events, ...fields } = { ...patch, url };
  const changed = { ...definedOf(fields), ...(events && { events: [...new Set(events)] }) };
  await retryOnConflict(deps, async () => {
    const before = await readSubscription(deps, { merchantId, id });
    const { enabled, updatedAt } = before;
    const revived = patch.enabled === true && !enabled;
    // An attempt may disable it, and another request may edit it, in between.
    const where = { _id: id, merchantId, updatedAt, ...(patch.enabled === true && { enabled }) };
    const policy = { ...before.retryPolicy, ...definedOf(retryPolicy ?? {}) };
    const edited = editedOf(before);
    const isChanged = noteChange(deps, edited, { ...edited, ...changed, retryPolicy: policy });
    const change = {
      $set: {
        ...changed,
        ...(retryPolicy?.maxAttempts !== undefined && { 'retryPolicy.maxAttempts': retryPolicy.maxAttempts }),
        ...(retryPolicy?.backoffMs !== undefined && { 'retryPolicy.backoffMs': retryPolicy.backoffMs }),
        ...(retryPolicy && { 'retryPolicy.factor': retryPolicy.factor }),
        ...(revived && { 'health.failingSince': null, 'health.consecutiveFailures': 0 }),
        updatedAt: deps.now(),
      },
      ...(revived && { $unset: { 'health.disabledReason': '' } }),
    };
    // Also without a change: the failure of an attempt that began before counts no more.
    await transact(isChanged ? deps : { ...deps, audit: [] }, [update(deps, 'subscriptions', where, change)], 1);
  });
  return readSubscription(deps, { merchantId, id });
}

/** Throws WEBHOOK_NOT_FOUND. */
export async function deleteSubscription(deps: Deps, at: { merchantId: string; id: string }): Promise<void> {
  const { id: _id, merchantId } = at;
  if (!(await removeOne(deps, 'subscriptions', { _id, merchantId }))) throw new ServiceError('WEBHOOK_NOT_FOUND');
}

/**
 * Returns a message for the caller when the host name resolves to a forbidden address. Returns null otherwise, also
 * when the name does not resolve, and for IP literals and localhost, which checkWebhookUrl has checked before.
 * The connector (guardedAgent.client.ts) checks again at every connect.
 */
async function forbiddenHost(url: URL, { allow }: WebhookUrlRules): Promise<string | null> {
  const host = bareHost(url);
  if (isIP(host) !== 0 || isLocalhost(host)) return null;
  const addresses = await resolveHost(host).catch(() => []);
  return addresses.some((address) => forbiddenReason(address, allow) !== null)
    ? 'The host is a forbidden address.'
    : null;
}
