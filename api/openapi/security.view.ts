// The two forms of an API key, and the two forms of a console session (docs/interface.md#51-which-credential-counts).
import type { Endpoint } from '../../schemas/access/endpoint.schema.js';

export const securitySchemes = {
  apiKey: {
    type: 'apiKey',
    in: 'header',
    name: 'X-API-Key',
    description: 'An API key alone: `X-API-Key: lps_...`.',
  },
  apiKeyAuthorization: {
    type: 'apiKey',
    in: 'header',
    name: 'Authorization',
    description: 'An API key after the scheme ApiKey: `Authorization: ApiKey lps_...`.',
  },
  consoleToken: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: "The console's user token. It wins over an API key in the same request, valid or not.",
  },
  consoleCookie: {
    type: 'apiKey',
    in: 'cookie',
    name: 'session',
    description: "The same token as a cookie; a writing request must come from the console's own pages.",
  },
};

type Requirements = Record<string, string[]>[];

const user: Requirements = [{ consoleToken: [] }, { consoleCookie: [] }];

/** Of an operation that says nothing else. */
export const usualSecurity: Requirements = [{ apiKey: [] }, { apiKeyAuthorization: [] }, ...user];

/** Undefined where the usual one applies. */
export function securityOf({ access, session }: Endpoint): Requirements | undefined {
  if (access === 'public') return [];
  return session ? user : undefined;
}
