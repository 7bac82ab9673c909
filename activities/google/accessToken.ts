// The service account's access token, fetched once and kept until it is about to expire. google-auth-library asks
// Google's own token endpoint whatever the account says; decisions.md wants its `token_uri` honoured.
import { auth as library } from '@googleapis/walletobjects';
import type { RealGoogleCredentials } from './credentials.js';

/** google-auth-library's client, of the version that the wallet API's client was built with. */
export type GoogleAuth = InstanceType<typeof library.JWT>;

const scope = 'https://www.googleapis.com/auth/wallet_object.issuer';
const libraryTokenUrl = 'https://oauth2.googleapis.com/token';

/** A client that signs requests in; `timeoutMs` bounds each of them, the token's included. It never retries. */
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

/** Makes the next request fetch a new token; for a token that Google no longer takes. */
export function dropAccessToken(auth: GoogleAuth): void {
  auth.setCredentials({ refresh_token: 'jwt-placeholder', expiry_date: 1 });
}
