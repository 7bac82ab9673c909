// Compares which passes are saved at Google with the members here, page by page through the objects of every program.

import { ServiceError } from '../../../schemas/shared/errors.js';
import type { SavesCursor } from '../../../schemas/tables/workflows.js';
import {
  makeGoogleClassId,
  makeGoogleObjectId,
  parseGoogleObjectId,
} from '../../../schemas/wallets/google/googleIds.rules.js';
import type { WorkerDeps } from '../../workerDeps.js';
import { GoogleWalletError } from './googleWalletError.rules.js';
import { recordReconciledSave } from './saves.writes.js';

export interface ComparedSaves {
  /** Members whose saved state at Google differs from the one stored here. */
  mismatched: string[];
  /** The next page; absent when all programs were compared. */
  next?: SavesCursor;
}

interface GiveUpOption {
  /**
   * Skips what Google does not answer, so that the comparison continues; the next comparison starts from the beginning.
   */
  giveUp: boolean;
}

/** Compares one page. Throws GoogleWalletError unless `giveUp`; a program that Google refuses is skipped. */
export async function compareSaves(
  deps: WorkerDeps,
  { cursor, giveUp }: { cursor?: SavesCursor } & GiveUpOption,
): Promise<ComparedSaves> {
  const { google } = deps.wallets;
  if (!google) return { mismatched: [] };
  const programId = cursor?.page === undefined ? await programAfter(deps, cursor?.programId ?? '') : cursor.programId;
  if (programId === undefined) return { mismatched: [] };
  const { issuerId } = google.credentials;
  const listed = await google.api
    .listObjects(makeGoogleClassId(issuerId, programId), cursor?.page)
    .catch((error: unknown) => {
      if (!(error instanceof GoogleWalletError) || (error.mayPass && !giveUp)) throw error;
      deps.log.error({ err: error, programId }, 'the passes of a program could not be compared with Google');
      return null;
    });
  if (!listed) return { mismatched: [], next: { programId } };
  const { objects, next } = listed;
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

/**
 * Reads each object from Google again and records its current saved state. A member that fails does not delay the
 * others. Throws the last failure when a retry may help, unless `giveUp`.
 */
export async function correctSaves(
  deps: WorkerDeps,
  { memberIds, giveUp }: { memberIds: readonly string[] } & GiveUpOption,
): Promise<{ corrected: number }> {
  const { google } = deps.wallets;
  let corrected = 0;
  let failure: unknown;
  for (const _id of memberIds) {
    try {
      // Read just before Google is asked, because its answer counts only for an unchanged member.
      const member = await deps.collections.members.findOne({ _id }, { projection: { merchantId: 1, version: 1 } });
      if (!member) continue;
      const object = await google?.api.getObject(makeGoogleObjectId(google.credentials.issuerId, _id));
      if (object && (await recordReconciledSave(deps, { member, saved: object.hasUsers }))) corrected += 1;
    } catch (error) {
      deps.log.warn({ err: error, memberId: _id }, 'the saved state of a pass could not be corrected');
      const isFinal = error instanceof GoogleWalletError ? !error.mayPass : error instanceof ServiceError;
      if (!isFinal) failure = error;
    }
  }
  if (failure !== undefined && !giveUp) throw failure;
  return { corrected };
}
