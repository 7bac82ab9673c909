// The session cookie is sent only over TLS, except to a service on loopback.
import { expect, it } from 'vitest';
import { cookieText } from '../../../api/http/sessionCookie.rules.js';

const session = { name: 'session', value: 'x', maxAgeMs: 604_800_000, path: '/' };
const rest = 'Max-Age=604800; HttpOnly; SameSite=Lax';

it.each([
  ['http://127.0.0.1:3000', `session=x; Path=/; ${rest}`],
  ['http://localhost:3000', `session=x; Path=/; ${rest}`],
  ['http://[::1]:3000', `session=x; Path=/; ${rest}`],
  ['https://points.example.com', `session=x; Path=/; ${rest}; Secure`],
  ['https://127.0.0.1', `session=x; Path=/; ${rest}; Secure`],
  ['http://10.0.0.5:3000', `session=x; Path=/; ${rest}; Secure`],
  ['http://127.0.0.1.example.com', `session=x; Path=/; ${rest}; Secure`],
  ['https://example.com/points', `session=x; Path=/points/; ${rest}; Secure`],
])('the cookie of a service at %s is %s', (publicUrl, cookie) => {
  expect(cookieText(publicUrl, session)).toBe(cookie);
});
