// User tokens of the console. The algorithm comes from the configuration and never from the token; issuer, audience and
// expiry are always checked (RFC 8725). The console owns merchants and users, so this service does not look them up.
import { createRemoteJWKSet, type JWTVerifyGetKey, jwtVerify } from 'jose';
import { z } from 'zod';
import type { Config } from '../schemas/config.js';

const claims = z.object({
  sub: z.string().min(1).max(200),
  merchantId: z.string().min(1).max(64),
  roleIds: z.array(z.string().min(1).max(64)).max(20),
});
export type UserClaims = z.infer<typeof claims>;

export interface UserTokens {
  /** Null when the token is invalid for any reason, and when the console's keys cannot be fetched. */
  verify: (token: string) => Promise<UserClaims | null>;
}

export function createUserTokens(config: Config): UserTokens {
  const common = {
    issuer: config.CONSOLE_JWT_ISSUER,
    audience: config.CONSOLE_JWT_AUDIENCE,
    requiredClaims: ['exp', 'sub'],
  };
  const key: JWTVerifyGetKey = config.CONSOLE_JWKS_URL
    ? createRemoteJWKSet(new URL(config.CONSOLE_JWKS_URL), { timeoutDuration: 2_000 })
    : async () => new TextEncoder().encode(config.CONSOLE_JWT_SECRET);
  const algorithms = config.CONSOLE_JWKS_URL ? config.CONSOLE_JWT_ALGORITHMS : ['HS256'];

  return {
    async verify(token) {
      try {
        const { payload } = await jwtVerify(token, key, { ...common, algorithms });
        const parsed = claims.safeParse(payload);
        return parsed.success ? parsed.data : null;
      } catch {
        return null;
      }
    },
  };
}
