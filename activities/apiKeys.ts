// API keys at rest: a hash and a prefix, never the key. A user holds at most ten that work.
import { maxActiveKeys, newApiKey } from '../schemas/apiKeys.js';
import type { ApiKeyRow } from '../schemas/collections.js';
import { ServiceError } from '../schemas/errors.js';
import { newId } from '../schemas/ids.js';
import type { Store } from './deps.js';
import { insertUnderCap } from './underCap.js';

const active = (now: Date) => ({
  revokedAt: { $exists: false },
  $or: [{ expiresAt: { $exists: false } }, { expiresAt: { $gt: now } }],
});

export interface CreateApiKey {
  merchantId: string;
  createdBy: string;
  name: string;
  roleIds: string[];
  expiresAt?: string | undefined;
}

/** Throws VALIDATION_FAILED, ROLE_NOT_FOUND, API_KEY_LIMIT_REACHED. */
export async function createApiKey(store: Store, input: CreateApiKey): Promise<{ row: ApiKeyRow; key: string }> {
  const { merchantId, createdBy, name } = input;
  const expiresAt = input.expiresAt === undefined ? undefined : new Date(input.expiresAt);
  if (expiresAt && expiresAt <= store.now()) {
    throw new ServiceError('VALIDATION_FAILED', [{ path: 'expiresAt', message: 'must be in the future' }]);
  }
  const roleIds = [...new Set(input.roleIds)];
  const roles = await store.rows.roles
    .find({ _id: { $in: roleIds }, merchantId: { $in: [merchantId, null] } })
    .toArray();
  if (roles.length !== roleIds.length) throw new ServiceError('ROLE_NOT_FOUND');

  const { key, keyPrefix, hash } = newApiKey();
  const row: ApiKeyRow = {
    _id: newId(),
    merchantId,
    hash,
    keyPrefix,
    name,
    roleIds,
    createdBy,
    createdAt: store.now(),
    ...(expiresAt && { expiresAt }),
  };
  await insertUnderCap(store, {
    merchantId,
    owner: `keys:${merchantId}:${createdBy}`,
    held: async () => (await heldBy(store, { merchantId, createdBy })).length,
    cap: maxActiveKeys,
    full: 'API_KEY_LIMIT_REACHED',
    name: 'apiKeys',
    row,
  });
  return { row, key };
}

function heldBy(store: Store, who: { merchantId: string; createdBy: string }): Promise<Pick<ApiKeyRow, '_id'>[]> {
  return store.rows.apiKeys.find({ ...who, ...active(store.now()) }, { projection: { _id: 1 } }).toArray();
}

export async function listApiKeys(store: Store, { merchantId }: { merchantId: string }): Promise<ApiKeyRow[]> {
  return store.rows.apiKeys
    .find({ merchantId, ...active(store.now()) })
    .sort({ createdAt: -1 })
    .toArray();
}

/** Throws API_KEY_NOT_FOUND. */
export async function revokeApiKey(
  store: Store,
  { merchantId, id }: { merchantId: string; id: string },
): Promise<void> {
  const revoked = await store.rows.apiKeys.updateOne(
    { _id: id, merchantId, revokedAt: { $exists: false } },
    { $set: { revokedAt: store.now() } },
  );
  if (revoked.matchedCount === 0) throw new ServiceError('API_KEY_NOT_FOUND');
}
