// Creates the demo merchant of `npm start`: three programs, one of each style, an API key and a console token. Later
// starts reuse all of these. The plain key is stored in the stack's folder, readable only by the file's owner.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SignJWT } from 'jose';
import pino from 'pino';
import { createSignInLink, signInUrl } from '../activities/access/sessions.writes.js';
import { createUser, findUser } from '../activities/access/users.writes.js';
import { applyPrograms } from '../activities/programs/applyPrograms.writes.js';
import { createDeps } from '../platform/createDeps.js';
import type { Deps } from '../platform/deps.js';
import { isApiKey, newApiKey } from '../schemas/access/apiKeys.schema.js';
import { ownerRole } from '../schemas/access/users.schema.js';
import { programFile } from '../schemas/programs/programs.schema.js';
import { readConfig } from '../schemas/shared/config.schema.js';
import { newId, sha256 } from '../schemas/shared/ids.js';

export interface Demo {
  merchantId: string;
  apiKey: string;
  consoleToken: string;
  programs: { points: string; stamps: string; tiered: string };
}

/** The link works once, so it is shown and not stored. */
export type SeededDemo = Demo & { signInLink: string };

export const demoMerchantId = 'demo';

/** The row of counters that says when the demo's history began to be made, and that it is complete (stack/cafe). */
export const historyId = `history:${demoMerchantId}`;

export const programs = { points: 'demo-points', stamps: 'demo-stamps', tiered: 'demo-tiered' };

const programFiles = [
  {
    _id: programs.points,
    slug: programs.points,
    name: 'Demo Points',
    style: 'points',
    fields: { primaryLabel: 'POINTS' },
    goal: 100,
  },
  {
    _id: programs.stamps,
    slug: programs.stamps,
    name: 'Demo Stamps',
    style: 'stamps',
    fields: { primaryLabel: 'STAMPS' },
    goal: 10,
  },
  {
    _id: programs.tiered,
    slug: programs.tiered,
    name: 'Demo Tiers',
    style: 'tiered',
    fields: { primaryLabel: 'POINTS' },
    goal: 500,
    tiers: [
      { name: 'Bronze', threshold: 0 },
      { name: 'Silver', threshold: 200 },
      { name: 'Gold', threshold: 1_000 },
    ],
  },
];

const consoleUser = 'demo-owner';
/** The user of the demo's console; the domain is reserved. */
const ownerEmail = 'owner@demo.example';
const tokenLifetime = '365d';

function keptKey(stackDir: string): string {
  const file = join(stackDir, 'demo-api-key');
  const kept = existsSync(file) ? readFileSync(file, 'utf8').trim() : '';
  if (isApiKey(kept)) return kept;
  const { key } = newApiKey();
  writeFileSync(file, key, { mode: 0o600 });
  return key;
}

/** The demo encrypts nothing with it, so any key of the right length works. */
const noSecretsKey = Buffer.alloc(32).toString('base64');

/** The token of a sign-in link for the demo's owner. Creates the owner if there is none. */
async function linkOfOwner(deps: Deps): Promise<string> {
  const at = { merchantId: demoMerchantId, email: ownerEmail };
  const made = { ...at, roleIds: [ownerRole], createdBy: consoleUser, checkGrant: () => {} };
  const { _id } = (await findUser(deps, at)) ?? (await createUser(deps, made));
  return createSignInLink(deps, { email: ownerEmail, userIds: [_id] });
}

export interface SeedDemo {
  stackDir: string;
  mongodbUri: string;
  /** The page that the link opens. */
  publicUrl: string;
  consoleJwtSecret: string;
  /** Whether a new merchant gets no history, now and later. */
  isEmpty: boolean;
}

/** Plans the history of a demo that has no member yet, or notes that it gets none, at later starts either. */
async function planHistory({ collections }: Deps, { at, isEmpty }: { at: Date; isEmpty: boolean }): Promise<void> {
  const merchantId = demoMerchantId;
  if (await collections.members.findOne({ merchantId }, { projection: { _id: 1 } })) return;
  const row = { merchantId, at, ...(isEmpty && { made: 1 }) };
  await collections.counters.updateOne({ _id: historyId }, { $setOnInsert: row }, { upsert: true });
}

export async function seedDemo({
  stackDir,
  mongodbUri,
  publicUrl,
  consoleJwtSecret,
  isEmpty,
}: SeedDemo): Promise<SeededDemo> {
  const config = readConfig({
    ...process.env,
    MONGODB_URI: mongodbUri,
    PUBLIC_URL: publicUrl,
    CONSOLE_JWT_SECRET: consoleJwtSecret,
    SECRETS_KEY: noSecretsKey,
  });
  const deps = createDeps({ config, log: pino({ level: 'warn' }), timeouts: 'tool' });
  try {
    const now = deps.now();
    await deps.collections.merchants.updateOne(
      { _id: demoMerchantId },
      { $setOnInsert: { name: 'Demo merchant', createdAt: now } },
      { upsert: true },
    );
    for (const file of programFiles) {
      const program = { ...programFile.parse(file), merchantId: demoMerchantId };
      const known = await deps.collections.programs.findOne({ _id: program._id }, { projection: { _id: 1 } });
      if (!known) await applyPrograms(deps, { programs: [program], actor: { type: 'user', id: consoleUser } });
    }
    await planHistory(deps, { at: now, isEmpty });
    const apiKey = keptKey(stackDir);
    await deps.collections.apiKeys.updateOne(
      { hash: sha256(apiKey) },
      {
        $setOnInsert: {
          _id: newId(),
          merchantId: demoMerchantId,
          keyPrefix: apiKey.slice(0, 12),
          name: 'Demo key',
          roleIds: ['integration'],
          createdBy: consoleUser,
          createdAt: now,
        },
      },
      { upsert: true },
    );
    const consoleToken = await new SignJWT({ merchantId: demoMerchantId, roleIds: ['owner'] })
      .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
      .setSubject(consoleUser)
      .setIssuer(config.CONSOLE_JWT_ISSUER)
      .setAudience(config.CONSOLE_JWT_AUDIENCE)
      .setIssuedAt()
      .setExpirationTime(tokenLifetime)
      .sign(new TextEncoder().encode(config.CONSOLE_JWT_SECRET));
    const signInLink = signInUrl(deps, await linkOfOwner(deps));
    return { merchantId: demoMerchantId, apiKey, consoleToken, programs, signInLink };
  } finally {
    await deps.close();
  }
}
