// The two wallets as this process can reach them: real where credentials fit, stub with a reason where they don't. What real
// mode needs is loaded only then, so that stub mode stays small.
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { MemberRow } from '../../schemas/collections.js';
import type { Config } from '../../schemas/config.js';
import type { Program } from '../../schemas/programs.js';
import type { Apns } from '../apple/apns.js';
import { loadAppleCredentials, type RealAppleCredentials } from '../apple/credentials.js';
import type { CompiledTemplate } from '../apple/passPackage.js';
import type { WalletModes } from '../deps.js';
import { loadGoogleCredentials, type RealGoogleCredentials } from '../google/credentials.js';
import type { GoogleProgram } from '../google/faces.js';
import type { GoogleWallet } from '../google/googleWallet.js';
import { appleFaceOf } from './faces.js';

export interface AppleWallet {
  credentials: RealAppleCredentials;
  apns: Apns;
  /** The member's signed .pkpass as of now. Throws when the program's template cannot be a pass. */
  build: (member: MemberRow, program: Program) => Buffer;
}

export interface GoogleWalletAt {
  credentials: RealGoogleCredentials;
  wallet: GoogleWallet;
  /** Makes the program's class or brings it up to date, unless that was seen to a moment ago. */
  keepClass: (program: GoogleProgram) => Promise<void>;
  forgetClasses: () => void;
  close: () => void;
}

export interface Wallets {
  /** Looks at the clock too: expired certificates are stub from that moment on. */
  modes: WalletModes;
  apple: AppleWallet | null;
  google: GoogleWalletAt | null;
  /** Why a wallet is stub; null where it is real. */
  reasons: { apple: string | null; google: string | null };
  close: () => Promise<void>;
}

const keptTemplates = 200;
const keptClasses = { max: 1_000, ttl: 10 * 60_000 };
const pushTimeoutMs = 10_000;

export interface CreateWallets {
  config: Config;
  log: Logger;
  now?: () => Date;
}

export async function createWallets({ config, log, now = () => new Date() }: CreateWallets): Promise<Wallets> {
  const appleCredentials = loadAppleCredentials(config, now());
  const googleCredentials = loadGoogleCredentials(config);
  const apple = appleCredentials.mode === 'real' ? await openApple(appleCredentials, { config, log }) : null;
  const google = googleCredentials.mode === 'real' ? await openGoogle(googleCredentials, { config, log }) : null;
  const reasons = {
    apple: appleCredentials.mode === 'stub' ? appleCredentials.reason : null,
    google: googleCredentials.mode === 'stub' ? googleCredentials.reason : null,
  };
  // Nothing configured is a choice; something configured that cannot work is a mistake.
  const isMistaken = (platform: 'apple' | 'google') => reasons[platform] !== null && isGiven(config, platform);
  log[isMistaken('apple') || isMistaken('google') ? 'warn' : 'info'](
    { apple: reasons.apple ?? 'real', google: reasons.google ?? 'real' },
    'wallets',
  );
  if (appleCredentials.mode === 'real')
    for (const warning of appleCredentials.warnings) log.warn({ warning }, 'apple credentials');
  return {
    modes: {
      get apple() {
        return appleCredentials.mode === 'real' && appleCredentials.expiresAt > now() ? 'real' : 'stub';
      },
      google: google ? 'real' : 'stub',
    },
    apple,
    google,
    reasons,
    close: async () => {
      google?.close();
      await apple?.apns.close();
    },
  };
}

function isGiven(config: Config, platform: 'apple' | 'google'): boolean {
  const names = {
    apple: ['APPLE_PASS_TYPE_ID', 'APPLE_TEAM_ID', 'APPLE_SIGNER_CERT', 'APPLE_SIGNER_KEY', 'APPLE_WWDR_CERT'],
    google: ['GOOGLE_WALLET_ISSUER_ID', 'GOOGLE_WALLET_CREDENTIALS'],
  } as const;
  return names[platform].some((name) => config[name] !== undefined);
}

async function openApple(credentials: RealAppleCredentials, { config, log }: CreateWallets): Promise<AppleWallet> {
  const [{ createApns }, { buildPass, compileTemplate }] = await Promise.all([
    import('../apple/apns.js'),
    import('../apple/passPackage.js'),
  ]);
  // What cannot be compiled is kept too: it is tried for each of a program's members.
  const byProgram = new WeakMap<Program, CompiledTemplate | Error>();
  const byContent = new LRUCache<string, CompiledTemplate | Error>({ max: keptTemplates });
  const compiled = (program: Program): CompiledTemplate => {
    const known = byProgram.get(program) ?? compileOnce(program);
    if (known instanceof Error) throw known;
    return known;
  };
  const compileOnce = (program: Program): CompiledTemplate | Error => {
    const { name, style, goal, passTemplate } = program;
    const key = createHash('sha1')
      .update(JSON.stringify([name, style, goal, passTemplate]))
      .digest('base64');
    const template = byContent.get(key) ?? attempted(() => compileTemplate(credentials, program));
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
    build: (member, program) => buildPass(credentials, compiled(program), appleFaceOf(config, { member, program })),
  };
}

function attempted<T>(work: () => T): T | Error {
  try {
    return work();
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** All workers together keep to Google's limit, by Redis where there is one. */
async function openGoogle(credentials: RealGoogleCredentials, { config, log }: CreateWallets): Promise<GoogleWalletAt> {
  const [{ createGoogleWallet }, { createTokenBucket }, { Redis }] = await Promise.all([
    import('../google/walletObjects.js'),
    import('../google/tokenBucket.js'),
    import('ioredis'),
  ]);
  const redis = config.REDIS_URL
    ? new Redis(config.REDIS_URL, { enableOfflineQueue: false, maxRetriesPerRequest: 0, connectTimeout: 2_000 })
    : undefined;
  // The bucket itself says when Redis is away.
  redis?.on('error', () => undefined);
  const bucket = createTokenBucket({ ...(redis && { redis }), log });
  const origins = [new URL(config.PUBLIC_URL).origin];
  const wallet = createGoogleWallet({ credentials, bucket, log, origins });
  const classes = new LRUCache<string, true>(keptClasses);
  return {
    credentials,
    wallet,
    async keepClass(program) {
      const key = JSON.stringify(program);
      if (classes.has(key)) return;
      await wallet.upsertClass(program);
      classes.set(key, true);
    },
    forgetClasses: () => classes.clear(),
    close: () => redis?.disconnect(),
  };
}
