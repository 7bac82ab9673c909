// What is written of issued passes: `pass.created`, its line in the timeline, and the mark on the member, under ids derived
// from member and platform. Written twice, it is there once.
import type { EventRow, MemberRow } from '../../schemas/collections.js';
import { derivedId } from '../../schemas/ids.js';
import type { Platform, WalletMode } from '../../schemas/passUpdate.js';
import { claimedFromBirth } from '../claimEvents.js';
import { GoogleWalletError } from '../google/googleWalletError.js';
import { insertNew } from '../insertNew.js';
import { newEvent } from '../newEvent.js';
import { timelineRow } from '../timelineRow.js';
import { update, writeTogether } from '../transact.js';
import { updateByIds } from '../updateByIds.js';
import type { WorkerDeps } from '../workerDeps.js';

export const issuedField = { apple: 'pass.appleIssuedAt', google: 'pass.googleIssuedAt' } as const;

/** What a wallet made of a member's pass. */
export type Made = { saveUrl?: string } | Error;

interface RecordIssued {
  platform: Platform;
  mode: WalletMode;
  made: ReadonlyMap<string, Made>;
  members: readonly MemberRow[];
  holder: string | null;
  fence: string | undefined;
}

/** Answers the events of what was issued. */
export async function recordIssued(
  deps: WorkerDeps,
  { platform, mode, made, members, holder, fence }: RecordIssued,
): Promise<string[]> {
  const issued = members.filter(({ _id }) => !(made.get(_id) instanceof Error));
  if (issued.length === 0) return [];
  const events = issued.map((member): EventRow => {
    const data = { serialNumber: member.serialNumber, platform, mode };
    const eventId = derivedId('pass.created', member._id, platform);
    return newEvent(deps, { eventId, type: 'pass.created', member, data, holder });
  });
  const outcome = mode === 'real' ? 'success' : 'skipped';
  await insertNew(deps.rows.events, claimedFromBirth(deps, events, { holder: holder ?? '', fence }));
  await insertNew(
    deps.rows.timeline,
    events.map((event) =>
      timelineRow(event, { memberId: event.memberId ?? '', type: 'pass_built', outcome, platform }),
    ),
  );
  await mark(deps, { platform, members: issued, made });
  return events.map((event) => event._id);
}

/** Last, so that what was not recorded to its end is recorded again. */
async function mark(
  deps: WorkerDeps,
  { platform, members, made }: Pick<RecordIssued, 'platform' | 'members' | 'made'>,
): Promise<void> {
  const issuedAt = { [issuedField[platform]]: deps.now() };
  const links = members.flatMap(({ _id }) => {
    const one = made.get(_id);
    return one && !(one instanceof Error) && one.saveUrl ? [{ _id, 'pass.googleSaveUrl': one.saveUrl }] : [];
  });
  if (links.length === 0) {
    await updateByIds(deps.rows.members, { ids: members.map(({ _id }) => _id), change: { $set: issuedAt } });
    return;
  }
  await writeTogether(
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

/** The first refusal of each pass, for the timeline; the later ones say nothing new. */
export async function recordUnissued(deps: WorkerDeps, { platform, members, unissued }: Unissued): Promise<void> {
  const lines = members.flatMap(({ _id: memberId, merchantId }) => {
    const error = unissued.get(memberId);
    if (!error) return [];
    const told = error instanceof GoogleWalletError ? `${error.kind}: ${error.reason}` : error.message;
    return [
      timelineRow(
        { _id: derivedId('unissued', memberId, platform), merchantId, occurredAt: deps.now() },
        {
          memberId,
          type: 'pass_built',
          outcome: 'failure',
          platform,
          detail: `${told.slice(0, longestDetail)}; is tried again`,
        },
      ),
    ];
  });
  await insertNew(deps.rows.timeline, lines);
}
