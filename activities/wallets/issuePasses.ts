// The first pass of a member on each wallet. What was issued is marked on the member, told as `pass.created` and written in
// the timeline, under ids derived from member and platform: issued twice, it is told once.
import type { EventRow, MemberRow } from '../../schemas/collections.js';
import { derivedId } from '../../schemas/ids.js';
import type { Platform } from '../../schemas/passUpdate.js';
import type { Store } from '../deps.js';
import { insertNew } from '../insertNew.js';
import { newEvent } from '../newEvent.js';
import { recentProgram } from '../programs.js';
import { timelineRow } from '../timelineRow.js';
import { modesOf } from '../walletModes.js';

export interface IssuePassesFor {
  memberIds: readonly string[];
  /** The workflow or relay that will publish the events. */
  holder: string;
}

const issuedField = { apple: 'pass.appleIssuedAt', google: 'pass.googleIssuedAt' } as const;

async function issue(
  store: Store,
  platform: Platform,
  { memberIds, holder }: IssuePassesFor,
): Promise<{ eventIds: string[] }> {
  const members = await store.rows.members
    .find({ _id: { $in: [...memberIds] }, [issuedField[platform]]: { $exists: false } })
    .toArray();
  if (members.length === 0) return { eventIds: [] };
  const events = await Promise.all(members.map((member) => createdEvent(store, { member, platform, holder })));
  await insertNew(store.rows.events, events);
  await insertNew(
    store.rows.timeline,
    events.map((event) =>
      timelineRow(event, {
        memberId: event.memberId ?? '',
        type: 'pass_built',
        outcome: event.data.mode === 'real' ? 'success' : 'skipped',
        platform,
      }),
    ),
  );
  await store.rows.members.updateMany(
    { _id: { $in: members.map((member) => member._id) }, [issuedField[platform]]: { $exists: false } },
    { $set: { [issuedField[platform]]: store.now() } },
  );
  return { eventIds: events.map((event) => event._id) };
}

async function createdEvent(
  store: Store,
  { member, platform, holder }: { member: MemberRow; platform: Platform; holder: string },
): Promise<EventRow> {
  const program = await recentProgram(store, member);
  const mode = modesOf(store.walletModes, program)[platform];
  return newEvent(store, {
    eventId: derivedId('pass.created', member._id, platform),
    type: 'pass.created',
    member,
    data: { serialNumber: member.serialNumber, platform, mode },
    holder,
  });
}

export const issueApplePasses = (store: Store, input: IssuePassesFor) => issue(store, 'apple', input);
export const issueGooglePasses = (store: Store, input: IssuePassesFor) => issue(store, 'google', input);
