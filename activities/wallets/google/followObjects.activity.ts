// Keeps Google's objects up to date although the service does not know of a customer who saved them. Google's callback
// about a save may never come (docs/protocols/google-wallet.md#7-callbacks), but the answer to each update says whether
// a customer has the object. Objects of members who enrolled in stub mode are created here too. Merchants take turns.
// One request updates up to 50 members, and only one request runs at a time, so that most of the quota is left for
// pushes to known customers (docs/decisions/google-objects-follow-unasked.md).
import { setTimeout as sleep } from 'node:timers/promises';
import { update } from '../../../platform/mongodb/statements.js';
import { writeBulk } from '../../../platform/mongodb/transact.js';
import type { Statement } from '../../../platform/mongodb/transaction.js';
import { updateByIds } from '../../../platform/mongodb/updateMany.js';
import type { MemberRow } from '../../../schemas/members/members.rows.js';
import { ServiceError } from '../../../schemas/shared/errors.js';
import { googlePassView, type Pair } from '../../../schemas/wallets/passes.view.js';
import { withoutDue } from '../../members/expireDue.writes.js';
import { cachedProgram } from '../../programs/program.reads.js';
import { groupsDue } from '../../shared/dueInTurns.reads.js';
import type { WorkerDeps } from '../../workerDeps.js';
import { issueAtGoogle } from '../issuePasses.activity.js';
import type { GoogleWallet } from '../wallets.client.js';
import { clearDueObjects, postponedMs } from './clearObjects.activity.js';
import { type GoogleErrorKind, GoogleWalletError } from './googleWalletError.rules.js';
import { recordReconciledSave } from './saves.writes.js';

const batchSize = 50;
const merchantsAtOnce = 10;
const idleMs = 2_000;

/** Works until `forMs` has passed, nothing was due for `idleEndMs`, or `signal` is aborted. Throws when MongoDB fails. */
export async function followObjects(
  deps: WorkerDeps,
  { signal, forMs, idleEndMs }: { signal: AbortSignal; forMs: number; idleEndMs: number },
): Promise<{ followed: number }> {
  const until = performance.now() + forMs;
  let idleSince = performance.now();
  let followed = 0;
  let after: string | undefined;
  while (!signal.aborted && performance.now() < Math.min(until, idleSince + idleEndMs)) {
    const cleared = await clearDueObjects(deps);
    const { done, more, last } = await followDue(deps, after);
    followed += done + cleared;
    if (done + cleared > 0) idleSince = performance.now();
    after = last;
    if (cleared === 0 && (!more || done === 0)) await sleep(idleMs, undefined, { signal }).catch(() => {});
  }
  return { followed };
}

interface Followed {
  /** How many members are updated. */
  done: number;
  /** Whether further members may be due. */
  more: boolean;
  /** The last merchant of this turn. */
  last: string | undefined;
}

/** Updates up to 50 members of the merchants whose turn it is: those that follow `after`. */
export async function followDue(deps: WorkerDeps, after?: string): Promise<Followed> {
  const { google } = deps.wallets;
  if (!google || deps.walletModes.google === 'stub') return { done: 0, more: false, last: undefined };
  const { due, more, last } = await readDue(deps, after);
  if (due.length === 0) return { done: 0, more, last };
  const pairs = await withPrograms(deps, due);
  const present = pairs.filter(({ member }) => member.pass.googleSaveUrl !== undefined);
  const missing = pairs.filter(({ member }) => member.pass.googleSaveUrl === undefined);
  const issued = await issueMissing(deps, missing);
  const patched = await patchPresent(deps, google, present);
  return { done: issued + patched, more, last };
}

/** The merchants with members that are due, those behind `after` first. */
export const merchantsDue = ({ collections, now }: Pick<WorkerDeps, 'collections' | 'now'>, after?: string) =>
  groupsDue(
    {
      collection: collections.members,
      group: 'merchantId',
      dueAt: 'pass.googleDueAt',
      dueAtOf: ({ pass }) => pass.googleDueAt,
    },
    { now: now(), after },
  );

/** Up to 50 members: as many of each of the next ten merchants that have some due. */
async function readDue(
  deps: WorkerDeps,
  after: string | undefined,
): Promise<Pick<Followed, 'more' | 'last'> & { due: MemberRow[] }> {
  const now = deps.now();
  const groups: string[] = [];
  for await (const merchantId of merchantsDue(deps, after)) if (groups.push(merchantId) === merchantsAtOnce) break;
  const share = Math.floor(batchSize / Math.max(groups.length, 1));
  const due = await Promise.all(groups.map((merchantId) => readDueOf(deps, { merchantId, share, now })));
  const more = groups.length === merchantsAtOnce || due.some((ofMerchant) => ofMerchant.length === share);
  return { due: due.flat(), more, last: groups.at(-1) };
}

/**
 * While more members of a merchant are due than its share, half of them are the newest ones. After the end of stub
 * mode, changes then do not wait for all the objects to be created.
 */
async function readDueOf(
  deps: WorkerDeps,
  { merchantId, share, now }: { merchantId: string; share: number; now: Date },
): Promise<MemberRow[]> {
  const due = (order: 1 | -1, count: number) =>
    deps.collections.members
      .find({ merchantId, 'pass.googleDueAt': { $lte: now } })
      .sort({ 'pass.googleDueAt': order })
      .limit(count)
      .toArray();
  const oldest = await due(1, share);
  if (oldest.length < share) return oldest;
  const newest = Math.floor(share / 2);
  const both = [...oldest.slice(0, share - newest), ...(await due(-1, newest))];
  return [...new Map(both.map((member) => [member._id, member])).values()];
}

/** Postpones members whose program is gone. Throws when MongoDB fails. */
async function withPrograms(deps: WorkerDeps, due: readonly MemberRow[]): Promise<Pair[]> {
  const programs = await Promise.all(due.map((member) => cachedProgram(deps, member).catch(onlyMissing)));
  const pairs: Pair[] = [];
  const postponed: Statement[] = [];
  for (const [index, member] of due.entries()) {
    const program = programs[index];
    if (program && !(program instanceof ServiceError)) pairs.push({ member, program });
    else postponed.push(postpone(deps, member._id, program));
  }
  if (postponed.length > 0) deps.log.error({ members: postponed.length }, 'members have no program');
  await writeBulk(deps, postponed);
  const members = await withoutDue(
    deps,
    pairs.map(({ member }) => member),
  );
  return pairs.map((pair, index) => ({ ...pair, member: members[index] ?? pair.member }));
}

function onlyMissing(error: unknown): ServiceError {
  if (error instanceof ServiceError && error.code === 'PROGRAM_NOT_FOUND') return error;
  throw error;
}

/**
 * A member whose object was created stays due, because it may have changed in the meantime, or its object may have
 * existed before.
 */
async function issueMissing(deps: WorkerDeps, missing: readonly Pair[]): Promise<number> {
  if (missing.length === 0) return 0;
  const memberIds = missing.map(({ member }) => member._id);
  // No caller waits for the events, so the relay publishes them.
  const { unissued } = await issueAtGoogle(deps, { memberIds, leaseOwner: null });
  await writeBulk(
    deps,
    [...unissued].map(([memberId, error]) => postpone(deps, memberId, error)),
  );
  return missing.length - unissued.size;
}

async function patchPresent(deps: WorkerDeps, google: GoogleWallet, present: readonly Pair[]): Promise<number> {
  if (present.length === 0) return 0;
  const outcomes = await google.api.batchPatch(present.map(googlePassView));
  const statements: Statement[] = [];
  let patched = 0;
  for (const [index, { member }] of present.entries()) {
    const outcome = outcomes[index];
    deps.metrics.pass('google', outcome?.outcome === 'failed' ? outcome.error.kind : 'patched');
    if (outcome?.outcome !== 'patched') {
      statements.push(postpone(deps, member._id, outcome?.error));
      continue;
    }
    patched += 1;
    const isNews = outcome.hasUsers !== (member.pass.googleSaved === true);
    // A member that has changed since stays due.
    if (isNews && !(await recordReconciledSave(deps, { member, saved: outcome.hasUsers }))) continue;
    const isCurrent = { _id: member._id, 'pass.tag': member.pass.tag };
    statements.push(update(deps, 'members', isCurrent, { $unset: { 'pass.googleDueAt': '' } }));
  }
  await writeBulk(deps, statements);
  return patched;
}

function kindOf(error: Error | undefined): GoogleErrorKind {
  if (error instanceof GoogleWalletError) return error.kind;
  return error instanceof ServiceError ? 'invalid' : 'transient';
}

function postpone(deps: WorkerDeps, memberId: string, error: Error | undefined): Statement {
  const kind = kindOf(error);
  const dueAt = new Date(deps.now().getTime() + postponedMs[kind]);
  const change = {
    $set: { 'pass.googleDueAt': dueAt },
    // Creates objects that Google does not know again.
    ...(kind === 'not_found' && { $unset: { 'pass.googleSaveUrl': '' } }),
  };
  return update(deps, 'members', { _id: memberId }, change);
}

/** Makes members without an object due, such as members from before stub mode was recorded. */
export async function markObjectsDue(deps: WorkerDeps, ids: readonly string[]): Promise<void> {
  if (deps.walletModes.google === 'stub' || ids.length === 0) return;
  const where = { 'pass.googleSaveUrl': { $exists: false } };
  await updateByIds(deps, 'members', { ids, where, change: { $set: { 'pass.googleDueAt': deps.now() } } });
}
