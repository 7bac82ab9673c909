// User tokens of the console. The algorithm comes from the configuration and never from the token; issuer, audience and
// expiry are always checked (RFC 8725). The console owns merchants and users, so this service does not look them up.
import { type JWTVerifyGetKey, jwtVerify } from 'jose';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { Config } from '../schemas/config.js';
import { ServiceError } from '../schemas/errors.js';
import { createConsoleKeys } from './consoleKeys.js';

const claims = z.object({
  sub: z.string().min(1).max(200),
  merchantId: z.string().min(1).max(64),
  roleIds: z.array(z.string().min(1).max(64)).max(20),
});
export type UserClaims = z.infer<typeof claims>;

export interface UserTokens {
  /** Null when the token is invalid for any reason. Throws UNAVAILABLE when the console's keys cannot be fetched. */
  verify: (token: string) => Promise<UserClaims | null>;
}

export function createUserTokens({ config, log }: { config: Config; log: Logger }): UserTokens {
  const common = {
    issuer: config.CONSOLE_JWT_ISSUER,
    audience: config.CONSOLE_JWT_AUDIENCE,
    requiredClaims: ['exp', 'sub'],
  };
  const shared = [config.CONSOLE_JWT_SECRET, config.CONSOLE_JWT_SECRET_PREVIOUS].filter(
    (secret) => secret !== undefined,
  );
  const keys: JWTVerifyGetKey[] = config.CONSOLE_JWKS_URL
    ? [createConsoleKeys({ url: config.CONSOLE_JWKS_URL, log })]
    : shared.map((secret) => async () => new TextEncoder().encode(secret));
  const algorithms = config.CONSOLE_JWKS_URL ? config.CONSOLE_JWT_ALGORITHMS : ['HS256'];

  return {
    async verify(token) {
      for (const key of keys) {
        try {
          const { payload } = await jwtVerify(token, key, { ...common, algorithms });
          const parsed = claims.safeParse(payload);
          return parsed.success ? parsed.data : null;
        } catch (error) {
          if (error instanceof ServiceError) throw error;
          // Another key may have signed the token.
        }
      }
      return null;
    },
  };
}
