// Readers: the devices of tills. The pairing code and the token are stored only as hashes. One device is paired at a
// time; the token of the one before ends when another is paired.
import { LRUCache } from 'lru-cache';
import type { z } from 'zod';
import type { Deps } from '../../platform/deps.js';
import { noteChange } from '../../platform/mongodb/audit.js';
import { changeOne } from '../../platform/mongodb/changeOne.js';
import { insertWithQuota } from '../../platform/mongodb/insertWithQuota.js';
import { retryOnConflict } from '../../platform/mongodb/retryOnConflict.js';
import { insert, update } from '../../platform/mongodb/statements.js';
import { transact } from '../../platform/mongodb/transact.js';
import type { AuditRow } from '../../schemas/access/access.rows.js';
import { merchantLimits } from '../../schemas/access/merchantLimits.schema.js';
import { ServiceError } from '../../schemas/shared/errors.js';
import { newId, programIdOf, sha256 } from '../../schemas/shared/ids.js';
import {
  newPairingCode,
  newReaderToken,
  pairingHash,
  type readerPatch,
  type readerRequest,
} from '../../schemas/till/readers.schema.js';
import { noTaps } from '../../schemas/till/taps.rules.js';
import { endedReaderDays, type ReaderRow } from '../../schemas/till/till.rows.js';
import { limitOf } from '../access/merchants.reads.js';
import { findProgramKey } from '../programs/program.reads.js';
import { countTaps } from './taps.writes.js';

const codeMs = 10 * 60_000;
const keptPairings = 50;

export interface CodeOf {
  code: string;
  expiresAt: Date;
}

function newCode(deps: Pick<Deps, 'now'>): { made: CodeOf; stored: NonNullable<ReaderRow['code']> } {
  const code = newPairingCode();
  const expiresAt = new Date(deps.now().getTime() + codeMs);
  return { made: { code, expiresAt }, stored: { hash: pairingHash(code), expiresAt } };
}

/** Throws PROGRAM_NOT_FOUND. */
function programKeys(deps: Deps, merchantId: string, ids: readonly string[]): Promise<string[]> {
  return Promise.all(
    [...new Set(ids)].map(async (programId) => {
      const key = await findProgramKey(deps, { merchantId, programId });
      if (key === undefined) throw new ServiceError('PROGRAM_NOT_FOUND');
      return key;
    }),
  );
}

/** Throws PROGRAM_NOT_FOUND, READER_LIMIT_REACHED. */
export async function createReader(
  deps: Deps,
  { merchantId, createdBy, ...settings }: z.output<typeof readerRequest> & { merchantId: string; createdBy: string },
): Promise<{ row: ReaderRow; made: CodeOf }> {
  const { name, location, programIds, lookupBy } = settings;
  const { made, stored } = newCode(deps);
  const row: ReaderRow = {
    _id: newId(),
    merchantId,
    name,
    ...(location !== undefined && { location }),
    ...(programIds && { programIds: await programKeys(deps, merchantId, programIds) }),
    ...(lookupBy && { lookupBy: [...new Set(lookupBy)] }),
    createdAt: deps.now(),
    createdBy,
    code: stored,
    pairings: 0,
    taps: noTaps,
    former: [],
    version: 1,
  };
  const quota = await limitOf(deps, { merchantId, limit: 'readers' });
  await insertWithQuota(deps, {
    merchantId,
    owner: `readers:${merchantId}`,
    countHeld: () => deps.collections.readers.countDocuments({ merchantId }, { limit: quota }),
    quota,
    refusal: new ServiceError(
      'READER_LIMIT_REACHED',
      undefined,
      `The merchant has ${quota} readers (${merchantLimits.readers}); revoked ones count for ${endedReaderDays} days.`,
    ),
    name: 'readers',
    rows: async () => [row],
  });
  return { row, made };
}

const unrevoked = ({ merchantId, id }: { merchantId: string; id: string }) => ({
  _id: id,
  merchantId,
  revokedAt: { $exists: false },
});

interface ReaderAt {
  merchantId: string;
  id: string;
}

/** What a request edits, as its caller names it. */
const editedOf = ({ name, location, programIds, lookupBy }: Partial<ReaderRow>) => ({
  ...{ name, location, programIds: programIds?.map(programIdOf), lookupBy },
});

/** Throws READER_NOT_FOUND, PROGRAM_NOT_FOUND. */
export async function updateReader(
  deps: Deps,
  { merchantId, id, patch }: ReaderAt & { patch: z.output<typeof readerPatch> },
): Promise<ReaderRow> {
  const { name, location, programIds, lookupBy } = patch;
  const set = {
    ...(name !== undefined && { name }),
    ...(location && { location }),
    ...(programIds && { programIds: await programKeys(deps, merchantId, programIds) }),
    ...(lookupBy && { lookupBy: [...new Set(lookupBy)] }),
  };
  const unset = {
    ...(location === null && { location: '' }),
    ...(programIds === null && { programIds: '' }),
  };
  const change = Object.keys(unset).length > 0 ? { $unset: unset } : {};
  const find = () => deps.collections.readers.findOne(unrevoked({ merchantId, id }));
  await retryOnConflict(deps, async () => {
    const before = await find();
    if (!before) throw new ServiceError('READER_NOT_FOUND');
    const after: Partial<ReaderRow> = { ...before, ...set };
    if (location === null) delete after.location;
    if (programIds === null) delete after.programIds;
    if (!noteChange(deps, editedOf(before), editedOf(after))) return;
    const { version } = before;
    const edited = { ...change, $set: { ...set, version: version + 1 } };
    await transact(deps, [update(deps, 'readers', { ...unrevoked({ merchantId, id }), version }, edited)], 1);
  });
  const row = await find();
  if (!row) throw new ServiceError('READER_NOT_FOUND');
  return row;
}

/** A code that pairs another device. Throws READER_NOT_FOUND. */
export async function newCodeFor(deps: Deps, at: ReaderAt): Promise<CodeOf> {
  const { made, stored } = newCode(deps);
  if (!(await changeOne(deps, 'readers', unrevoked(at), { $set: { code: stored } })))
    throw new ServiceError('READER_NOT_FOUND');
  return made;
}

/** Its missing taps stay listed. Throws READER_NOT_FOUND. */
export async function revokeReader(deps: Deps, at: ReaderAt): Promise<void> {
  const change = { $set: { revokedAt: deps.now() }, $unset: { code: '', tokenHash: '' } };
  if (!(await changeOne(deps, 'readers', unrevoked(at), change))) throw new ServiceError('READER_NOT_FOUND');
}

/** Consumes the code. What the device before has counted and not sent stays missing. Throws PAIRING_CODE_INVALID. */
export function pairReader(
  deps: Deps,
  { code, from }: { code: string; from: Pick<AuditRow, 'address' | 'requestId'> },
): Promise<{ row: ReaderRow; token: string }> {
  const hash = pairingHash(code);
  return retryOnConflict(deps, async () => {
    const found = await deps.collections.readers.findOne({ 'code.hash': hash });
    const now = deps.now();
    if (!found?.code || found.revokedAt || found.code.expiresAt <= now) throw new ServiceError('PAIRING_CODE_INVALID');
    const { _id, merchantId, name, pairings } = found;
    const { taps, former, statements } = await countTaps(deps, found);
    const { token, tokenHash } = newReaderToken();
    const set = {
      tokenHash,
      pairedAt: now,
      pairings: pairings + 1,
      taps: noTaps,
      former: [...former, ...(pairings > 0 ? [{ ...taps, pairing: pairings }] : [])].slice(-keptPairings),
      version: found.version + 1,
    };
    const paired = update(
      deps,
      'readers',
      { _id, merchantId, 'code.hash': hash, version: found.version },
      { $set: set, $unset: { code: '', waiting: '' } },
    );
    const audited = insert(deps, 'audit', {
      ...{ _id: newId(), merchantId, createdAt: now, targetId: _id, ...from },
      actor: { type: 'reader', id: _id, name },
      action: 'reader.pair',
    });
    await transact({ ...deps, audit: [] }, [paired, ...statements, audited], 1);
    return { row: { ...found, ...set }, token };
  });
}

/** Null for a token that is unknown, replaced or revoked. */
export const readerOf = (deps: Pick<Deps, 'collections'>, token: string): Promise<ReaderRow | null> =>
  deps.collections.readers.findOne({ tokenHash: sha256(token), revokedAt: { $exists: false } });

const notedAfterMs = 30_000;

/** Returns a function that records in the background that a reader was seen, at most twice a minute in each process. */
export function createNoteReader(deps: Deps): (reader: ReaderRow) => void {
  const noted = new LRUCache<string, number>({ max: 10_000 });
  return function noteReader({ _id, merchantId }) {
    const now = deps.now();
    if (now.getTime() - (noted.get(_id) ?? 0) < notedAfterMs) return;
    noted.set(_id, now.getTime());
    deps.collections.readers
      .updateOne({ _id, merchantId }, { $max: { lastSeenAt: now } })
      .catch((error: unknown) => deps.log.debug({ err: error, readerId: _id }, 'the use of a reader was not noted'));
  };
}
