// The pass doctor's report on one member's pass: the mode of each wallet and its reason, and for each phone the last
// push, the last list answer and the last fetch. It explains why a pass does not update.
import { z } from 'zod';
import { timelineOutcome } from '../members/members.schema.js';
import { walletMode } from '../shared/passUpdate.schema.js';

const moment = z.iso.datetime();

const certificates = z.object({
  passTypeId: z.string(),
  teamId: z.string(),
  /** The signer's certificate first, then the certificate of Apple that issued it. */
  chain: z.array(z.object({ subject: z.string(), issuer: z.string(), validFrom: moment, validTo: moment })),
  wwdrGeneration: z.string().nullable(),
  expiresAt: moment,
  daysToExpiry: z.int(),
  /** How the service authenticates pushes at APNs. */
  pushesBy: z.enum(['certificate', 'token']),
  warnings: z.array(z.string()),
});

const device = z.object({
  /** The id of the registration. The phone's own identifier is a secret between the phone and the service. */
  id: z.string(),
  registeredAt: moment,
  /** The last push: its time, the status that APNs answered (200 means accepted), and the pushed version. */
  lastPush: z.object({ at: moment, status: z.int(), reason: z.string().optional(), version: moment }).nullable(),
  lastListAt: moment.nullable(),
  /** The last fetched version, and how long after the change the phone fetched it. */
  lastFetch: z.object({ at: moment, version: moment, isNewest: z.boolean(), latencyMs: z.int() }).nullable(),
  /** When the service checks the phone again; it then pushes again unless the phone has fetched. */
  nextLookAt: moment.nullable(),
  stale: z.boolean(),
});

export const passReport = z.object({
  serialNumber: z.string(),
  /** The newest version: its update tag, and the Last-Modified that a phone sees. */
  version: z.object({ tag: moment, lastModified: moment }),
  apple: z.object({
    mode: walletMode,
    /** Why the wallet is in stub mode. */
    reason: z.string().optional(),
    certificates: certificates.nullable(),
    issuedAt: moment.nullable(),
    /** Whether the newest version can be built and signed, tried for this report; null in stub mode. */
    build: z.object({ ok: z.boolean(), bytes: z.int().optional(), error: z.string().optional() }).nullable(),
    webServiceUrl: z.string(),
    devices: z.array(device),
    /** The problems that phones reported, newest first. */
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
  /** What an operator should look at, in sentences; empty when no problem is known. */
  findings: z.array(z.string()),
});
export type PassReport = z.input<typeof passReport>;
