// Clears the objects of erased members at Google, which cannot delete objects: they become inactive and lose name,
// messages and balance. Each is owed, as the id of its member alone, until Google has accepted it or does not know the
// object, so an erasure waits for nobody.
import type { Deps } from '../../../platform/deps.js';
import { update } from '../../../platform/mongodb/statements.js';
import type { Statement } from '../../../platform/mongodb/transaction.js';
import type { GoogleClearRow } from '../../../schemas/wallets/wallets.rows.js';
import type { WorkerDeps } from '../../workerDeps.js';
import type { GoogleWallet } from '../wallets.client.js';
import { type GoogleErrorKind, GoogleWalletError } from './googleWalletError.rules.js';

const mostAtOnce = 20;
const second = 1_000;

/** When an object is due again that Google did not accept. */
export const postponedMs: Record<GoogleErrorKind, number> = {
  transient: 15 * second,
  quota: 15 * second,
  not_found: 60 * second,
  forbidden: 300 * second,
  invalid: 3_600 * second,
};

/** The statements by which the objects of members are owed. */
export const owedClears = (deps: Pick<Deps, 'collections' | 'now'>, memberIds: readonly string[]): Statement[] =>
  memberIds.map((_id) => update(deps, 'googleClears', { _id }, { $set: { dueAt: deps.now() } }, true));

/** Clears some of the objects that are owed. Returns how many Google accepted. */
export async function clearDueObjects(deps: WorkerDeps): Promise<number> {
  const { google } = deps.wallets;
  if (!google || deps.walletModes.google === 'stub') return 0;
  const due = await deps.collections.googleClears
    .find({ dueAt: { $lte: deps.now() } })
    .sort({ dueAt: 1 })
    .limit(mostAtOnce)
    .toArray();
  return clearObjects(deps, google, due);
}

/** Returns how many Google accepted; the others are due again later. */
export async function clearObjects(
  deps: Pick<Deps, 'collections' | 'now' | 'log' | 'metrics'>,
  { api }: Pick<GoogleWallet, 'api'>,
  rows: readonly GoogleClearRow[],
): Promise<number> {
  const cleared = await Promise.all(rows.map((row) => clearObject(deps, api, row)));
  return cleared.filter(Boolean).length;
}

async function clearObject(
  deps: Pick<Deps, 'collections' | 'now' | 'log' | 'metrics'>,
  api: GoogleWallet['api'],
  { _id, dueAt }: GoogleClearRow,
): Promise<boolean> {
  const error = await api.clearObject(_id).then(() => undefined, googleError);
  deps.metrics.pass('google', error?.kind ?? 'patched');
  // A row that is owed anew since it was read stays.
  const asRead = { _id, dueAt };
  if (!error || error.kind === 'not_found') {
    await deps.collections.googleClears.deleteOne(asRead);
    return true;
  }
  deps.log.warn({ memberId: _id, reason: error.reason }, 'Google did not clear the object of an erased member');
  const later = new Date(deps.now().getTime() + postponedMs[error.kind]);
  await deps.collections.googleClears.updateOne(asRead, { $set: { dueAt: later } });
  return false;
}

function googleError(error: unknown): GoogleWalletError {
  if (error instanceof GoogleWalletError) return error;
  throw error;
}
