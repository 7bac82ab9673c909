// Which passes customers have in Google Wallet, as Google says when asked: page by page through the objects of every program.
import { makeGoogleClassId, makeGoogleObjectId, parseGoogleObjectId } from '../../schemas/googleIds.js';
import type { SavesCursor } from '../../schemas/workflows.js';
import type { WorkerDeps } from '../workerDeps.js';
import { noteReconciled } from './googleSaves.js';

export interface ComparedSaves {
  /** Members of whom Google says something else than is known here. */
  doubted: string[];
  /** Where to go on; absent when there is nothing left. */
  next?: SavesCursor;
}

/** One page. Throws GoogleWalletError. */
export async function compareSaves(deps: WorkerDeps, { cursor }: { cursor?: SavesCursor }): Promise<ComparedSaves> {
  const { google } = deps.wallets;
  if (!google) return { doubted: [] };
  const programId = cursor?.page === undefined ? await programAfter(deps, cursor?.programId ?? '') : cursor.programId;
  if (programId === undefined) return { doubted: [] };
  const { issuerId } = google.credentials;
  const { objects, next } = await google.wallet.listObjects(makeGoogleClassId(issuerId, programId), cursor?.page);
  const hasUsers = new Map(
    objects.map((object) => [parseGoogleObjectId(issuerId, object.objectId) ?? '', object.hasUsers]),
  );
  const members = await deps.rows.members
    .find({ _id: { $in: [...hasUsers.keys()] } }, { projection: { 'pass.googleSaved': 1 } })
    .toArray();
  return {
    doubted: members.filter(({ _id, pass }) => (pass.googleSaved === true) !== hasUsers.get(_id)).map(({ _id }) => _id),
    next: { programId, ...(next !== undefined && { page: next }) },
  };
}

async function programAfter(deps: WorkerDeps, programId: string): Promise<string | undefined> {
  const [program] = await deps.rows.programs
    .find({ _id: { $gt: programId } }, { projection: { _id: 1 } })
    .sort({ _id: 1 })
    .limit(1)
    .toArray();
  return program?._id;
}

/** Asks again, and believes what Google says now. Throws GoogleWalletError. */
export async function settleSaves(
  deps: WorkerDeps,
  { memberIds }: { memberIds: readonly string[] },
): Promise<{ corrected: number }> {
  const { google } = deps.wallets;
  const members = await deps.rows.members
    .find({ _id: { $in: [...memberIds] } }, { projection: { merchantId: 1 } })
    .toArray();
  let corrected = 0;
  for (const member of members) {
    const object = await google?.wallet.getObject(makeGoogleObjectId(google.credentials.issuerId, member._id));
    if (!object) continue;
    const changed = await noteReconciled(deps, { member, saved: object.hasUsers });
    if (changed?.kind === 'done') corrected += 1;
  }
  return { corrected };
}
