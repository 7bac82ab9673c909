// Records issued passes: the event `pass.created`, its timeline line, and the time of issue on the member. A member of
// a quiet import gets no event. The ids of these rows are derived from member and wallet, so recording a pass twice
// changes nothing.
import { insertMissing } from '../../platform/mongodb/insertMissing.js';
import { update } from '../../platform/mongodb/statements.js';
import { writeBulk } from '../../platform/mongodb/transact.js';
import { updateByIds } from '../../platform/mongodb/updateMany.js';
import type { EventRow } from '../../schemas/events/events.rows.js';
import type { MemberRow } from '../../schemas/members/members.rows.js';
import { derivedId, passCreatedEventId } from '../../schemas/shared/ids.js';
import type { Platform, WalletMode } from '../../schemas/shared/passUpdate.schema.js';
import { withLease } from '../events/leases.writes.js';
import { markIssueDue } from '../events/lostRetries.writes.js';
import { newMemberEvent } from '../events/newEvent.rules.js';
import { timelineRow } from '../members/timelineRow.rules.js';
import type { WorkerDeps } from '../workerDeps.js';
import { GoogleWalletError } from './google/googleWalletError.rules.js';

export const issuedField = { apple: 'pass.appleIssuedAt', google: 'pass.googleIssuedAt' } as const;

/** Whether the event about the member's first pass on this wallet was recorded, in stub mode included. */
const wasRecorded = ({ pass }: MemberRow, platform: Platform): boolean =>
  (platform === 'apple' ? pass.appleIssuedAt : pass.googleIssuedAt) !== undefined;

/** What a wallet returned for a member's pass. */
export type IssueResult = { saveUrl?: string } | Error;

interface RecordIssued {
  platform: Platform;
  mode: WalletMode;
  made: ReadonlyMap<string, IssueResult>;
  members: readonly MemberRow[];
  leaseOwner: string | null;
  fence: string | undefined;
}

/** Returns the ids of the `pass.created` events. */
export async function recordIssued(
  deps: WorkerDeps,
  { platform, mode, made, members, leaseOwner, fence }: RecordIssued,
): Promise<string[]> {
  const issued = members.filter(({ _id }) => !(made.get(_id) instanceof Error));
  if (issued.length === 0) return [];
  const events = issued.map((member): EventRow => {
    const data = { serialNumber: member.serialNumber, platform, mode };
    // A member from the time of stub mode already has an event; the pass that is created now gets another.
    const eventId = passCreatedEventId(member._id, platform, ...(wasRecorded(member, platform) ? ['real'] : []));
    return newMemberEvent(deps, { eventId, event: { type: 'pass.created', data }, member, leaseOwner });
  });
  const outcome = mode === 'real' ? 'success' : 'skipped';
  const quiet = new Set(issued.filter(({ pass }) => pass.quiet).map(({ _id }) => _id));
  const reported = events.filter(({ memberId = '' }) => !quiet.has(memberId));
  await insertMissing(deps.collections.events, withLease(deps, reported, { leaseOwner: leaseOwner ?? '', fence }));
  await insertMissing(
    deps.collections.timeline,
    events.map((event) =>
      timelineRow(event, { memberId: event.memberId ?? '', type: 'pass_built', outcome, platform }),
    ),
  );
  await mark(deps, { platform, mode, members: issued, made });
  return reported.map((event) => event._id);
}

/** Marks the members last, so that an interrupted recording is repeated. */
async function mark(
  deps: WorkerDeps,
  { platform, mode, members, made }: Pick<RecordIssued, 'platform' | 'mode' | 'members' | 'made'>,
): Promise<void> {
  const now = deps.now();
  const isInStubMode = platform === 'google' && mode === 'stub';
  const issuedAt = { [issuedField[platform]]: now, ...(isInStubMode && { 'pass.googleDueAt': now }) };
  const links = members.flatMap(({ _id }) => {
    const one = made.get(_id);
    return one && !(one instanceof Error) && one.saveUrl ? [{ _id, 'pass.googleSaveUrl': one.saveUrl }] : [];
  });
  if (links.length === 0) {
    await updateByIds(deps, 'members', { ids: members.map(({ _id }) => _id), change: { $set: issuedAt } });
    return;
  }
  await writeBulk(
    deps,
    links.map(({ _id, ...link }) => update(deps, 'members', { _id }, { $set: { ...issuedAt, ...link } })),
  );
}

interface Unissued {
  platform: Platform;
  members: readonly MemberRow[];
  unissued: ReadonlyMap<string, Error>;
}

const longestDetail = 200;

/**
 * Records that the passes are missing, and adds the first refusal of each to the timeline. Later refusals of the same
 * pass add no line.
 */
export async function recordUnissued(deps: WorkerDeps, { platform, members, unissued }: Unissued): Promise<void> {
  const lines = members.flatMap(({ _id: memberId, merchantId }) => {
    const error = unissued.get(memberId);
    if (!error) return [];
    const reason = error instanceof GoogleWalletError ? `${error.kind}: ${error.reason}` : error.message;
    return [
      timelineRow(
        { _id: derivedId('unissued', memberId, platform), merchantId, occurredAt: deps.now() },
        {
          memberId,
          type: 'pass_built',
          outcome: 'failure',
          platform,
          detail: `${reason.slice(0, longestDetail)}; is tried again`,
        },
      ),
    ];
  });
  await insertMissing(deps.collections.timeline, lines);
  await markIssueDue(deps, [...unissued.keys()]);
}
