// The configuration: environment variables that are all checked at start. One error message names every wrong variable.
import { z } from 'zod';
import { isSecureOrLocal, parseCidrs } from './addresses.rules.js';
import { parseKeyRing } from './keyRing.rules.js';
import './mistakes.rules.js';
import { certificatesOf } from './pem.rules.js';

const integer = (fallback: number, min: number, max: number) =>
  z
    .string()
    .regex(/^\d+$/, 'must be a whole number')
    .default(String(fallback))
    .transform(Number)
    .pipe(z.number().min(min).max(max));

const flag = z
  .enum(['true', 'false', '1', '0', ''])
  .default('false')
  .transform((value) => value === 'true' || value === '1');

const port = (fallback: number) => integer(fallback, 0, 65_535);

/** For settings that have no meaning when empty: empty counts as unset. */
const optional = z
  .string()
  .optional()
  .transform((value) => (value === '' ? undefined : value));

const origin = (fallback: string) =>
  z
    .string()
    .default(fallback)
    .transform((value) => value.replace(/\/+$/, ''));

const longSecret = z.string().refine((value) => Buffer.byteLength(value) >= 32, 'must be at least 32 bytes');

/** Reports errors of `parse` with their message. */
const parsedBy =
  (parse: (value: string) => unknown) =>
  (value: string, context: z.RefinementCtx): void => {
    try {
      parse(value);
    } catch (error) {
      context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : String(error) });
    }
  };

/** A ring of keys (schemas/shared/keyRing.rules.ts), as text. */
const keyRing = z.string().superRefine(parsedBy(parseKeyRing));

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
const smtpUrl = z
  .url({ protocol: /^smtps?$/, abort: true })
  .refine((text) => {
    const { hostname, pathname, search, hash } = new URL(text);
    return hostname !== '' && /^\/?$/.test(pathname) && search === '' && hash === '';
  }, 'must be smtp:// or smtps:// with a host and nothing behind it')
  .refine(hasEncodedUser, encodedUser);

/** The client also reads `host:port`, a port and the path of a socket. */
const redisUrl = z
  .string()
  .refine((text) => {
    const host = text.replace(/^(rediss?:)?\/\//i, '');
    return text.startsWith('/') || (!host.includes('://') && URL.canParse(`redis://${host}`));
  }, 'must be redis:// or rediss:// with a host, host:port, or the path of a socket')
  .refine(hasEncodedUser, encodedUser);

const webUrl = z.url({
  protocol: /^https?$/,
  abort: true,
  error: 'must begin with http:// or https:// and name a host',
});

/** `fetch` takes no user and no password in an address. */
const httpUrl = webUrl.refine((text) => {
  const { username, password } = new URL(text);
  return username + password === '';
}, 'must have no user and no password');

/** Those of key pairs: with an algorithm of shared secrets, a public key would sign. */
const signatureAlgorithms = ['RS', 'PS', 'ES'].flatMap((kind) => [256, 384, 512].map((bits) => `${kind}${bits}`));
signatureAlgorithms.push('EdDSA', 'Ed25519');

/** The number of proxies; `true` means one proxy. */
const proxies = z.preprocess(
  (value) => ({ true: '1', false: '0', '': '0' })[String(value)] ?? value,
  integer(0, 0, 10),
);

const environment = z.object({
  HOST: z.string().min(1).default('127.0.0.1'),
  PORT: port(3000),
  METRICS_PORT: port(9464),
  /** The worker's metrics port; METRICS_PORT + 1 by default. */
  WORKER_METRICS_PORT: optional.pipe(port(0).optional()),
  PUBLIC_URL: optional.pipe(webUrl.optional()),
  /** The URL of the demo's live desk, which the console then shows; only `npm start` sets it. */
  LIVE_DESK_URL: optional.pipe(
    z.url({ protocol: /^http$/, hostname: /^127\.0\.0\.1$/, error: 'must begin with http://127.0.0.1' }).optional(),
  ),
  MONGODB_URI: z.string().min(1).default('mongodb://127.0.0.1:27017/?directConnection=true'),
  MONGODB_DATABASE: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,60}$/, 'must be 1 to 60 letters, digits, _ or -')
    .default('loyalty'),
  /** MONGODB_URI is the embedded engine of `npm start` (docs/embedded-engine.md). */
  MONGODB_EMBEDDED: flag,
  // Temporal settings that are not set here may come from a Temporal profile (platform/temporal/connectionOptions.ts).
  TEMPORAL_ADDRESS: optional,
  TEMPORAL_NAMESPACE: optional,
  TEMPORAL_API_KEY: optional,
  TEMPORAL_TLS: z.enum(['true', 'false', '1', '0', '']).optional(),
  TEMPORAL_TLS_CLIENT_CERT_PATH: optional,
  TEMPORAL_TLS_CLIENT_CERT_DATA: optional,
  TEMPORAL_TLS_CLIENT_KEY_PATH: optional,
  TEMPORAL_TLS_CLIENT_KEY_DATA: optional,
  TEMPORAL_TLS_SERVER_CA_CERT_PATH: optional,
  TEMPORAL_TLS_SERVER_CA_CERT_DATA: optional,
  TEMPORAL_TLS_SERVER_NAME: optional,
  TEMPORAL_CONFIG_FILE: optional,
  TEMPORAL_PROFILE: optional,
  /** Encrypts what Temporal stores; a ring of keys. */
  TEMPORAL_CODEC_KEY: optional.pipe(keyRing.optional()),
  /** Operators decrypt with this token at the codec endpoint. */
  TEMPORAL_CODEC_TOKEN: optional.pipe(longSecret.optional()),
  /** The origin of Temporal's UI. */
  TEMPORAL_CODEC_ORIGIN: optional.pipe(
    z
      .url({ protocol: /^https?$/ })
      .transform((url) => new URL(url).origin)
      .optional(),
  ),
  REDIS_URL: optional.pipe(redisUrl.optional()),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'silent']).default('info'),

  CONSOLE_JWT_SECRET: longSecret.optional(),
  /** Verifies existing sessions; new sessions are not signed with it. */
  CONSOLE_JWT_SECRET_PREVIOUS: optional.pipe(longSecret.optional()),
  CONSOLE_JWKS_URL: optional.pipe(httpUrl.optional()),
  CONSOLE_JWT_ISSUER: z.string().min(1).default('loyalty-console'),
  CONSOLE_JWT_AUDIENCE: z.string().min(1).default('loyalty-pass-service'),
  CONSOLE_JWT_ALGORITHMS: z
    .string()
    .default('RS256,ES256')
    .transform((value) => value.split(',').map((name) => name.trim()))
    .refine(
      (names) => names.every((name) => signatureAlgorithms.includes(name)),
      `must be some of ${signatureAlgorithms.join(', ')}`,
    ),
  /** Sign-in through a company's provider, by OpenID Connect. */
  CONSOLE_OIDC_ISSUER: optional.pipe(
    z
      .string()
      .refine(
        (url) => URL.canParse(url) && isSecureOrLocal(new URL(url)),
        'must be an https: URL, or http: on loopback',
      )
      .optional(),
  ),
  CONSOLE_OIDC_CLIENT_ID: optional,
  CONSOLE_OIDC_CLIENT_SECRET: optional,
  SESSION_IDLE_MS: integer(43_200_000, 300_000, 2_592_000_000),
  SESSION_MAX_MS: integer(604_800_000, 300_000, 31_536_000_000),
  SIGN_IN_LINK_MS: integer(900_000, 60_000, 86_400_000),
  SECRETS_KEY: keyRing,
  SECRETS_KEY_PREVIOUS: optional.pipe(keyRing.optional()),

  TRUST_PROXY: proxies,
  /** Longer than the minute for which proxies keep idle connections. */
  KEEP_ALIVE_MS: integer(75_000, 1_000, 3_600_000),
  RATE_LIMIT_AUTHENTICATED: integer(1_000, 1, 1e9),
  RATE_LIMIT_PUBLIC: integer(50, 1, 1e9),
  RATE_LIMIT_WINDOW_MS: integer(900_000, 1_000, 86_400_000),
  IMPORT_MAX_BYTES: integer(1_048_576, 1, 1e9),
  IMPORT_MAX_ROWS: integer(5_000, 1, 1e6),
  BULK_IMPORT_MAX_BYTES: integer(268_435_456, 1, 1e12),
  BULK_IMPORT_MAX_ROWS: integer(1_000_000, 1, 1e9),
  EVENTS_CSV_MAX_ROWS: integer(5_000, 1, 1e6),
  SEARCH_MAX_ROWS: integer(5_000, 100, 1e6),
  LIST_MAX_ROWS: integer(100_000, 100, 1e7),
  PROGRAM_MAX_BYTES: integer(8_388_608, 102_400, 15_000_000),
  /** At the same time in one process, and of one merchant. */
  LARGE_REQUESTS: integer(8, 1, 1_000),
  MERCHANT_MAX_LARGE_REQUESTS: integer(2, 1, 1_000),
  PROGRAM_KEPT_VERSIONS: integer(50, 1, 1_000),
  PROGRAM_PREVIEW_MAX_MEMBERS: integer(50_000, 100, 1e6),

  MERCHANT_MAX_RUNNING_BATCHES: integer(50, 1, 10_000),
  MERCHANT_MAX_CAMPAIGNS_A_DAY: integer(100, 0, 1e6),
  MERCHANT_MAX_WAITING_ROWS: integer(2_000_000, 1, 1e9),
  MERCHANT_MAX_PROGRAMS: integer(200, 1, 10_000),
  MERCHANT_MAX_IMAGE_BYTES: integer(67_108_864, 0, 1e12),
  MERCHANT_MAX_ROLES: integer(100, 1, 10_000),
  MERCHANT_MAX_USERS: integer(1_000, 1, 10_000),
  MERCHANT_MAX_TAGS: integer(1_000, 1, 10_000),
  MERCHANT_MAX_API_KEYS: integer(1_000, 1, 10_000),
  MERCHANT_MAX_READERS: integer(1_000, 1, 10_000),

  PASS_UPDATE_WAIT_MS: integer(2_000, 0, 8_000),
  CHANGE_WORKFLOWS_PER_SECOND: integer(20, 0, 10_000),
  RELAY_SHARDS: integer(4, 1, 64),
  REPLAY_PER_SECOND: integer(50, 1, 1_000),
  PUBLISH_WAIT_MS: integer(1_000, 50, 30_000),
  WEBHOOK_SLOTS: integer(1_000, 100, 100_000),
  REVIVE_AFTER_MS: integer(120_000, 1_000, 3_600_000),
  ERASURE_LAST_RUN_MS: integer(15_000, 1_000, 60_000),

  WALLET_DEVICES_PER_PASS: integer(50, 1, 10_000),
  WALLET_PASSES_PER_DEVICE: integer(1_000, 1, 10_000),
  WALLET_REGISTRATIONS_PER_PASS: integer(30, 1, 1e9),
  WALLET_CALLS_PER_ADDRESS: integer(600, 1, 1e9),
  WALLET_LOG_LINES_PER_PASS: integer(100, 1, 1e9),

  WEBHOOK_ALLOW_HTTP: flag,
  WEBHOOK_ALLOW_CIDRS: z.string().default('').superRefine(parsedBy(parseCidrs)),

  APPLE_PASS_TYPE_ID: optional,
  APPLE_TEAM_ID: optional,
  APPLE_SIGNER_CERT: optional,
  APPLE_SIGNER_KEY: optional,
  APPLE_SIGNER_KEY_PASSPHRASE: optional,
  APPLE_WWDR_CERT: optional,
  APNS_ORIGIN: origin('https://api.push.apple.com'),
  APNS_CA: optional,
  APNS_KEY: optional,
  APNS_KEY_ID: optional,
  GOOGLE_WALLET_ISSUER_ID: optional,
  GOOGLE_WALLET_CREDENTIALS: optional,
  GOOGLE_WALLET_ORIGIN: optional,
  GOOGLE_CALLBACK_KEYS_URL: optional,

  /** Without SMTP_URL and MAIL_FOLDER, no mail is sent. */
  SMTP_URL: optional.pipe(smtpUrl.optional()),
  /** Certificates in PEM: the authorities that sign the server's certificate, instead of the public ones. */
  SMTP_CA: optional
    .transform((pem) => pem?.replaceAll('\\n', '\n'))
    .pipe(z.string().superRefine(parsedBy(certificatesOf)).optional()),
  /** The limit of one attempt. */
  SMTP_TIMEOUT_MS: integer(30_000, 1_000, 60_000),
  MAIL_FROM: optional.pipe(
    z
      .string()
      .regex(/^[^\s@<>"]+@[^\s@<>"]+$/, 'must be a bare address like no-reply@example.com')
      .optional(),
  ),
  /** Mails are written into this folder, unless SMTP_URL is set. */
  MAIL_FOLDER: optional,
  /** Of one kind; sign-in links have the next limit instead. */
  MAIL_PER_ADDRESS_AN_HOUR: integer(3, 1, 1_000),
  /** Within SIGN_IN_LINK_MS, so that somebody who gets no further link has one that works. */
  MAIL_SIGN_INS_PER_ADDRESS: integer(3, 1, 1_000),
  MAIL_PER_PROGRAM_A_MINUTE: integer(30, 1, 1_000),
  /** How long a mail may wait for the previous limit; a mail with a link that expires waits for 5 minutes at most. */
  MAIL_MAX_WAIT_MS: integer(3_600_000, 0, 28_800_000),

  OTEL_EXPORTER_OTLP_ENDPOINT: optional.pipe(webUrl.optional()),

  CRASH_AT: optional,
});

// Both run even if another variable is wrong, so that one message has all mistakes.
const consistent = environment
  .refine((config) => config.CONSOLE_JWT_SECRET || config.CONSOLE_JWKS_URL, {
    path: ['CONSOLE_JWT_SECRET'],
    message: 'is required, unless CONSOLE_JWKS_URL is set',
    when: () => true,
  })
  .refine(
    (config) => !config.CONSOLE_OIDC_ISSUER || (config.CONSOLE_OIDC_CLIENT_ID && config.CONSOLE_OIDC_CLIENT_SECRET),
    {
      path: ['CONSOLE_OIDC_ISSUER'],
      message: 'needs CONSOLE_OIDC_CLIENT_ID and CONSOLE_OIDC_CLIENT_SECRET',
      when: () => true,
    },
  );

export type Config = Omit<z.output<typeof environment>, 'PUBLIC_URL'> & { PUBLIC_URL: string };

export type MailSettings = Pick<Config, 'SMTP_URL' | 'MAIL_FOLDER'>;

/** Whether mails are sent at all. */
export const isMailOn = ({ SMTP_URL, MAIL_FOLDER }: MailSettings): boolean => (SMTP_URL ?? MAIL_FOLDER) !== undefined;

/** The names of all variables; compose files and documents are checked against them. */
export const configNames = Object.keys(environment.shape);

/** Exit code of a process whose configuration is wrong (EX_CONFIG). */
export const configExitCode = 78;

export class ConfigError extends Error {
  override readonly name = 'ConfigError';

  /** One line for each wrong variable: `NAME: the mistake`. */
  constructor(readonly mistakes: readonly string[]) {
    super(['The configuration is wrong:', ...mistakes.map((mistake) => `  ${mistake}`)].join('\n'));
  }
}

/** Throws ConfigError; its message names every wrong variable on a line of its own. */
export function readConfig(env: Record<string, string | undefined>): Config {
  const parsed = consistent.safeParse(env);
  if (!parsed.success) {
    throw new ConfigError(parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`));
  }
  const config = parsed.data;
  return { ...config, PUBLIC_URL: (config.PUBLIC_URL ?? `http://${config.HOST}:${config.PORT}`).replace(/\/+$/, '') };
}
