// API keys (docs/interface.md#41-api-keys). These endpoints need a console session. Only the answer of `createApiKey`
// has the secret.
import { createApiKey, listApiKeys, revokeApiKey } from '../../activities/access/apiKeys.writes.js';
import type { ApiKeyRow } from '../../schemas/access/access.rows.js';
import type { apiKeyEndpoints } from '../../schemas/access/apiKeys.routes.js';
import { checkGrantOf } from '../http/caller.reads.js';
import type { Routes } from '../http/request.js';

function presentApiKey(row: ApiKeyRow) {
  const {
    _id: id,
    name,
    keyPrefix,
    roleIds,
    createdBy,
    createdAt,
    lastUsedAt,
    expiresAt,
    revokedAt,
    allowedNetworks,
  } = row;
  return {
    id,
    name,
    keyPrefix,
    roleIds,
    createdBy,
    createdAt: createdAt.toISOString(),
    lastUsedAt: lastUsedAt?.toISOString() ?? null,
    expiresAt: expiresAt?.toISOString() ?? null,
    revokedAt: revokedAt?.toISOString() ?? null,
    allowedNetworks: allowedNetworks ?? null,
  };
}

export const apiKeyRoutes: Routes<keyof typeof apiKeyEndpoints> = {
  async createApiKey({ deps, caller, body }) {
    const { row, key } = await createApiKey(deps, {
      merchantId: caller.merchantId,
      createdBy: caller.actor.id,
      ...body,
      checkGrant: checkGrantOf(caller),
      maker: caller.session?.own?.user,
    });
    return { data: { ...presentApiKey(row), key } };
  },

  async listApiKeys({ deps, caller }) {
    const rows = await listApiKeys(deps, caller);
    return { data: rows.map(presentApiKey) };
  },

  async revokeApiKey({ deps, caller, params }) {
    const id = params.id ?? '';
    await revokeApiKey(deps, { merchantId: caller.merchantId, id });
    return { data: { id, revoked: true } };
  },
};
