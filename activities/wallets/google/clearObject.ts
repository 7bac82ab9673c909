// Clears the object of an erased member at Google, because Google cannot delete objects. It becomes inactive and loses
// name, messages and balance.
import type { Program } from '../../../schemas/programs.js';
import { readProgram } from '../../programs/readProgram.js';
import type { WorkerDeps } from '../../workerDeps.js';
import type { GoogleWallet } from '../wallets.js';
import { GoogleWalletError } from './googleWalletError.js';

/** Throws GoogleWalletError when Google does not accept it. Does nothing for a member without an object. */
export async function clearObject(deps: WorkerDeps, { memberId }: { memberId: string }): Promise<void> {
  const { google } = deps.wallets;
  const erasure = await deps.collections.erasures.findOne({ _id: memberId });
  if (!google || deps.walletModes.google === 'stub' || !erasure) return;
  await clear(google, memberId, await readProgram(deps, erasure));
}

async function clear({ api }: GoogleWallet, memberId: string, { _id, fields }: Program): Promise<void> {
  const view = {
    ...{ programId: _id, memberId, memberCode: '', barcode: '' },
    ...{ label: fields.primaryLabel, balance: 0, status: 'voided' as const },
  };
  try {
    await api.patchObject(view, { notify: false, withoutMessages: true });
  } catch (error) {
    if (!(error instanceof GoogleWalletError) || error.kind !== 'not_found') throw error;
  }
}
