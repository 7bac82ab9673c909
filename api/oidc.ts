// Sign-in by the OpenID provider of a company: authorization code flow with PKCE, state and nonce. All three are
// derived from one secret, which only the browser that began the sign-in holds in a cookie, so nothing is stored until
// the person returns. The provider's configuration is kept for ten minutes.
import { createHash } from 'node:crypto';
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type Configuration,
  calculatePKCECodeChallenge,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
} from 'openid-client';
import type { Logger } from 'pino';
import type { ProviderPerson } from '../activities/access/identities.js';
import type { Config } from '../schemas/config.js';
import { ServiceError } from '../schemas/errors.js';

export interface Oidc {
  /** The URL to which the browser is redirected. Throws UNAVAILABLE when the provider does not answer. */
  begin: (secret: string) => Promise<URL>;
  /**
   * The person who returned with the query `search`; null when the provider refused, or when the answer does not belong
   * to the sign-in of this secret. Throws UNAVAILABLE when the provider does not answer.
   */
  finish: (secret: string, search: string) => Promise<ProviderPerson | null>;
}

const timeoutSeconds = 5;
const keptForMs = 600_000;

const derived = (secret: string, part: string): string =>
  createHash('sha256').update(`${part}:${secret}`).digest('base64url');

/** Tells a provider that is unreachable or fails from one that refuses the person. */
async function fetchOrUnavailable(url: string, options: RequestInit): Promise<Response> {
  const answer = await fetch(url, options).catch((cause: unknown) => {
    throw Object.assign(new ServiceError('UNAVAILABLE'), { cause });
  });
  if (answer.status < 500) return answer;
  await answer.body?.cancel();
  throw new ServiceError('UNAVAILABLE');
}

const isAway = (error: unknown): boolean =>
  error instanceof Error && (error instanceof ServiceError || error.name === 'TimeoutError' || isAway(error.cause));

/** Null where no provider is configured. */
export function createOidc({ config, log }: { config: Config; log: Pick<Logger, 'warn' | 'info'> }): Oidc | null {
  const { CONSOLE_OIDC_ISSUER: issuer, CONSOLE_OIDC_CLIENT_ID: clientId } = config;
  const { CONSOLE_OIDC_CLIENT_SECRET: clientSecret } = config;
  if (!issuer || !clientId || !clientSecret) return null;
  const server = new URL(issuer);
  const redirectUri = `${config.PUBLIC_URL}/console/sign-in/oidc/callback`;
  const discover = () =>
    discovery(server, clientId, clientSecret, undefined, {
      timeout: timeoutSeconds,
      [customFetch]: (url, options) => fetchOrUnavailable(url, options as RequestInit),
      execute: [enableNonRepudiationChecks, ...(server.protocol === 'http:' ? [allowInsecureRequests] : [])],
    });
  let known: { provider: Promise<Configuration>; until: number } | undefined;

  /** Throws UNAVAILABLE. */
  async function providerNow(): Promise<Configuration> {
    if (!known || known.until < Date.now()) known = { provider: discover(), until: Date.now() + keptForMs };
    try {
      return await known.provider;
    } catch (error) {
      known = undefined;
      log.warn({ err: error }, 'the OpenID provider does not answer');
      throw new ServiceError('UNAVAILABLE');
    }
  }

  return {
    async begin(secret) {
      const provider = await providerNow();
      return buildAuthorizationUrl(provider, {
        redirect_uri: redirectUri,
        scope: 'openid email',
        state: derived(secret, 'state'),
        nonce: derived(secret, 'nonce'),
        code_challenge: await calculatePKCECodeChallenge(derived(secret, 'verifier')),
        code_challenge_method: 'S256',
      });
    },

    async finish(secret, search) {
      const provider = await providerNow();
      try {
        // The provider compares this address with that of the first request, so it must not depend on proxies in front
        // of the service.
        const tokens = await authorizationCodeGrant(provider, new URL(search, redirectUri), {
          expectedState: derived(secret, 'state'),
          expectedNonce: derived(secret, 'nonce'),
          pkceCodeVerifier: derived(secret, 'verifier'),
        });
        const claims = tokens.claims();
        if (!claims) return null;
        const { iss, sub } = claims;
        const said = claims.email === undefined ? await fetchUserInfo(provider, tokens.access_token, sub) : claims;
        const isVerified = said.email_verified === true && typeof said.email === 'string';
        return { issuer: iss, sub, ...(isVerified && { email: String(said.email) }) };
      } catch (error) {
        if (isAway(error)) throw new ServiceError('UNAVAILABLE');
        log.info({ err: error }, 'a sign-in by the OpenID provider was refused');
        return null;
      }
    },
  };
}
