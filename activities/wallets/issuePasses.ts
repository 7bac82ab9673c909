// The first pass of a member on each wallet. Each member is for itself: one whose pass a wallet does not take holds up no
// other, and is named for whoever tries again.
import type { MemberRow } from '../../schemas/collections.js';
import type { Platform } from '../../schemas/passUpdate.js';
import type { Program } from '../../schemas/programs.js';
import { GoogleWalletError } from '../google/googleWalletError.js';
import { recentProgram } from '../programs.js';
import type { WorkerDeps } from '../workerDeps.js';
import { issueGoogle } from './issueGoogle.js';
import { issuedField, type Made, recordIssued, recordUnissued } from './recordIssued.js';

interface Issue {
  memberIds: readonly string[];
  /** The workflow or relay that will publish the events; null leaves them to the relay. */
  holder: string | null;
  /** Names the claim of whoever goes on to publish them itself, so that they are written with it. */
  fence?: string;
}

export interface IssuePassesFor extends Issue {
  holder: string;
}

interface Issued {
  /** `pass.created` of what was issued now. */
  eventIds: string[];
  /** Members whose pass the wallet did not take, with its reason. */
  unissued: Map<string, Error>;
}

interface Pair {
  member: MemberRow;
  program: Program;
}

type Make = (pairs: Pair[]) => Promise<Map<string, Made>>;

/** One request to Google; what it took is recorded before the next one. */
const membersTogether = 50;
/** Signing blocks for about a millisecond; others get their turn after this long. */
const blockMs = 4;

async function issue(
  deps: WorkerDeps,
  platform: Platform,
  { memberIds, holder, fence }: Issue,
  make: Make,
): Promise<Issued> {
  const members = await deps.rows.members
    .find({ _id: { $in: [...memberIds] }, [issuedField[platform]]: { $exists: false } })
    .toArray();
  const issued: Issued = { eventIds: [], unissued: new Map() };
  // A program whose pushes are off still has passes to install.
  const mode = deps.walletModes[platform];
  const size = mode === 'real' ? membersTogether : members.length;
  let away: Error | undefined;
  for (let from = 0; from < members.length; from += size) {
    const together = members.slice(from, from + size);
    const pairs = await Promise.all(
      together.map(async (member) => ({ member, program: await recentProgram(deps, member) })),
    );
    const made = await madeOf(pairs, { away, make: mode === 'real' ? make : nothingToMake });
    away = [...made.values()].every(isAway) ? [...made.values()].find((one) => one instanceof Error) : undefined;
    issued.eventIds.push(...(await recordIssued(deps, { platform, mode, made, members: together, holder, fence })));
    for (const [memberId, one] of made) if (one instanceof Error) issued.unissued.set(memberId, one);
  }
  await recordUnissued(deps, { platform, members, unissued: issued.unissued });
  return issued;
}

/** Whoever is away for all of some is not asked about the others. */
async function madeOf(
  pairs: Pair[],
  { away, make }: { away: Error | undefined; make: Make },
): Promise<Map<string, Made>> {
  return away ? new Map(pairs.map(({ member }) => [member._id, away])) : make(pairs);
}

const isAway = (made: Made): boolean => made instanceof GoogleWalletError && made.kind === 'transient';

const nothingToMake: Make = async (pairs) => new Map(pairs.map(({ member }) => [member._id, {}]));

function issueApple(deps: WorkerDeps, input: Issue): Promise<Issued> {
  return issue(deps, 'apple', input, async (pairs) => {
    const made = new Map<string, Made>();
    let since = performance.now();
    for (const { member, program } of pairs) {
      made.set(
        member._id,
        attempted(() => deps.wallets.apple?.build(member, program)),
      );
      if (performance.now() - since < blockMs) continue;
      await new Promise(setImmediate);
      since = performance.now();
    }
    return made;
  });
}

/** The pass itself is built when the phone asks for it; here only whether it can be. */
function attempted(build: () => unknown): Made {
  try {
    build();
    return {};
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

function issueAtGoogle(deps: WorkerDeps, input: Issue): Promise<Issued> {
  const { google } = deps.wallets;
  const make: Make = (pairs) => (google ? issueGoogle(google, { config: deps.config, pairs }) : nothingToMake(pairs));
  return issue(deps, 'google', input, make);
}

async function orThrow(issuing: Promise<Issued>): Promise<{ eventIds: string[] }> {
  const { eventIds, unissued } = await issuing;
  for (const error of unissued.values()) throw error;
  return { eventIds };
}

/** Throws when a program's template cannot be a pass. */
export const issueApplePasses = (deps: WorkerDeps, input: IssuePassesFor) => orThrow(issueApple(deps, input));

/** Throws GoogleWalletError when Google has to be asked again. */
export const issueGooglePasses = (deps: WorkerDeps, input: IssuePassesFor) => orThrow(issueAtGoogle(deps, input));

/** Both wallets, as far as they take the passes; answers the members with a pass that is still to be issued. */
export async function issueBoth(deps: WorkerDeps, input: Issue): Promise<{ eventIds: string[]; unissued: string[] }> {
  const [apple, google] = await Promise.all([issueApple(deps, input), issueAtGoogle(deps, input)]);
  const unissued = new Map([...apple.unissued, ...google.unissued]);
  const [reason] = unissued.values();
  if (reason) deps.log.warn({ err: reason, members: unissued.size }, 'passes were not issued yet; they are retried');
  return { eventIds: [...apple.eventIds, ...google.eventIds], unissued: [...unissued.keys()] };
}

/** For members whose enrollment was told already. Throws while a wallet does not take a pass of theirs. */
export async function issueLate(deps: WorkerDeps, { memberIds }: { memberIds: readonly string[] }): Promise<void> {
  const { unissued } = await issueBoth(deps, { memberIds, holder: null });
  if (unissued.length > 0)
    throw new Error(`Passes of ${unissued.length} of ${memberIds.length} members were not taken.`);
}
