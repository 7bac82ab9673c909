// Subscriptions: where a merchant's events go. Every URL passes the address guard when it is written, as it does again at
// each attempt; secrets are sealed before they are stored.
import type { z } from 'zod';
import type { SubscriptionRow } from '../../schemas/collections.js';
import { ServiceError } from '../../schemas/errors.js';
import { newId } from '../../schemas/ids.js';
import { makeWebhookSecret } from '../../schemas/webhookSignature.js';
import { maxSubscriptions, type subscriptionPatch, type subscriptionRequest } from '../../schemas/webhooks.js';
import { checkWebhookUrl, type WebhookUrlRules } from '../../schemas/webhookUrl.js';
import type { Store } from '../deps.js';
import type { SecretBox } from '../secrets.js';
import { decideAgain, StaleRead } from '../transact.js';
import { insertUnderCap } from '../underCap.js';
import { forbiddenHost } from './forbiddenHost.js';

export interface SubscriptionDeps extends Store {
  secrets: SecretBox;
  urlPolicy: WebhookUrlRules;
}

const overlapMs = 24 * 3_600_000;
/** Each signs every attempt until it expires. */
const maxLiveSecrets = 10;

/** Throws WEBHOOK_URL_FORBIDDEN. A name that does not resolve is accepted; it fails as `dns` at the attempt. */
async function requireAllowed(deps: SubscriptionDeps, url: string): Promise<URL> {
  const checked = checkWebhookUrl(url, deps.urlPolicy);
  const reason = checked.ok ? await forbiddenHost(checked.url, deps.urlPolicy) : checked.reason;
  if (reason !== null || !checked.ok)
    throw new ServiceError('WEBHOOK_URL_FORBIDDEN', [{ path: 'url', message: reason ?? '' }]);
  return checked.url;
}

/** Throws WEBHOOK_URL_FORBIDDEN, WEBHOOK_LIMIT_REACHED. */
export async function createSubscription(
  deps: SubscriptionDeps,
  { merchantId, request }: { merchantId: string; request: z.output<typeof subscriptionRequest> },
): Promise<{ row: SubscriptionRow; secret: string }> {
  const url = await requireAllowed(deps, request.url);
  const secret = request.secret ?? makeWebhookSecret();
  const now = deps.now();
  const row: SubscriptionRow = {
    _id: newId(),
    merchantId,
    name: request.name ?? url.host,
    description: request.description ?? '',
    url: request.url,
    events: [...new Set(request.events)],
    enabled: request.enabled,
    timeoutMs: request.timeoutMs,
    retryPolicy: request.retryPolicy,
    secrets: [{ sealed: deps.secrets.seal(secret) }],
    health: { failingSince: null, lastSuccessAt: null, consecutiveFailures: 0 },
    createdAt: now,
    updatedAt: now,
  };
  await insertUnderCap(deps, {
    merchantId,
    owner: `subscriptions:${merchantId}`,
    held: () => deps.rows.subscriptions.countDocuments({ merchantId }, { limit: maxSubscriptions }),
    cap: maxSubscriptions,
    full: 'WEBHOOK_LIMIT_REACHED',
    name: 'subscriptions',
    row,
  });
  return { row, secret };
}

/** Throws WEBHOOK_NOT_FOUND. */
export async function readSubscription(store: Store, at: { merchantId: string; id: string }): Promise<SubscriptionRow> {
  const row = await store.rows.subscriptions.findOne({ _id: at.id, merchantId: at.merchantId });
  if (!row) throw new ServiceError('WEBHOOK_NOT_FOUND');
  return row;
}

/** Throws WEBHOOK_NOT_FOUND, WEBHOOK_URL_FORBIDDEN. Enabling it again begins with a clean bill of health. */
export async function updateSubscription(
  deps: SubscriptionDeps,
  { merchantId, id, patch }: { merchantId: string; id: string; patch: z.output<typeof subscriptionPatch> },
): Promise<SubscriptionRow> {
  const before = await readSubscription(deps, { merchantId, id });
  if (patch.url !== undefined) await requireAllowed(deps, patch.url);
  const { retryPolicy, events, ...fields } = patch;
  const changed = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
  const revived = patch.enabled === true && !before.enabled;
  const row = await deps.rows.subscriptions.findOneAndUpdate(
    { _id: id, merchantId },
    {
      $set: {
        ...changed,
        ...(events && { events: [...new Set(events)] }),
        ...(retryPolicy?.maxAttempts !== undefined && { 'retryPolicy.maxAttempts': retryPolicy.maxAttempts }),
        ...(retryPolicy?.backoffMs !== undefined && { 'retryPolicy.backoffMs': retryPolicy.backoffMs }),
        ...(revived && { 'health.failingSince': null, 'health.consecutiveFailures': 0 }),
        updatedAt: deps.now(),
      },
      ...(revived && { $unset: { 'health.disabledReason': '' } }),
    },
    { returnDocument: 'after' },
  );
  if (!row) throw new ServiceError('WEBHOOK_NOT_FOUND');
  return row;
}

/** Throws WEBHOOK_NOT_FOUND. */
export async function deleteSubscription(store: Store, at: { merchantId: string; id: string }): Promise<void> {
  const { deletedCount } = await store.rows.subscriptions.deleteOne({ _id: at.id, merchantId: at.merchantId });
  if (deletedCount === 0) throw new ServiceError('WEBHOOK_NOT_FOUND');
}

/** The old secret signs beside the new one for 24 hours. Throws WEBHOOK_NOT_FOUND. */
export async function rotateSecret(
  deps: SubscriptionDeps,
  at: { merchantId: string; id: string },
): Promise<{ secret: string; previousSecretExpiresAt: Date }> {
  return decideAgain(deps, async () => {
    const before = await readSubscription(deps, at);
    const secret = makeWebhookSecret();
    const now = deps.now();
    const previousSecretExpiresAt = new Date(now.getTime() + overlapMs);
    const old = before.secrets
      .filter((entry) => !entry.expiresAt || entry.expiresAt > now)
      .map((entry) => ({ ...entry, expiresAt: entry.expiresAt ?? previousSecretExpiresAt }));
    const { matchedCount } = await deps.rows.subscriptions.updateOne(
      { _id: at.id, merchantId: at.merchantId, 'secrets.0.sealed': before.secrets[0]?.sealed },
      { $set: { secrets: [{ sealed: deps.secrets.seal(secret) }, ...old].slice(0, maxLiveSecrets), updatedAt: now } },
    );
    if (matchedCount === 0) throw new StaleRead('The secret was rotated since it was read.');
    return { secret, previousSecretExpiresAt };
  });
}
