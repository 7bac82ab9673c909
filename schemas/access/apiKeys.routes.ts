// Endpoints: docs/interface.md#41-api-keys.
import { z } from 'zod';
import { apiKey, apiKeyRequest, apiKeyWithSecret } from './apiKeys.schema.js';
import { endpoint } from './endpoint.schema.js';

const tag = 'API keys';

export const apiKeyEndpoints = {
  createApiKey: endpoint('post', '/auth/api-keys', {
    tag,
    summary: 'Create an API key',
    description: 'The secret is in this answer and nowhere else; only its hash is kept.',
    access: 'api-keys:create',
    audit: { action: 'api-key.create', writes: ['apiKeys'] },
    session: true,
    body: apiKeyRequest,
    result: apiKeyWithSecret,
    statuses: [201],
    errors: ['ROLE_NOT_FOUND', 'API_KEY_LIMIT_REACHED'],
    example: { name: 'Till backend', roleIds: ['integration'] },
  }),
  listApiKeys: endpoint('get', '/auth/api-keys', {
    tag,
    summary: "List the merchant's active API keys and the newest 100 revoked ones, without secrets",
    access: 'api-keys:view',
    session: true,
    result: z.array(apiKey),
  }),
  revokeApiKey: endpoint('delete', '/auth/api-keys/:id', {
    tag,
    summary: 'Revoke an API key; new requests with it fail at once',
    access: 'api-keys:delete',
    audit: { action: 'api-key.revoke', writes: ['apiKeys'] },
    session: true,
    result: z.object({ id: z.string(), revoked: z.literal(true) }),
    errors: ['API_KEY_NOT_FOUND'],
  }),
};
