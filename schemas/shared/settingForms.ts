// The forms that settings have: each reads the text of an environment variable.
import { z } from 'zod';
import { parseKeyRing } from './keyRing.rules.js';
import { certificatesOf } from './pem.rules.js';

const digits = z.string().regex(/^\d+$/, 'must be a whole number');
const within = (min: number, max: number) => z.number().min(min).max(max);

export const integer = (fallback: number, min: number, max: number) =>
  digits.default(String(fallback)).transform(Number).pipe(within(min, max));

export const flag = z
  .enum(['true', 'false', '1', '0', ''])
  .default('false')
  .transform((value) => value === 'true' || value === '1');

const highestPort = 65_535;
export const port = (fallback: number) => integer(fallback, 0, highestPort);

/** For settings that have no meaning when empty: empty counts as unset. */
export const optional = z
  .string()
  .optional()
  .transform((value) => (value === '' ? undefined : value));

export const optionalPort = optional.pipe(digits.transform(Number).pipe(within(0, highestPort)).optional());

export const origin = (fallback: string) =>
  z
    .string()
    .default(fallback)
    .transform((value) => value.replace(/\/+$/, ''));

export const longSecret = z.string().refine((value) => Buffer.byteLength(value) >= 32, 'must be at least 32 bytes');

/** Reports errors of `parse` with their message. */
export const parsedBy =
  (parse: (value: string) => unknown) =>
  (value: string, context: z.RefinementCtx): void => {
    try {
      parse(value);
    } catch (error) {
      context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : String(error) });
    }
  };

/** A ring of keys (schemas/shared/keyRing.rules.ts), as text. */
export const keyRing = z.string().superRefine(parsedBy(parseKeyRing));

const encodedUser = 'must have its user and password percent-encoded (a % in them is %25)';

const hasEncodedUser = (text: string): boolean => {
  try {
    decodeURIComponent(text.slice(0, text.lastIndexOf('@') + 1));
    return true;
  } catch {
    return false;
  }
};

/**
 * `smtp://` or `smtps://`, with user and password if the server requires them. It takes no options: certificates are
 * always verified.
 */
export const smtpUrl = z
  .url({ protocol: /^smtps?$/, abort: true })
  .refine((text) => {
    const { hostname, pathname, search, hash } = new URL(text);
    return hostname !== '' && /^\/?$/.test(pathname) && search === '' && hash === '';
  }, 'must be smtp:// or smtps:// with a host and nothing behind it')
  .refine(hasEncodedUser, encodedUser);

/** The client also reads `host:port`, a port and the path of a socket. */
export const redisUrl = z
  .string()
  .refine((text) => {
    const host = text.replace(/^(rediss?:)?\/\//i, '');
    return text.startsWith('/') || (!host.includes('://') && URL.canParse(`redis://${host}`));
  }, 'must be redis:// or rediss:// with a host, host:port, or the path of a socket')
  .refine(hasEncodedUser, encodedUser);

export const webUrl = z.url({
  protocol: /^https?$/,
  abort: true,
  error: 'must begin with http:// or https:// and name a host',
});

/** `fetch` takes no user and no password in an address. */
export const httpUrl = webUrl.refine((text) => {
  const { username, password } = new URL(text);
  return username + password === '';
}, 'must have no user and no password');

/** Those of key pairs: with an algorithm of shared secrets, a public key would sign. */
export const signatureAlgorithms = ['RS', 'PS', 'ES'].flatMap((kind) =>
  [256, 384, 512].map((bits) => `${kind}${bits}`),
);
signatureAlgorithms.push('EdDSA', 'Ed25519');

/** The number of proxies; `true` means one proxy. */
export const proxies = z.preprocess(
  (value) => ({ true: '1', false: '0', '': '0' })[String(value)] ?? value,
  integer(0, 0, 10),
);

/** Certificates in PEM, perhaps with `\n` for the ends of lines. */
export const certificates = optional
  .transform((pem) => pem?.replaceAll('\\n', '\n'))
  .pipe(z.string().superRefine(parsedBy(certificatesOf)).optional());
