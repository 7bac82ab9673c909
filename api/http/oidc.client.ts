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
import type { ProviderPerson } from '../../activities/access/identities.reads.js';
import type { Config } from '../../schemas/shared/config.schema.js';
import { ServiceError } from '../../schemas/shared/errors.js';

export interface Oidc {
  /** The URL to which the browser is redirected. Throws UNAVAILABLE when the provider does not answer. */
  begin: (secret: string) => Promise<URL>;
  /**
   * The person who returned with the query `search`; null when the provider refused, or when the answer does not belong
   * to the sign-in of this secret. Throws UNAVAILABLE when the provider does not answer.
   */
  finish: (secret: string, search: string) => Promise<ProviderPerson | null>;
}

/** Of RFC 6749 and OpenID Connect Core. */
const oauthErrors = [
  'access_denied',
  'account_selection_required',
  'consent_required',
  'interaction_required',
  'invalid_client',
  'invalid_grant',
  'invalid_request',
  'invalid_scope',
  'login_required',
  'server_error',
  'temporarily_unavailable',
  'unauthorized_client',
  'unsupported_grant_type',
  'unsupported_response_type',
] as const;
type OAuthError = (typeof oauthErrors)[number];

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

const isCode = (value: unknown): value is string => typeof value === 'string' && /^[A-Za-z0-9_]{1,60}$/.test(value);

/**
 * What the log says of an error: only codes, because its text may come from the provider or from the address of the
 * callback.
 */
function reasonOf(error: unknown): { reason: string; answer?: OAuthError } {
  const { code, name, error: answer } = Object(error);
  const known = oauthErrors.find((one) => one === answer);
  return { reason: [code, name].find(isCode) ?? 'unknown', ...(known && { answer: known }) };
}

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
      log.warn(reasonOf(error), 'the OpenID provider does not answer');
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
        log.info(reasonOf(error), 'a sign-in by the OpenID provider was refused');
        return null;
      }
    },
  };
}
