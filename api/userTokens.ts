// Console tokens: the algorithm is pinned by configuration and never taken from the token, and issuer, audience and expiry
// are always checked (RFC 8725). The console owns merchants and users; nothing of them is looked up here.
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
  /** Null when the token is not valid, whatever the reason. */
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
