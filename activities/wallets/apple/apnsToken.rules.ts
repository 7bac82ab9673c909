// The provider token that authenticates pushes with a .p8 key. APNs refuses tokens older than an hour, and also too
// many new tokens within 20 minutes, so one token is kept and renewed after 40 minutes.
import { sign } from 'node:crypto';
import type { ApnsKey } from './credentials.rules.js';

const RENEW_AFTER_MS = 40 * 60 * 1000;

export interface ApnsToken {
  current(now: Date): string;
  /** Drops the token `refused`, unless it was replaced already. */
  expire(refused: string): void;
}

export function createApnsToken(apnsKey: ApnsKey): ApnsToken {
  let kept: { token: string; madeAt: number } | undefined;
  return {
    current(now) {
      if (kept === undefined || now.getTime() - kept.madeAt >= RENEW_AFTER_MS) {
        kept = { token: makeToken(apnsKey, now), madeAt: now.getTime() };
      }
      return kept.token;
    },
    expire(refused) {
      if (kept?.token === refused) kept = undefined;
    },
  };
}

/** An ES256 JWT with the claims that APNs reads: `iss` is the team id, `iat` the time in seconds. */
function makeToken({ key, keyId, teamId }: ApnsKey, now: Date): string {
  const part = (json: object) => Buffer.from(JSON.stringify(json)).toString('base64url');
  const signed = `${part({ alg: 'ES256', kid: keyId })}.${part({ iss: teamId, iat: Math.floor(now.getTime() / 1000) })}`;
  const signature = sign('sha256', Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' });
  return `${signed}.${signature.toString('base64url')}`;
}
