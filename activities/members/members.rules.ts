// The member rules: what each change does to a member, as decisions; they write nothing. Balances have rules of their
// own (balance.rules.ts). changeMember.writes.ts writes the decisions. A decision of null means that nothing changes
// and no event is written.

import type { Actor } from '../../schemas/access/actor.schema.js';
import type { EventData } from '../../schemas/events/events.schema.js';
import type { AutomaticAudience } from '../../schemas/members/audiences.rules.js';
import type { MemberRow } from '../../schemas/members/members.rows.js';
import { type MemberStatus, maxTags } from '../../schemas/members/members.schema.js';
import { ServiceError } from '../../schemas/shared/errors.js';
import { newToken } from '../../schemas/shared/ids.js';
import type { Decision } from './decision.schema.js';

type ChangedField = 'firstName' | 'lastName' | 'email' | 'phone' | 'externalId' | 'tags' | 'status';

/** A decision with a `member.updated` event about the fields in `changed`. */
export function memberUpdated(
  member: MemberRow,
  change: {
    changed: ChangedField[];
    set: Decision['set'];
    data?: Pick<EventData<'member.updated'>, 'previousStatus' | 'reason'>;
  },
): Decision {
  const { status, tags } = { ...member, ...change.set };
  return {
    set: change.set,
    event: { type: 'member.updated', data: { changed: change.changed, status, tags, ...change.data } },
  };
}

export function statusRule(status: MemberStatus, reason: string | undefined) {
  return (member: MemberRow): Decision | null => {
    if (member.status === status) return null;
    const decision = memberUpdated(member, {
      changed: ['status'],
      set: { status, ...(reason && { statusReason: reason }) },
      data: { previousStatus: member.status, ...(reason && { reason }) },
    });
    return { ...decision, unset: reason ? [] : ['statusReason'] };
  };
}

/** Throws TAG_LIMIT_EXCEEDED. */
export function addTagsRule(tags: readonly string[]) {
  return (member: MemberRow): Decision | null => {
    const all = [...new Set([...member.tags, ...tags])];
    if (all.length === member.tags.length) return null;
    if (all.length > maxTags) throw new ServiceError('TAG_LIMIT_EXCEEDED');
    return memberUpdated(member, { changed: ['tags'], set: { tags: all } });
  };
}

export function removeTagsRule(tags: readonly string[]) {
  return (member: MemberRow): Decision | null => {
    const left = member.tags.filter((tag) => !tags.includes(tag));
    if (left.length === member.tags.length) return null;
    return memberUpdated(member, { changed: ['tags'], set: { tags: left } });
  };
}

/** Increments only the version of the pass. The wallets are notified, subscribers are not. */
export function pushRule(message?: string) {
  return (): Decision => ({
    set: {},
    push: true,
    message,
    event: { type: 'pass.push', data: { ...(message && { changeMessage: message }) } },
  });
}

/** The message of an automatic campaign, with the time at which the member got it. */
export function automaticMessageRule({ message, audience, now }: AutomaticTelling) {
  const push = pushRule(message);
  return ({ told }: MemberRow): Decision => ({ ...push(), set: { told: { ...told, [audience]: now } } });
}

interface AutomaticTelling {
  message: string | undefined;
  audience: AutomaticAudience;
  now: Date;
}

/** A pass was scanned at the till. `code` is the text that the reader read. */
export function scanRule(code: string, actor: Actor) {
  return (): Decision => ({
    set: {},
    timeline: { type: 'pass_scanned', detail: actor.name ?? actor.id },
    event: { type: 'pass.scanned', data: { code, scannedBy: actor.name ?? actor.id, actor } },
  });
}

/**
 * Gives the member's web card a new address. With `replaceToken` the pass gets a new token as well: passes on phones
 * receive no updates until they are added again from the new address.
 */
export function cardLinkRule({ replaceToken }: { replaceToken: boolean }) {
  return (): Decision => ({
    set: {},
    pass: { token: newToken(), ...(replaceToken && { authenticationToken: newToken() }) },
    timeline: { type: replaceToken ? 'pass_token_replaced' : 'card_link_replaced' },
    event: { type: 'pass.push', data: {} },
  });
}
