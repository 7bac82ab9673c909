// The first pass of a member on each wallet. What was issued is marked on the member, told as `pass.created` and written in
// the timeline, under ids derived from member and platform: issued twice, it is told once.
import type { EventRow, MemberRow } from '../../schemas/collections.js';
import { derivedId } from '../../schemas/ids.js';
import type { Platform, WalletMode } from '../../schemas/passUpdate.js';
import type { Program } from '../../schemas/programs.js';
import { insertNew } from '../insertNew.js';
import { newEvent } from '../newEvent.js';
import { recentProgram } from '../programs.js';
import { timelineRow } from '../timelineRow.js';
import type { WorkerDeps } from '../workerDeps.js';
import { issueGoogle } from './issueGoogle.js';

export interface IssuePassesFor {
  memberIds: readonly string[];
  /** The workflow or relay that will publish the events. */
  holder: string;
}

interface Pair {
  member: MemberRow;
  program: Program;
}

const issuedField = { apple: 'pass.appleIssuedAt', google: 'pass.googleIssuedAt' } as const;
/** Signing blocks for about a millisecond; others get their turn after this long. */
const blockMs = 4;

async function issue(
  deps: WorkerDeps,
  platform: Platform,
  { memberIds, holder }: IssuePassesFor,
  make: (pairs: Pair[]) => Promise<Map<string, string>>,
): Promise<{ eventIds: string[] }> {
  const members = await deps.rows.members
    .find({ _id: { $in: [...memberIds] }, [issuedField[platform]]: { $exists: false } })
    .toArray();
  if (members.length === 0) return { eventIds: [] };
  const pairs = await Promise.all(
    members.map(async (member) => ({ member, program: await recentProgram(deps, member) })),
  );
  // A program whose pushes are off still has passes to install.
  const mode = deps.walletModes[platform];
  const saveUrls = mode === 'real' ? await make(pairs) : new Map<string, string>();
  const events = members.map((member) => createdEvent(deps, { member, platform, holder, mode }));
  await insertNew(deps.rows.events, events);
  await insertNew(
    deps.rows.timeline,
    events.map((event) =>
      timelineRow(event, {
        memberId: event.memberId ?? '',
        type: 'pass_built',
        outcome: event.data.mode === 'real' ? 'success' : 'skipped',
        platform,
      }),
    ),
  );
  await mark(deps, { platform, members, saveUrls });
  return { eventIds: events.map((event) => event._id) };
}

function createdEvent(
  deps: WorkerDeps,
  { member, platform, holder, mode }: { member: MemberRow; platform: Platform; holder: string; mode: WalletMode },
): EventRow {
  return newEvent(deps, {
    eventId: derivedId('pass.created', member._id, platform),
    type: 'pass.created',
    member,
    data: { serialNumber: member.serialNumber, platform, mode },
    holder,
  });
}

async function mark(
  deps: WorkerDeps,
  { platform, members, saveUrls }: { platform: Platform; members: MemberRow[]; saveUrls: Map<string, string> },
): Promise<void> {
  const field = issuedField[platform];
  const now = deps.now();
  if (saveUrls.size > 0) {
    await deps.rows.members.bulkWrite(
      [...saveUrls].map(([_id, url]) => ({
        updateOne: { filter: { _id }, update: { $set: { 'pass.googleSaveUrl': url } } },
      })),
      { ordered: false },
    );
  }
  await deps.rows.members.updateMany(
    { _id: { $in: members.map((member) => member._id) }, [field]: { $exists: false } },
    { $set: { [field]: now } },
  );
}

/** Throws when a program's template cannot be a pass. */
export function issueApplePasses(deps: WorkerDeps, input: IssuePassesFor): Promise<{ eventIds: string[] }> {
  return issue(deps, 'apple', input, async (pairs) => {
    let since = performance.now();
    for (const { member, program } of pairs) {
      deps.wallets.apple?.build(member, program);
      if (performance.now() - since < blockMs) continue;
      await new Promise(setImmediate);
      since = performance.now();
    }
    return new Map();
  });
}

/** Throws GoogleWalletError when Google has to be asked again. */
export function issueGooglePasses(deps: WorkerDeps, input: IssuePassesFor): Promise<{ eventIds: string[] }> {
  const { google } = deps.wallets;
  return issue(deps, 'google', input, async (pairs) =>
    google ? issueGoogle(google, { config: deps.config, pairs }) : new Map(),
  );
}
