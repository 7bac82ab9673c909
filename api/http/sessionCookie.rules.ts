// The cookie of a session. PUBLIC_URL decides whether it is `Secure`, not the connection, because a proxy in front of
// the API may terminate TLS: it is `Secure` unless PUBLIC_URL is an http address on loopback.
import type { Context } from 'koa';
import { isSecureOrLocal } from '../../schemas/shared/addresses.rules.js';
import type { ApiDeps } from './apiDeps.js';

export interface Cookie {
  name: string;
  value: string;
  maxAgeMs: number;
  /** The path of PUBLIC_URL, with a slash at the end. */
  path: string;
}

/** The value of `Set-Cookie`. */
export function cookieText(publicUrl: string, { name, value, maxAgeMs, path }: Cookie): string {
  const url = new URL(publicUrl);
  const isLocal = url.protocol === 'http:' && isSecureOrLocal(url);
  return [
    `${name}=${value}`,
    `Path=${url.pathname.replace(/\/$/, '')}${path}`,
    `Max-Age=${Math.floor(maxAgeMs / 1000)}`,
    'HttpOnly',
    'SameSite=Lax',
    ...(isLocal ? [] : ['Secure']),
  ].join('; ');
}

export const setCookie = ({ config }: Pick<ApiDeps, 'config'>, ctx: Context, cookie: Cookie): void =>
  ctx.append('Set-Cookie', cookieText(config.PUBLIC_URL, cookie));

export const setSessionCookie = (deps: ApiDeps, ctx: Context, token: string): void =>
  setCookie(deps, ctx, { name: 'session', value: token, maxAgeMs: deps.config.SESSION_MAX_MS, path: '/' });

export const clearSessionCookie = (deps: ApiDeps, ctx: Context): void =>
  setCookie(deps, ctx, { name: 'session', value: '', maxAgeMs: 0, path: '/' });
