// Issues the first pass of a member on each wallet. A member whose pass a wallet does not accept delays no other
// member, and is returned so that the caller can retry.

import { toError } from '../../platform/toError.js';
import type { MemberRow } from '../../schemas/members/members.rows.js';
import type { Program } from '../../schemas/programs/programs.schema.js';
import type { Platform } from '../../schemas/shared/passUpdate.schema.js';
import { clearIssueDue, markIssueDue } from '../events/lostRetries.writes.js';
import { withoutDue } from '../members/expireDue.writes.js';
import { cachedProgram } from '../programs/program.reads.js';
import type { WorkerDeps } from '../workerDeps.js';
import { GoogleWalletError } from './google/googleWalletError.rules.js';
import { issueGoogle } from './google/issueGoogle.effect.js';
import { type IssueResult, issuedField, recordIssued, recordUnissued } from './recordIssued.writes.js';

interface Issue {
  memberIds: readonly string[];
  /** The workflow or relay that will publish the events; null leaves the events to the relay. */
  leaseOwner: string | null;
  /** The fence of a caller that publishes the events itself: the events are then written with the caller's lease. */
  fence?: string;
}

export interface IssuePassesFor extends Issue {
  leaseOwner: string;
}

interface Issued {
  /** The ids of the `pass.created` events of the passes that were issued now. */
  newEventIds: string[];
  /** Members whose pass the wallet did not accept, with the error. */
  unissued: Map<string, Error>;
}

interface Pair {
  member: MemberRow;
  program: Program;
}

type Make = (pairs: Pair[]) => Promise<Map<string, IssueResult>>;

/** Members in one request to Google. The passes of one request are recorded before the next request. */
const memberBatchSize = 50;
/** Signing a pass blocks the event loop for about 1 ms. After this time, other work gets to run. */
const blockMs = 4;

async function issue(
  deps: WorkerDeps,
  platform: Platform,
  { memberIds, leaseOwner, fence }: Issue,
  make: Make,
): Promise<Issued> {
  // The configured mode, not the program's: a program whose pushes are off still issues passes.
  const mode = deps.walletModes[platform];
  // A member from the time of stub mode was recorded as issued, but has no object.
  const present = platform === 'google' && mode === 'real' ? 'pass.googleSaveUrl' : issuedField[platform];
  const members = await deps.collections.members
    .find({ _id: { $in: [...memberIds] }, [present]: { $exists: false } })
    .toArray();
  const issued: Issued = { newEventIds: [], unissued: new Map() };
  const size = mode === 'real' ? memberBatchSize : members.length;
  let unavailable: Error | undefined;
  for (let from = 0; from < members.length; from += size) {
    const batch = await withoutDue(deps, members.slice(from, from + size));
    const pairs = await Promise.all(
      batch.map(async (member) => ({ member, program: await cachedProgram(deps, member) })),
    );
    const made = await issueResultsOf(pairs, { unavailable, make: mode === 'real' ? make : noPassNeeded });
    unavailable = [...made.values()].every(isTransient)
      ? [...made.values()].find((one) => one instanceof Error)
      : undefined;
    issued.newEventIds.push(...(await recordIssued(deps, { platform, mode, made, members: batch, leaseOwner, fence })));
    for (const [memberId, one] of made) if (one instanceof Error) issued.unissued.set(memberId, one);
  }
  await recordUnissued(deps, { platform, members, unissued: issued.unissued });
  return issued;
}

/**
 * When the wallet was unavailable for the whole previous batch, it is not called again: all members get the same error.
 */
async function issueResultsOf(
  pairs: Pair[],
  { unavailable, make }: { unavailable: Error | undefined; make: Make },
): Promise<Map<string, IssueResult>> {
  return unavailable ? new Map(pairs.map(({ member }) => [member._id, unavailable])) : make(pairs);
}

const isTransient = (made: IssueResult): boolean => made instanceof GoogleWalletError && made.kind === 'transient';

const noPassNeeded: Make = async (pairs) => new Map(pairs.map(({ member }) => [member._id, {}]));

function issueApple(deps: WorkerDeps, input: Issue): Promise<Issued> {
  return issue(deps, 'apple', input, async (pairs) => {
    const made = new Map<string, IssueResult>();
    let since = performance.now();
    for (const { member, program } of pairs) {
      made.set(member._id, await tryBuild(deps.wallets.apple?.build(member, program)));
      if (performance.now() - since < blockMs) continue;
      await new Promise(setImmediate);
      since = performance.now();
    }
    return made;
  });
}

/** The error of building the pass, or an empty result. The file itself is built when the phone requests it. */
async function tryBuild(build: Promise<unknown> | undefined): Promise<IssueResult> {
  try {
    await build;
    return {};
  } catch (error) {
    return toError(error);
  }
}

export function issueAtGoogle(deps: WorkerDeps, input: Issue): Promise<Issued> {
  const { google } = deps.wallets;
  const make: Make = (pairs) => (google ? issueGoogle(google, { config: deps.config, pairs }) : noPassNeeded(pairs));
  return issue(deps, 'google', input, make);
}

async function orThrow(issuing: Promise<Issued>): Promise<{ newEventIds: string[] }> {
  const { newEventIds, unissued } = await issuing;
  for (const error of unissued.values()) throw error;
  return { newEventIds };
}

/** Throws when a program's template cannot be made into a pass. */
export const issueApplePasses = (deps: WorkerDeps, input: IssuePassesFor) => orThrow(issueApple(deps, input));

/** Throws GoogleWalletError for the first pass that Google did not accept. */
export const issueGooglePasses = (deps: WorkerDeps, input: IssuePassesFor) => orThrow(issueAtGoogle(deps, input));

/** Issues on both wallets. Returns the `pass.created` events, and the members that still lack a pass. */
export async function issueBoth(
  deps: WorkerDeps,
  input: Issue,
): Promise<{ newEventIds: string[]; unissued: string[] }> {
  const [apple, google] = await Promise.all([issueApple(deps, input), issueAtGoogle(deps, input)]);
  const unissued = new Map([...apple.unissued, ...google.unissued]);
  const [reason] = unissued.values();
  if (reason) deps.log.warn({ err: reason, members: unissued.size }, 'passes were not issued yet; they are retried');
  return { newEventIds: [...apple.newEventIds, ...google.newEventIds], unissued: [...unissued.keys()] };
}

/**
 * For members whose enrollment event was published before; the relay publishes the events of the passes. Throws while a
 * wallet does not accept all passes.
 */
export async function issueLate(deps: WorkerDeps, { memberIds }: { memberIds: readonly string[] }): Promise<void> {
  await markIssueDue(deps, memberIds);
  const { unissued } = await issueBoth(deps, { memberIds, leaseOwner: null });
  await clearIssueDue(
    deps,
    memberIds.filter((id) => !unissued.includes(id)),
  );
  if (unissued.length > 0)
    throw new Error(`Passes of ${unissued.length} of ${memberIds.length} members were not taken.`);
}
