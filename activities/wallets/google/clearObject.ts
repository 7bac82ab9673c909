// Clears the object of an erased member at Google, because Google cannot delete objects. It becomes inactive and loses
// name, messages and balance.
import { readProgram } from '../../programs/readProgram.js';
import type { WorkerDeps } from '../../workerDeps.js';
import type { GoogleWallet } from '../wallets.js';
import { GoogleWalletError } from './googleWalletError.js';

/** Throws GoogleWalletError when Google does not accept it. Does nothing for a member without an object. */
export async function clearObject(deps: WorkerDeps, { memberId }: { memberId: string }): Promise<void> {
  const { google } = deps.wallets;
  const erasure = await deps.collections.erasures.findOne({ _id: memberId });
  if (!google || deps.walletModes.google === 'stub' || !erasure) return;
  const { _id: programId, fields } = await readProgram(deps, erasure);
  await clearObjectOf(google, { memberId, programId, label: fields.primaryLabel });
}

/** Throws GoogleWalletError. Does nothing for a member without an object. */
export async function clearObjectOf(
  { api }: Pick<GoogleWallet, 'api'>,
  member: { memberId: string; programId: string; label: string },
): Promise<void> {
  const view = { ...member, ...{ memberCode: '', barcode: '', balance: 0, status: 'voided' as const } };
  try {
    await api.patchObject(view, { notify: false, withoutMessages: true });
  } catch (error) {
    if (!(error instanceof GoogleWalletError) || error.kind !== 'not_found') throw error;
  }
}
