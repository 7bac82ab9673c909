// The rules of automatic messages, and the members who have not had the message on the present occasion.
import type { Deps } from '../../platform/deps.js';
import { isTimeLimit } from '../../platform/mongodb/isUnavailable.js';
import type { AutomaticMessageRow } from '../../schemas/batches/batches.rows.js';
import { type AutomaticAudience, audienceFields, isUntold } from '../../schemas/members/audiences.rules.js';
import { ruleIdOf } from '../../schemas/shared/ids.js';
import { audienceLists } from '../members/audiences.reads.js';

export interface RuleAt {
  merchantId: string;
  programId: string;
  audience: AutomaticAudience;
}

const firstHour = 10;
const countMs = 500;

/** The rule of an audience, or the one that each program begins with. */
export async function readRule(
  { collections }: Pick<Deps, 'collections'>,
  { merchantId, programId, audience }: RuleAt,
): Promise<Omit<AutomaticMessageRow, 'updatedAt' | 'updatedBy'>> {
  const _id = ruleIdOf(programId, audience);
  const row = await collections.automaticMessages.findOne({ _id, merchantId });
  return row ?? { _id, merchantId, programId, audience, on: false, hour: firstHour, version: 0 };
}

/** Active members of the audience; with `maxTimeMS` the query ends with a time limit. */
async function* audienceMembers(
  deps: Pick<Deps, 'collections' | 'now'>,
  at: RuleAt,
  options: { maxTimeMS?: number; limit?: number } = {},
) {
  const projection = { ...audienceFields, told: 1, deviceCount: 1, 'pass.googleSaved': 1 };
  for (const { where } of await audienceLists(deps, at))
    yield* deps.collections.members.find(where, { projection, ...options });
}

/** Whether the rule has somebody to write to. */
export async function hasUntold(deps: Pick<Deps, 'collections' | 'now'>, at: RuleAt): Promise<boolean> {
  for await (const member of audienceMembers(deps, at)) if (isUntold(at.audience, member)) return true;
  return false;
}

/** `complete` is false when counting ended at LIST_MAX_ROWS members of the audience, or after half a second. */
export async function countUntold(
  deps: Pick<Deps, 'collections' | 'config' | 'now'>,
  at: RuleAt,
): Promise<{ matched: number; reachable: number; complete: boolean }> {
  const counted = { matched: 0, reachable: 0, complete: true };
  const until = performance.now() + countMs;
  try {
    const limit = deps.config.LIST_MAX_ROWS;
    let read = 0;
    for await (const member of audienceMembers(deps, at, { maxTimeMS: countMs, limit })) {
      read += 1;
      const { deviceCount, pass } = member;
      if (isUntold(at.audience, member)) {
        counted.matched += 1;
        if (deviceCount > 0 || pass.googleSaved) counted.reachable += 1;
      }
      if (read === limit || (read % 100 === 0 && performance.now() > until)) return { ...counted, complete: false };
    }
  } catch (error) {
    if (!isTimeLimit(error)) throw error;
    counted.complete = false;
  }
  return counted;
}
