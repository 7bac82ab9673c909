// The secrets with which webhooks are signed: newest first, encrypted. Every change writes the whole list on condition
// that it is unchanged since it was read, so that concurrent changes lose no secret and restore no revoked one.
import type { Deps } from '../../platform/deps.js';
import { retryOnConflict } from '../../platform/mongodb/retryOnConflict.js';
import { update } from '../../platform/mongodb/statements.js';
import { transact } from '../../platform/mongodb/transact.js';
import type { SecretBox } from '../../platform/secretBox.js';
import { ServiceError } from '../../schemas/shared/errors.js';
import { makeWebhookSecret } from '../../schemas/webhooks/signature.rules.js';
import type { SubscriptionRow } from '../../schemas/webhooks/webhooks.rows.js';

export interface SecretsDeps extends Deps {
  secrets: SecretBox;
}

type Secrets = SubscriptionRow['secrets'];

const overlapMs = 24 * 3_600_000;
/** Each secret signs every attempt until the secret expires. */
const maxLiveSecrets = 10;

const placeOf = (id: string) => ({ collection: 'subscriptions', id, field: 'secrets' });

export const sealSecret = ({ secrets }: Pick<SecretsDeps, 'secrets'>, id: string, secret: string): string =>
  secrets.seal(secret, placeOf(id));

const isLive = (secret: Secrets[number], now: Date): boolean => !secret.expiresAt || secret.expiresAt > now;

/** The secrets to sign with at `now`, newest first. */
export function liveSecrets(
  { secrets }: Pick<SecretsDeps, 'secrets'>,
  subscription: Pick<SubscriptionRow, '_id' | 'secrets'>,
  now: Date,
): string[] {
  return subscription.secrets
    .filter((secret) => isLive(secret, now))
    .map(({ sealed }) => secrets.open(sealed, placeOf(subscription._id)));
}

/** Throws WEBHOOK_NOT_FOUND. */
async function replaceSecrets(
  deps: SecretsDeps,
  id: string,
  { merchantId, next }: { merchantId?: string; next: (before: Secrets) => Partial<SubscriptionRow> },
): Promise<void> {
  await retryOnConflict(deps, async () => {
    const where = { _id: id, ...(merchantId !== undefined && { merchantId }) };
    const before = await deps.collections.subscriptions.findOne(where);
    if (!before) throw new ServiceError('WEBHOOK_NOT_FOUND');
    const asRead = { ...where, secrets: before.secrets };
    await transact(deps, [update(deps, 'subscriptions', asRead, { $set: next(before.secrets) })], 1);
  });
}

/**
 * The old secrets and the new one all sign for 24 hours; with `revokePrevious` only the new one signs from now on.
 * Throws WEBHOOK_NOT_FOUND.
 */
export async function rotateSecret(
  deps: SecretsDeps,
  { merchantId, id, revokePrevious = false }: { merchantId: string; id: string; revokePrevious?: boolean },
): Promise<{ secret: string; previousSecretExpiresAt: Date }> {
  const secret = makeWebhookSecret();
  const newest = { sealed: sealSecret(deps, id, secret) };
  const now = deps.now();
  const previousSecretExpiresAt = revokePrevious ? now : new Date(now.getTime() + overlapMs);
  await replaceSecrets(deps, id, {
    merchantId,
    next(before) {
      const old = before
        .filter((entry) => !revokePrevious && isLive(entry, now))
        .map((entry) => ({ ...entry, expiresAt: entry.expiresAt ?? previousSecretExpiresAt }));
      return { secrets: [newest, ...old].slice(0, maxLiveSecrets), updatedAt: now };
    },
  });
  return { secret, previousSecretExpiresAt };
}

/** Revokes all secrets but the newest. Returns how many were revoked. Throws WEBHOOK_NOT_FOUND. */
export async function revokeOldSecrets(deps: SecretsDeps, id: string): Promise<number> {
  const now = deps.now();
  let revoked = 0;
  await replaceSecrets(deps, id, {
    next(before) {
      revoked = before.slice(1).filter((entry) => isLive(entry, now)).length;
      return { secrets: before.slice(0, 1), updatedAt: now };
    },
  });
  return revoked;
}

/**
 * Encrypts every secret with the newest key and binds it to its row. Yields after each subscription; finished
 * subscriptions stay re-encrypted when the caller stops or dies. `mistake` says why a subscription was left unchanged.
 */
export async function* resealSecrets(deps: SecretsDeps): AsyncGenerator<{ id: string; mistake?: string }> {
  const rows = deps.collections.subscriptions.find({}, { projection: { secrets: 1 }, sort: { _id: 1 } });
  for await (const { _id: id, secrets } of rows) {
    if (secrets.every(({ sealed }) => deps.secrets.isCurrent(sealed))) continue;
    try {
      await replaceSecrets(deps, id, { next: (before) => ({ secrets: before.map((one) => reseal(deps, id, one)) }) });
      yield { id };
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'WEBHOOK_NOT_FOUND') continue;
      yield { id, mistake: error instanceof Error ? error.message : String(error) };
    }
  }
}

function reseal(deps: SecretsDeps, id: string, entry: Secrets[number]): Secrets[number] {
  if (deps.secrets.isCurrent(entry.sealed)) return entry;
  return { ...entry, sealed: sealSecret(deps, id, deps.secrets.open(entry.sealed, placeOf(id))) };
}

/** Every encrypted secret of a subscription. */
export async function* sealedSecrets({ collections }: SecretsDeps): AsyncGenerator<{ sealed: string }> {
  for await (const { secrets } of collections.subscriptions.find({}, { projection: { secrets: 1 } })) yield* secrets;
}
