// User tokens: those of an external console, and those of the service's own sessions, which have a `sid`
// (activities/access/sessions.writes.ts). The algorithm comes from the configuration and never from the token; issuer,
// audience and expiry are always checked (RFC 8725).
import { hkdfSync } from 'node:crypto';
import { type JWTVerifyGetKey, jwtVerify, SignJWT } from 'jose';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { SignedIn } from '../../activities/access/sessions.writes.js';
import type { Config } from '../../schemas/shared/config.schema.js';
import { ServiceError } from '../../schemas/shared/errors.js';
import { parseKeyRing } from '../../schemas/shared/keyRing.rules.js';
import { createConsoleKeys } from './consoleKeys.client.js';

const claims = z.object({
  sub: z.string().min(1).max(200),
  merchantId: z.string().min(1).max(64),
  roleIds: z.array(z.string().min(1).max(64)).max(20),
  exp: z.number(),
});
const ownClaims = claims.extend({ sid: z.string().min(1).max(64).optional() });

/** A token with `sid` belongs to a session of the service, which may have ended. */
export type UserClaims = z.infer<typeof ownClaims>;

export interface UserTokens {
  /** Null when the token is invalid for any reason. Throws UNAVAILABLE when the console's keys cannot be fetched. */
  verify: (token: string) => Promise<UserClaims | null>;
  /** The token of a session of the service. */
  sign: (signedIn: SignedIn) => Promise<string>;
}

/**
 * The signing keys of the service's own sessions, newest first: the secret that is shared with the console, when there
 * is one; otherwise one key derived from each key of SECRETS_KEY.
 */
function ownKeys(config: Config): Uint8Array[] {
  const { CONSOLE_JWKS_URL, CONSOLE_JWT_SECRET, CONSOLE_JWT_SECRET_PREVIOUS } = config;
  const shared = [CONSOLE_JWT_SECRET, CONSOLE_JWT_SECRET_PREVIOUS].filter((secret) => secret !== undefined);
  if (!CONSOLE_JWKS_URL) return shared.map((secret) => new TextEncoder().encode(secret));
  const rings = [config.SECRETS_KEY, config.SECRETS_KEY_PREVIOUS].filter((ring) => ring !== undefined);
  const keys = rings.flatMap((ring) => parseKeyRing(ring).keys);
  return keys.map(({ key }) => new Uint8Array(hkdfSync('sha256', key, '', 'console sessions', 32)));
}

export function createUserTokens({ config, log }: { config: Config; log: Logger }): UserTokens {
  const common = {
    issuer: config.CONSOLE_JWT_ISSUER,
    audience: config.CONSOLE_JWT_AUDIENCE,
    requiredClaims: ['exp', 'sub'],
  };
  const own = ownKeys(config);
  const [newest] = own;
  if (!newest) throw new Error('There is no key for sessions.');
  const ways: { key: JWTVerifyGetKey; algorithms: string[]; schema: z.ZodType<UserClaims> }[] = own.map((key) => ({
    key: async () => key,
    algorithms: ['HS256'],
    // When the console signs with keys of its own, these keys sign only sessions of the service.
    schema: config.CONSOLE_JWKS_URL ? ownClaims.required({ sid: true }) : ownClaims,
  }));
  // The `sid` of such a console's token has no meaning here.
  if (config.CONSOLE_JWKS_URL)
    ways.push({
      key: createConsoleKeys({ url: config.CONSOLE_JWKS_URL, log }),
      algorithms: config.CONSOLE_JWT_ALGORITHMS,
      schema: claims,
    });

  return {
    async verify(token) {
      for (const { key, algorithms, schema } of ways) {
        try {
          const { payload } = await jwtVerify(token, key, { ...common, algorithms });
          return schema.safeParse(payload).data ?? null;
        } catch (error) {
          if (error instanceof ServiceError) throw error;
          // The token may have been signed with another key.
        }
      }
      return null;
    },

    sign({ session, user }) {
      const seconds = (at: number) => Math.floor(at / 1000);
      const createdAt = session.createdAt.getTime();
      return new SignJWT({ merchantId: user.merchantId, roleIds: user.roleIds, sid: session._id })
        .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
        .setSubject(user._id)
        .setIssuer(config.CONSOLE_JWT_ISSUER)
        .setAudience(config.CONSOLE_JWT_AUDIENCE)
        .setIssuedAt(seconds(createdAt))
        .setExpirationTime(seconds(createdAt + config.SESSION_MAX_MS))
        .sign(newest);
    },
  };
}
