// API keys. Only a hash and a prefix are stored, never the key. A user holds at most ten active keys. The number of a
// merchant's keys is limited, ended keys included until they are deleted, so that reads of them stay bounded.

import { LRUCache } from 'lru-cache';
import type { Filter } from 'mongodb';
import type { z } from 'zod';
import type { Deps } from '../../platform/deps.js';
import { changeOne } from '../../platform/mongodb/changeOne.js';
import { insertWithQuota } from '../../platform/mongodb/insertWithQuota.js';
import { insert, update } from '../../platform/mongodb/statements.js';
import type { Statement, Transaction } from '../../platform/mongodb/transaction.js';
import { type ApiKeyRow, endedKeyDays } from '../../schemas/access/access.rows.js';
import { type apiKeyRequest, maxActiveKeys, newApiKey } from '../../schemas/access/apiKeys.schema.js';
import { merchantLimits } from '../../schemas/access/merchantLimits.schema.js';
import { ServiceError } from '../../schemas/shared/errors.js';
import { newId } from '../../schemas/shared/ids.js';
import { limitOf } from './merchants.reads.js';
import { type CheckGrant, requireRoles } from './roles.writes.js';
import { type Maker, standingOf } from './standing.reads.js';

const active = (now: Date) => ({
  revokedAt: { $exists: false },
  $or: [{ expiresAt: { $exists: false } }, { expiresAt: { $gt: now } }],
});

export interface CreateApiKey extends z.output<typeof apiKeyRequest> {
  merchantId: string;
  createdBy: string;
  checkGrant: CheckGrant;
  /** When a user makes it. */
  maker?: Maker;
}

/** Throws VALIDATION_FAILED, ROLE_NOT_FOUND, API_KEY_LIMIT_REACHED and the errors of `checkGrant` and `standingOf`. */
export async function createApiKey(deps: Deps, input: CreateApiKey): Promise<{ row: ApiKeyRow; key: string }> {
  const { merchantId, createdBy, name } = input;
  const expiresAt = input.expiresAt === undefined ? undefined : new Date(input.expiresAt);
  if (expiresAt && expiresAt <= deps.now()) {
    throw new ServiceError('VALIDATION_FAILED', [{ path: 'expiresAt', message: 'must be in the future' }]);
  }
  const { key, keyPrefix, hash } = newApiKey();
  const row: ApiKeyRow = {
    _id: newId(),
    merchantId,
    hash,
    keyPrefix,
    name,
    roleIds: await requireRoles(deps, input),
    createdBy,
    createdAt: deps.now(),
    ...(expiresAt && { expiresAt }),
    ...(input.allowedNetworks && { allowedNetworks: [...new Set(input.allowedNetworks)] }),
  };
  const kept = await limitOf(deps, { merchantId, limit: 'apiKeys' });
  let standing: Transaction | undefined;
  await insertWithQuota(deps, {
    merchantId,
    owner: `keys:${merchantId}`,
    async countHeld() {
      if ((await heldBy(deps, { merchantId, createdBy })).length >= maxActiveKeys)
        throw new ServiceError('API_KEY_LIMIT_REACHED');
      return deps.collections.apiKeys.countDocuments({ merchantId }, { limit: kept });
    },
    quota: kept,
    refusal: new ServiceError(
      'API_KEY_LIMIT_REACHED',
      undefined,
      `The merchant has ${kept} API keys (${merchantLimits.apiKeys}); ended ones count for ${endedKeyDays} days.`,
    ),
    name: 'apiKeys',
    async rows() {
      const { maker } = input;
      standing = await standingOf(deps, { maker, needs: 'api-keys:create', roleIds: row.roleIds });
      return [row];
    },
    also: () => standing,
  });
  return { row, key };
}

export type HeldKey = Pick<ApiKeyRow, '_id' | 'merchantId' | 'name' | 'lastUsedAt'>;

/** The active keys that a user created, oldest first. */
export function heldBy(deps: Deps, who: { merchantId: string; createdBy: string }): Promise<HeldKey[]> {
  return deps.collections.apiKeys
    .find({ ...who, ...active(deps.now()) }, { projection: { merchantId: 1, name: 1, lastUsedAt: 1 } })
    .sort({ createdAt: 1 })
    .toArray();
}

const revokedShown = 100;

/** The active keys and the 100 most recently revoked ones, newest first. */
export async function listApiKeys(deps: Deps, { merchantId }: { merchantId: string }): Promise<ApiKeyRow[]> {
  const newest = (where: Filter<ApiKeyRow>) =>
    deps.collections.apiKeys.find({ merchantId, ...where }).sort({ createdAt: -1 });
  const [working, revoked] = await Promise.all([
    newest(active(deps.now())).toArray(),
    newest({ revokedAt: { $exists: true } })
      .limit(revokedShown)
      .toArray(),
  ]);
  return [...working, ...revoked].sort((a, b) => b.createdAt.getTime() - a.createdAt.getTime());
}

const minuteMs = 60_000;

/**
 * Returns a function that records the use of a key in the background, at most once a minute for each key and process.
 */
export function createNoteKeyUse(deps: Deps): (key: ApiKeyRow) => void {
  const noted = new LRUCache<string, number>({ max: 10_000 });
  return function noteKeyUse({ _id, merchantId, lastUsedAt }) {
    const minute = Math.floor(deps.now().getTime() / minuteMs) * minuteMs;
    if (noted.get(_id) === minute || (lastUsedAt && lastUsedAt.getTime() >= minute)) return;
    noted.set(_id, minute);
    deps.collections.apiKeys
      .updateOne({ _id, merchantId }, { $max: { lastUsedAt: new Date(minute) } })
      .catch((error: unknown) => deps.log.debug({ err: error, apiKeyId: _id }, 'the use of a key was not noted'));
  };
}

const unrevoked = ({ merchantId, _id }: Pick<ApiKeyRow, '_id' | 'merchantId'>) => ({
  _id,
  merchantId,
  revokedAt: { $exists: false },
});

/** Throws API_KEY_NOT_FOUND. */
export async function revokeApiKey(deps: Deps, { merchantId, id }: { merchantId: string; id: string }): Promise<void> {
  if (!(await changeOne(deps, 'apiKeys', unrevoked({ merchantId, _id: id }), { $set: { revokedAt: deps.now() } })))
    throw new ServiceError('API_KEY_NOT_FOUND');
}

/** Statements that revoke the keys in a transaction, with an audit entry each. Each update must match. */
export function revocationsOf(deps: Deps, keys: readonly HeldKey[]): { updates: Statement[]; audits: Statement[] } {
  const revokedAt = deps.now();
  return {
    updates: keys.map((key) => update(deps, 'apiKeys', unrevoked(key), { $set: { revokedAt } })),
    audits: (deps.audit ?? []).flatMap(({ row }) =>
      keys.map(({ _id: targetId }) =>
        insert(deps, 'audit', { ...row, _id: newId(), action: 'api-key.revoke', targetId, fields: [] }),
      ),
    ),
  };
}
