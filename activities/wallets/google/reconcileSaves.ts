// Compares which passes are saved at Google with the members here, page by page through the objects of every program.
import { makeGoogleClassId, makeGoogleObjectId, parseGoogleObjectId } from '../../../schemas/googleIds.js';
import type { SavesCursor } from '../../../schemas/workflows.js';
import type { WorkerDeps } from '../../workerDeps.js';
import { recordReconciledSave } from './googleSaves.js';

export interface ComparedSaves {
  /** Members whose saved state at Google differs from the one stored here. */
  mismatched: string[];
  /** Where to continue; absent when all programs were compared. */
  next?: SavesCursor;
}

/** Compares one page. Throws GoogleWalletError. */
export async function compareSaves(deps: WorkerDeps, { cursor }: { cursor?: SavesCursor }): Promise<ComparedSaves> {
  const { google } = deps.wallets;
  if (!google) return { mismatched: [] };
  const programId = cursor?.page === undefined ? await programAfter(deps, cursor?.programId ?? '') : cursor.programId;
  if (programId === undefined) return { mismatched: [] };
  const { issuerId } = google.credentials;
  const { objects, next } = await google.api.listObjects(makeGoogleClassId(issuerId, programId), cursor?.page);
  const hasUsers = new Map(
    objects.map((object) => [parseGoogleObjectId(issuerId, object.objectId) ?? '', object.hasUsers]),
  );
  const members = await deps.collections.members
    .find({ _id: { $in: [...hasUsers.keys()] } }, { projection: { 'pass.googleSaved': 1 } })
    .toArray();
  return {
    mismatched: members
      .filter(({ _id, pass }) => (pass.googleSaved === true) !== hasUsers.get(_id))
      .map(({ _id }) => _id),
    next: { programId, ...(next !== undefined && { page: next }) },
  };
}

async function programAfter(deps: WorkerDeps, programId: string): Promise<string | undefined> {
  const [program] = await deps.collections.programs
    .find({ _id: { $gt: programId } }, { projection: { _id: 1 } })
    .sort({ _id: 1 })
    .limit(1)
    .toArray();
  return program?._id;
}

/** Reads each object from Google again and records its current saved state. Throws GoogleWalletError. */
export async function correctSaves(
  deps: WorkerDeps,
  { memberIds }: { memberIds: readonly string[] },
): Promise<{ corrected: number }> {
  const { google } = deps.wallets;
  const members = await deps.collections.members
    .find({ _id: { $in: [...memberIds] } }, { projection: { merchantId: 1 } })
    .toArray();
  let corrected = 0;
  for (const member of members) {
    const object = await google?.api.getObject(makeGoogleObjectId(google.credentials.issuerId, member._id));
    if (!object) continue;
    if (await recordReconciledSave(deps, { member, saved: object.hasUsers })) corrected += 1;
  }
  return { corrected };
}
