// API keys (docs/interface.md#41-api-keys). These endpoints need a console session. Only the answer of `createApiKey`
// has the secret.
import { createApiKey, listApiKeys, revokeApiKey } from '../../activities/access/apiKeys.writes.js';
import type { apiKeyEndpoints } from '../../schemas/access/apiKeys.routes.js';
import { apiKey } from '../../schemas/access/apiKeys.schema.js';
import { shown } from '../../schemas/shared/answers.js';
import { checkGrantOf } from '../http/caller.reads.js';
import type { Routes } from '../http/request.js';

export const apiKeyRoutes: Routes<keyof typeof apiKeyEndpoints> = {
  async createApiKey({ deps, caller, body }) {
    const { row, key } = await createApiKey(deps, {
      merchantId: caller.merchantId,
      createdBy: caller.actor.id,
      ...body,
      checkGrant: checkGrantOf(caller),
      maker: caller.session?.own?.user,
    });
    return { data: { ...shown(apiKey, row), key } };
  },

  async listApiKeys({ deps, caller }) {
    const rows = await listApiKeys(deps, caller);
    return { data: rows.map((row) => shown(apiKey, row)) };
  },

  async revokeApiKey({ deps, caller, params }) {
    const id = params.id ?? '';
    await revokeApiKey(deps, { merchantId: caller.merchantId, id });
    return { data: { id, revoked: true } };
  },
};
