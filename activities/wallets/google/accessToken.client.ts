// The access token of the service account, fetched once and cached until shortly before it expires. google-auth-library
// always uses Google's own token endpoint; the interceptor here makes it use the account's `token_uri`
// (docs/interface.md#112-settings).
import { auth as library } from '@googleapis/walletobjects';
import type { RealGoogleCredentials } from './credentials.rules.js';

/** The client class of the google-auth-library version that the wallet API's client was built with. */
export type GoogleAuth = InstanceType<typeof library.JWT>;

const scope = 'https://www.googleapis.com/auth/wallet_object.issuer';
const libraryTokenUrl = 'https://oauth2.googleapis.com/token';

/**
 * Creates a client that adds the access token to requests. `timeoutMs` limits each request, that for the token
 * included. The client never retries.
 */
export function createGoogleAuth(credentials: RealGoogleCredentials, timeoutMs: number): GoogleAuth {
  const auth = new library.JWT({
    email: credentials.clientEmail,
    key: credentials.privateKey,
    scopes: [scope],
    additionalClaims: { aud: credentials.tokenUri },
    transporterOptions: { timeout: timeoutMs, noProxy: ['localhost', '127.0.0.1', '[::1]'] },
  });
  auth.transporter.interceptors.request.add({
    resolved: async (request) => {
      if (request.url.href !== libraryTokenUrl) return request;
      return { ...request, url: new URL(credentials.tokenUri), retry: false, retryConfig: { retry: 0 } };
    },
  });
  return auth;
}

/** Makes the next request fetch a new token, after Google refused the current one. */
export function dropAccessToken(auth: GoogleAuth): void {
  auth.setCredentials({ refresh_token: 'jwt-placeholder', expiry_date: 1 });
}
