// Creates the clients of both wallets. A wallet is real when its credentials fit, otherwise a stub with a reason. The
// modules for real mode are loaded only in real mode, so that stub mode needs little memory.
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { MemberRow } from '../../schemas/members/members.rows.js';
import type { Program } from '../../schemas/programs/programs.schema.js';
import type { Config } from '../../schemas/shared/config.schema.js';
import type { WalletModes } from '../../schemas/shared/passUpdate.schema.js';
import type { GoogleProgramView } from '../../schemas/wallets/google/pass.view.js';
import { applePassView } from '../../schemas/wallets/passes.view.js';
import type { Apns } from './apple/apns.client.js';
import { loadAppleCredentials, type RealAppleCredentials } from './apple/credentials.rules.js';
import type { CompiledTemplate } from './apple/passPackage.view.js';
import type { TemplatedProgram } from './apple/templateCheck.rules.js';
import { loadGoogleCredentials, type RealGoogleCredentials } from './google/credentials.rules.js';
import type { GoogleWalletApi } from './google/googleWallet.schema.js';

export interface AppleWallet {
  credentials: RealAppleCredentials;
  apns: Apns;
  /** Returns the member's signed .pkpass as of now. Rejects when the program's template cannot be made into a pass. */
  build: (member: MemberRow, program: Program) => Promise<Buffer>;
}

export interface GoogleWallet {
  credentials: RealGoogleCredentials;
  api: GoogleWalletApi;
  /**
   * Creates or updates the program's class, unless this process did so with the same data within the last 10 minutes.
   */
  ensureClass: (program: GoogleProgramView) => Promise<void>;
  clearClassCache: () => void;
  close: () => void;
}

export interface Wallets {
  /** Checked against the clock at each read: a wallet whose certificates have expired is a stub. */
  modes: WalletModes;
  apple: AppleWallet | null;
  google: GoogleWallet | null;
  /** When the first of Apple's certificates ends; undefined when they cannot be used. */
  appleEndsAt: Date | undefined;
  /** Why a wallet is a stub; null when it is real. */
  reasons: { apple: string | null; google: string | null };
  /** Opens both wallets again, with the present settings. */
  reopen: () => Promise<void>;
  close: () => Promise<void>;
}

const maxCachedTemplates = 200;
const classCacheOptions = { max: 1_000, ttl: 10 * 60_000 };
const pushTimeoutMs = 10_000;

export interface CreateWallets {
  config: Config;
  log: Logger;
  now?: () => Date;
}

interface Opened extends Pick<Wallets, 'apple' | 'google' | 'reasons'> {
  /** When the certificates of Apple's wallet end. */
  expiresAt: Date | undefined;
}

async function openWallets({ config, log }: CreateWallets, now: () => Date): Promise<Opened> {
  const appleCredentials = loadAppleCredentials(config, now());
  const googleCredentials = loadGoogleCredentials(config);
  const apple = appleCredentials.mode === 'real' ? await openApple(appleCredentials, { config, log }) : null;
  const google = googleCredentials.mode === 'real' ? await openGoogle(googleCredentials, { config, log }) : null;
  const reasons = {
    apple: appleCredentials.mode === 'stub' ? appleCredentials.reason : null,
    google: googleCredentials.mode === 'stub' ? googleCredentials.reason : null,
  };
  // No settings are a choice and logged as such; settings that cannot work are a mistake, logged as a warning.
  const isMistaken = (platform: 'apple' | 'google') => reasons[platform] !== null && isConfigured(config, platform);
  log[isMistaken('apple') || isMistaken('google') ? 'warn' : 'info'](
    { apple: reasons.apple ?? 'real', google: reasons.google ?? 'real' },
    'wallets',
  );
  if (appleCredentials.mode === 'real')
    for (const warning of appleCredentials.warnings) log.warn({ warning }, 'apple credentials');
  return {
    apple,
    google,
    reasons,
    expiresAt: appleCredentials.mode === 'real' ? appleCredentials.expiresAt : undefined,
  };
}

async function closeWallets({ apple, google }: Opened): Promise<void> {
  google?.close();
  await apple?.apns.close();
}

export async function createWallets(input: CreateWallets): Promise<Wallets> {
  const { now = () => new Date() } = input;
  let opened = await openWallets(input, now);
  return {
    modes: {
      get apple() {
        return opened.expiresAt !== undefined && opened.expiresAt > now() ? 'real' : 'stub';
      },
      get google() {
        return opened.google ? 'real' : 'stub';
      },
    },
    get apple() {
      return opened.apple;
    },
    get google() {
      return opened.google;
    },
    get appleEndsAt() {
      return opened.expiresAt;
    },
    get reasons() {
      return opened.reasons;
    },
    async reopen() {
      const before = opened;
      opened = await openWallets(input, now);
      await closeWallets(before);
    },
    close: () => closeWallets(opened),
  };
}

function isConfigured(config: Config, platform: 'apple' | 'google'): boolean {
  const names = {
    apple: ['APPLE_PASS_TYPE_ID', 'APPLE_TEAM_ID', 'APPLE_SIGNER_CERT', 'APPLE_SIGNER_KEY', 'APPLE_WWDR_CERT'],
    google: ['GOOGLE_WALLET_ISSUER_ID', 'GOOGLE_WALLET_CREDENTIALS'],
  } as const;
  return names[platform].some((name) => config[name] !== undefined);
}

async function openApple(credentials: RealAppleCredentials, { config, log }: CreateWallets): Promise<AppleWallet> {
  const [{ createApns }, { buildPass }, { compileScaled }] = await Promise.all([
    import('./apple/apns.client.js'),
    import('./apple/passPackage.view.js'),
    import('./apple/compileScaled.client.js'),
  ]);
  // Compile errors are cached too, because each member of the program would try to compile the template again.
  const byProgram = new WeakMap<Program, Promise<CompiledTemplate>>();
  const byContent = new LRUCache<string, Promise<CompiledTemplate>>({ max: maxCachedTemplates });
  const compileOnce = (program: Program): Promise<CompiledTemplate> => {
    const { name, style, goal, language, timeZone, passTemplate } = program;
    // All that a template is compiled from is part of its key.
    const content: TemplatedProgram = { name, style, goal, language, timeZone, passTemplate };
    const key = createHash('sha1').update(JSON.stringify(content)).digest('base64');
    const template = byContent.get(key) ?? compileScaled(credentials, content);
    byContent.set(key, template);
    byProgram.set(program, template);
    return template;
  };
  return {
    credentials,
    apns: createApns({
      origin: credentials.apnsOrigin,
      ca: credentials.apnsCa,
      credentials,
      log,
      timeoutMs: pushTimeoutMs,
    }),
    build: async (member, program) => {
      const compiled = await (byProgram.get(program) ?? compileOnce(program));
      return buildPass(credentials, compiled, applePassView(config, { member, program }));
    },
  };
}

/** Workers that share a Redis keep to Google's rate limit together; without Redis, each worker keeps to it alone. */
async function openGoogle(credentials: RealGoogleCredentials, { config, log }: CreateWallets): Promise<GoogleWallet> {
  const [{ createGoogleWalletApi }, { createRequestPacer }, { Redis }] = await Promise.all([
    import('./google/googleWallet.client.js'),
    import('./google/requestPacer.client.js'),
    import('ioredis'),
  ]);
  const redis = config.REDIS_URL
    ? new Redis(config.REDIS_URL, { enableOfflineQueue: false, maxRetriesPerRequest: 0, connectTimeout: 2_000 })
    : undefined;
  // The request pacer itself logs that Redis is unavailable.
  redis?.on('error', () => undefined);
  const pacer = createRequestPacer({ ...(redis && { redis }), log });
  const origins = [new URL(config.PUBLIC_URL).origin];
  const wallet = createGoogleWalletApi({ credentials, pacer, log, origins });
  const classes = new LRUCache<string, true>(classCacheOptions);
  return {
    credentials,
    api: wallet,
    async ensureClass(program) {
      const key = JSON.stringify(program);
      if (classes.has(key)) return;
      await wallet.upsertClass(program);
      classes.set(key, true);
    },
    clearClassCache: () => classes.clear(),
    close: () => redis?.disconnect(),
  };
}
