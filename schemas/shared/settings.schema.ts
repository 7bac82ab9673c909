// Every setting of the service: its form, its default and its meaning. `npm run openapi` writes docs/settings.md from it.
import { z } from 'zod';
import { isSecureOrLocal, parseCidrs } from './addresses.rules.js';
import {
  certificates,
  flag,
  httpUrl,
  integer,
  keyRing,
  longSecret,
  optional,
  optionalPort,
  origin,
  parsedBy,
  port,
  proxies,
  redisUrl,
  signatureAlgorithms,
  smtpUrl,
  webUrl,
} from './settingForms.js';

const network = {
  HOST: z.string().min(1).default('127.0.0.1').describe('where the API listens'),
  PORT: port(3000).describe('the port of the API'),
  METRICS_PORT: port(9464).describe("the port of the API's metrics, and of the codec endpoint"),
  WORKER_METRICS_PORT: optionalPort.describe("the port of the worker's metrics; without it `METRICS_PORT` + 1"),
  PUBLIC_URL: optional
    .pipe(webUrl.optional())
    .describe('where phones, browsers and Google find the API; without it `HOST` and `PORT`'),
  TRUST_PROXY: proxies.describe('how many proxies in front of the API set `X-Forwarded-For`'),
  KEEP_ALIVE_MS: integer(75_000, 1_000, 3_600_000).describe(
    'how long an idle connection is kept: longer than the minute of most proxies',
  ),
  LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'silent'])
    .default('info')
    .describe('`trace`, `debug`, `info`, `warn`, `error` or `silent`'),
  OTEL_EXPORTER_OTLP_ENDPOINT: optional.pipe(webUrl.optional()).describe('where traces are sent'),
};

const stores = {
  MONGODB_URI: z.string().min(1).default('mongodb://127.0.0.1:27017/?directConnection=true').describe('a replica set'),
  MONGODB_DATABASE: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,60}$/, 'must be 1 to 60 letters, digits, _ or -')
    .default('loyalty')
    .describe('the database in it'),
  MONGODB_EMBEDDED: flag.describe('`true` for the [embedded engine](embedded-engine.md)'),
  REDIS_URL: optional.pipe(redisUrl.optional()).describe("shares rate limits and Google's budget between processes"),
  SECRETS_KEY: keyRing.describe('seals webhook secrets and mails: a key or several, newest first'),
  SECRETS_KEY_PREVIOUS: optional.pipe(keyRing.optional()).describe('further keys that open'),
};

// Temporal settings that are not set here may come from a Temporal profile (platform/temporal/connectionOptions.ts).
const temporal = {
  TEMPORAL_ADDRESS: optional.describe('host and port; without it `127.0.0.1:7233`'),
  TEMPORAL_NAMESPACE: optional.describe('without it `default`'),
  TEMPORAL_API_KEY: optional.describe('of Temporal Cloud'),
  TEMPORAL_TLS: z.enum(['true', 'false', '1', '0', '']).optional().describe('`true` for TLS'),
  TEMPORAL_TLS_CLIENT_CERT_PATH: optional.describe("file of the client's certificate"),
  TEMPORAL_TLS_CLIENT_CERT_DATA: optional.describe('or the certificate'),
  TEMPORAL_TLS_CLIENT_KEY_PATH: optional.describe('file of its key'),
  TEMPORAL_TLS_CLIENT_KEY_DATA: optional.describe('or the key'),
  TEMPORAL_TLS_SERVER_CA_CERT_PATH: optional.describe("file of the server's authority"),
  TEMPORAL_TLS_SERVER_CA_CERT_DATA: optional.describe('or its certificate'),
  TEMPORAL_TLS_SERVER_NAME: optional.describe("the name in the server's certificate"),
  TEMPORAL_CONFIG_FILE: optional.describe("a profile file of Temporal's tools; settings win over it"),
  TEMPORAL_PROFILE: optional.describe('the profile in it'),
  TEMPORAL_CODEC_KEY: optional
    .pipe(keyRing.optional())
    .describe('encrypts what Temporal stores: a key or several, newest first'),
  TEMPORAL_CODEC_TOKEN: optional
    .pipe(longSecret.optional())
    .describe('operators decrypt with it at the [codec endpoint](operating.md#read-encrypted-workflows)'),
  TEMPORAL_CODEC_ORIGIN: optional
    .pipe(
      z
        .url({ protocol: /^https?$/ })
        .transform((url) => new URL(url).origin)
        .optional(),
    )
    .describe("the origin of Temporal's UI, which may call it"),
};

const signIn = {
  CONSOLE_JWT_SECRET: longSecret
    .optional()
    .describe('signs the tokens of sessions, 32 bytes or more; required without `CONSOLE_JWKS_URL`'),
  CONSOLE_JWT_SECRET_PREVIOUS: optional
    .pipe(longSecret.optional())
    .describe('sessions signed with it are accepted, too'),
  CONSOLE_JWKS_URL: optional.pipe(httpUrl.optional()).describe('the public keys of a console that signs tokens itself'),
  CONSOLE_JWT_ISSUER: z.string().min(1).default('loyalty-console').describe('`iss` of tokens'),
  CONSOLE_JWT_AUDIENCE: z.string().min(1).default('loyalty-pass-service').describe('`aud` of tokens'),
  CONSOLE_JWT_ALGORITHMS: z
    .string()
    .default('RS256,ES256')
    .transform((value) => value.split(',').map((name) => name.trim()))
    .refine(
      (names) => names.every((name) => signatureAlgorithms.includes(name)),
      `must be some of ${signatureAlgorithms.join(', ')}`,
    )
    .describe('algorithms of the keys at `CONSOLE_JWKS_URL`'),
  CONSOLE_OIDC_ISSUER: optional
    .pipe(
      z
        .string()
        .refine(
          (url) => URL.canParse(url) && isSecureOrLocal(new URL(url)),
          'must be an https: URL, or http: on loopback',
        )
        .optional(),
    )
    .describe('an OpenID provider for sign-in'),
  CONSOLE_OIDC_CLIENT_ID: optional.describe('the client there'),
  CONSOLE_OIDC_CLIENT_SECRET: optional.describe('its secret'),
  SESSION_IDLE_MS: integer(43_200_000, 300_000, 2_592_000_000).describe('a session ends so long after its last use'),
  SESSION_MAX_MS: integer(604_800_000, 300_000, 31_536_000_000).describe('and so long after it began'),
  SIGN_IN_LINK_MS: integer(900_000, 120_000, 86_400_000).describe('how long a sign-in link works'),
  LIVE_DESK_URL: optional
    .pipe(
      z.url({ protocol: /^http$/, hostname: /^127\.0\.0\.1$/, error: 'must begin with http://127.0.0.1' }).optional(),
    )
    .describe("the demo's live desk, set by `npm start`"),
};

const requests = {
  RATE_LIMIT_AUTHENTICATED: integer(1_000, 1, 1e9).describe('requests of a key, user or reader in a window'),
  RATE_LIMIT_PUBLIC: integer(50, 1, 1e9).describe('requests of an address to public endpoints in a window'),
  RATE_LIMIT_WINDOW_MS: integer(900_000, 1_000, 86_400_000).describe('the window'),
  IMPORT_MAX_BYTES: integer(1_048_576, 1, 1e9).describe('size of a small import'),
  IMPORT_MAX_ROWS: integer(5_000, 1, 1e6).describe('its rows'),
  BULK_IMPORT_MAX_BYTES: integer(268_435_456, 1, 1e12).describe('size of a large import'),
  BULK_IMPORT_MAX_ROWS: integer(1_000_000, 1, 1e9).describe('its rows'),
  EVENTS_CSV_MAX_ROWS: integer(5_000, 1, 1e6).describe('rows of `events.csv`'),
  SEARCH_MAX_ROWS: integer(5_000, 100, 1e6).describe('search words that a word of `q` reads'),
  LIST_MAX_ROWS: integer(100_000, 100, 1e7).describe('rows of a list that pages reach'),
  PROGRAM_MAX_BYTES: integer(8_388_608, 102_400, 15_000_000).describe('size of the body of a program'),
  PROGRAM_KEPT_VERSIONS: integer(50, 1, 1_000).describe('versions of a program that are kept'),
  PROGRAM_PREVIEW_MAX_MEMBERS: integer(50_000, 100, 1e6).describe('members that the preview of a publication reads'),
  LARGE_REQUESTS: integer(8, 1, 1_000).describe('[large requests](interface.md#81-limits) at a time in a process'),
  MERCHANT_MAX_LARGE_REQUESTS: integer(2, 1, 1_000).describe('those of one merchant'),
};

const ofAMerchant = {
  MERCHANT_MAX_RUNNING_BATCHES: integer(50, 1, 10_000).describe('batches that are not over'),
  MERCHANT_MAX_CAMPAIGNS_A_DAY: integer(100, 0, 1e6).describe('campaigns in 24 hours'),
  MERCHANT_MAX_WAITING_ROWS: integer(2_000_000, 1, 1e9).describe('rows of imports that wait'),
  MERCHANT_MAX_PROGRAMS: integer(200, 1, 10_000).describe('programs, drafts included'),
  MERCHANT_MAX_IMAGE_BYTES: integer(67_108_864, 0, 1e12).describe('images of all programs'),
  MERCHANT_MAX_ROLES: integer(100, 1, 10_000).describe('roles'),
  MERCHANT_MAX_USERS: integer(1_000, 1, 10_000).describe('users'),
  MERCHANT_MAX_TAGS: integer(1_000, 1, 10_000).describe('different tags'),
  MERCHANT_MAX_API_KEYS: integer(1_000, 1, 10_000).describe('API keys'),
  MERCHANT_MAX_READERS: integer(1_000, 1, 10_000).describe('readers'),
};

const work = {
  PASS_UPDATE_WAIT_MS: integer(2_000, 0, 8_000).describe('how long an answer waits for a wallet'),
  CHANGE_WORKFLOWS_PER_SECOND: integer(20, 0, 10_000).describe('changes with a workflow of their own, in a process'),
  RELAY_SHARDS: integer(4, 1, 64).describe('relays that share the merchants'),
  REPLAY_PER_SECOND: integer(50, 1, 1_000).describe('events that a replay sends'),
  PUBLISH_WAIT_MS: integer(1_000, 50, 30_000).describe('how long the relay waits for first attempts'),
  WEBHOOK_SLOTS: integer(1_000, 100, 100_000).describe('attempts at a time in a worker'),
  REVIVE_AFTER_MS: integer(120_000, 1_000, 3_600_000).describe('when work that is overdue is started again'),
  ERASURE_LAST_RUN_MS: integer(15_000, 1_000, 60_000).describe('when a run of an erasure searches a last time'),
  WEBHOOK_ALLOW_HTTP: flag.describe('plain `http` for receivers in `WEBHOOK_ALLOW_CIDRS`'),
  WEBHOOK_ALLOW_CIDRS: z
    .string()
    .default('')
    .superRefine(parsedBy(parseCidrs))
    .describe('private networks in which receivers may be'),
  CRASH_AT: optional.describe('where a crash test kills the process'),
};

const wallets = {
  APPLE_PASS_TYPE_ID: optional.describe('as in the developer portal'),
  APPLE_TEAM_ID: optional.describe('as in the developer portal'),
  APPLE_SIGNER_CERT: optional.describe('the pass certificate: PEM, or the path of a file'),
  APPLE_SIGNER_KEY: optional.describe('its key'),
  APPLE_SIGNER_KEY_PASSPHRASE: optional.describe("the key's passphrase"),
  APPLE_WWDR_CERT: optional.describe("Apple's intermediate certificate"),
  APNS_KEY: optional.describe('a `.p8` key for pushes'),
  APNS_KEY_ID: optional.describe('its id'),
  APNS_ORIGIN: origin('https://api.push.apple.com').describe('the push server'),
  APNS_CA: optional.describe("another server's authority, for tests"),
  GOOGLE_WALLET_ISSUER_ID: optional.describe('as in the Business Console'),
  GOOGLE_WALLET_CREDENTIALS: optional.describe('JSON of the service account, or the path of its file'),
  GOOGLE_WALLET_ORIGIN: optional.describe('another server, for tests'),
  GOOGLE_CALLBACK_KEYS_URL: optional.describe('other keys of callbacks, for tests'),
  WALLET_DEVICES_PER_PASS: integer(50, 1, 10_000).describe('devices of a pass'),
  WALLET_PASSES_PER_DEVICE: integer(1_000, 1, 10_000).describe('passes of a device'),
  WALLET_REGISTRATIONS_PER_PASS: integer(30, 1, 1e9).describe('registrations of a pass in a minute'),
  WALLET_CALLS_PER_ADDRESS: integer(600, 1, 1e9).describe('calls of strangers from an address in a minute'),
  WALLET_LOG_LINES_PER_PASS: integer(100, 1, 1e9).describe('log lines about a pass in an hour'),
};

const mail = {
  SMTP_URL: optional.pipe(smtpUrl.optional()).describe('`smtp://` or `smtps://`, with user and password if required'),
  SMTP_CA: certificates.describe("the server's authorities in PEM, instead of the public ones"),
  SMTP_TIMEOUT_MS: integer(30_000, 1_000, 60_000).describe('limit of an attempt'),
  MAIL_FROM: optional
    .pipe(
      z
        .string()
        .regex(/^[^\s@<>"]+@[^\s@<>"]+$/, 'must be a bare address like no-reply@example.com')
        .optional(),
    )
    .describe('the sender; without it `no-reply@` and the host of `PUBLIC_URL`'),
  MAIL_FOLDER: optional.describe('writes mails as files, without `SMTP_URL`'),
  MAIL_PER_ADDRESS_AN_HOUR: integer(3, 1, 1_000).describe('mails of a kind to an address in an hour'),
  // So that somebody who gets no further link has one that works.
  MAIL_SIGN_INS_PER_ADDRESS: integer(3, 1, 1_000).describe('sign-in links to an address in `SIGN_IN_LINK_MS`'),
  MAIL_PER_PROGRAM_A_MINUTE: integer(30, 1, 1_000).describe('mails of a program in a minute'),
  // A mail with a link that expires waits for 5 minutes at most.
  MAIL_MAX_WAIT_MS: integer(3_600_000, 0, 28_800_000).describe('how long a mail may wait for that'),
};

export const environment = z.object({
  ...network,
  ...stores,
  ...temporal,
  ...signIn,
  ...requests,
  ...ofAMerchant,
  ...work,
  ...wallets,
  ...mail,
});

/** The settings as docs/settings.md groups them. */
export const settingSections: Record<string, Record<string, z.ZodType>> = {
  Network: network,
  'MongoDB, Redis, secrets': stores,
  Temporal: temporal,
  'Signing in': signIn,
  Requests: requests,
  'Limits of a merchant': ofAMerchant,
  Work: work,
  Wallets: wallets,
  Mail: mail,
};
