// What the pass doctor says of one member's pass: for each wallet its mode and why, and for each phone what it was told, what
// it asked and what it fetched, so that nobody has to guess why a pass does not update.
import { z } from 'zod';
import { timelineOutcome } from './members.js';
import { walletMode } from './passUpdate.js';

const moment = z.iso.datetime();

const certificates = z.object({
  passTypeId: z.string(),
  teamId: z.string(),
  /** The signer's certificate first, then Apple's that issued it. */
  chain: z.array(z.object({ subject: z.string(), issuer: z.string(), validFrom: moment, validTo: moment })),
  wwdrGeneration: z.string().nullable(),
  expiresAt: moment,
  daysToExpiry: z.int(),
  /** How pushes prove who sends them. */
  pushesBy: z.enum(['certificate', 'token']),
  warnings: z.array(z.string()),
});

const device = z.object({
  /** Of the registration; the phone's own identifier is a secret between it and the service. */
  id: z.string(),
  registeredAt: moment,
  /** The last push: when, what APNs answered (200 is taken), of which version. */
  lastPush: z.object({ at: moment, status: z.int(), reason: z.string().optional(), version: moment }).nullable(),
  lastListAt: moment.nullable(),
  /** The last version fetched, and how long after its change. */
  lastFetch: z.object({ at: moment, version: moment, isNewest: z.boolean(), latencyMs: z.int() }).nullable(),
  /** When it is looked at, and pushed again unless it has fetched. */
  nextLookAt: moment.nullable(),
  stale: z.boolean(),
});

export const passReport = z.object({
  serialNumber: z.string(),
  /** The newest version: its update tag, and the Last-Modified that a phone sees. */
  version: z.object({ tag: moment, lastModified: moment }),
  apple: z.object({
    mode: walletMode,
    /** Why it is stub. */
    reason: z.string().optional(),
    certificates: certificates.nullable(),
    issuedAt: moment.nullable(),
    /** Whether the newest version can be built and signed, tried just now; null in stub mode. */
    build: z.object({ ok: z.boolean(), bytes: z.int().optional(), error: z.string().optional() }).nullable(),
    webServiceUrl: z.string(),
    devices: z.array(device),
    /** What phones complained of, newest first. */
    logs: z.array(z.object({ at: moment, message: z.string() })),
  }),
  google: z.object({
    mode: walletMode,
    reason: z.string().optional(),
    objectId: z.string().nullable(),
    issuedAt: moment.nullable(),
    saved: z.boolean(),
    saveUrl: z.string().optional(),
    lastPatch: z.object({ at: moment, outcome: timelineOutcome, detail: z.string().optional() }).nullable(),
  }),
  /** What an operator should look at, in words; empty when nothing is known to be wrong. */
  findings: z.array(z.string()),
});
export type PassReport = z.input<typeof passReport>;
