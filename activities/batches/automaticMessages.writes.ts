// Changes the rule of an automatic message.
import type { Deps } from '../../platform/deps.js';
import { noteChange } from '../../platform/mongodb/audit.js';
import { retryOnConflict } from '../../platform/mongodb/retryOnConflict.js';
import { insert, update } from '../../platform/mongodb/statements.js';
import { transact } from '../../platform/mongodb/transact.js';
import type { Actor } from '../../schemas/access/actor.schema.js';
import { dueAfterChange } from '../../schemas/batches/automaticMessages.rules.js';
import type { AutomaticMessagePatch } from '../../schemas/batches/automaticMessages.schema.js';
import type { AutomaticMessageRow } from '../../schemas/batches/batches.rows.js';
import type { Program } from '../../schemas/programs/programs.schema.js';
import { ServiceError } from '../../schemas/shared/errors.js';
import { readRule } from './automaticMessages.reads.js';

export interface ChangeRule {
  program: Program;
  patch: AutomaticMessagePatch;
  actor: Actor;
}

/** What a merchant decides about a rule. */
const ofMerchant = ({ on, message, hour }: Pick<AutomaticMessageRow, 'on' | 'message' | 'hour'>) => ({
  on,
  message,
  hour,
});

/** A request wakes the workflow at once; `reviveBatches` does it after this time. */
const wakeMs = 30_000;

/** Returns the rule, and whether its workflow has to learn of the change. Throws VALIDATION_FAILED. */
export async function changeRule(
  deps: Deps,
  { program, patch: { audience, ...patch }, actor }: ChangeRule,
): Promise<{ rule: Awaited<ReturnType<typeof readRule>>; wakes: boolean }> {
  const { _id: programId, merchantId, timeZone: zone = 'UTC' } = program;
  return retryOnConflict(deps, async () => {
    const before = await readRule(deps, { merchantId, programId, audience });
    const now = deps.now();
    const next = { ...before, ...patch };
    if (next.on && next.message === undefined)
      throw new ServiceError('VALIDATION_FAILED', [{ path: 'message', message: 'is required' }]);
    const wakes = before.on || next.on;
    const { dueAt: _, ...kept } = next;
    const dueAt = dueAfterChange(before, next, { zone, now });
    const rule: AutomaticMessageRow = {
      ...kept,
      ...(dueAt && { dueAt }),
      ...(wakes && { checkAt: new Date(now.getTime() + wakeMs) }),
      ...{ version: before.version + 1, updatedAt: now, updatedBy: actor },
    };
    if (!noteChange(deps, ofMerchant(before), ofMerchant(rule))) return { rule: before, wakes: false };
    await transact(deps, [statementOf(deps, before, rule)], before.version === 0 ? 0 : 1);
    return { rule, wakes };
  });
}

function statementOf(
  deps: Deps,
  { _id, merchantId, version, dueAt }: Pick<AutomaticMessageRow, '_id' | 'merchantId' | 'version' | 'dueAt'>,
  rule: AutomaticMessageRow,
) {
  if (version === 0) return insert(deps, 'automaticMessages', rule);
  const { _id: _, ...set } = rule;
  return update(
    deps,
    'automaticMessages',
    { _id, merchantId, version },
    { $set: set, ...(dueAt && !rule.dueAt && { $unset: { dueAt: '' } }) },
  );
}
