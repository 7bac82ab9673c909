// What `passTemplate.expirationDate` of a new version does to passes in use.
import type { z } from 'zod';
import type { finding } from '../../schemas/programs/programEdits.schema.js';
import type { ProgramContent } from '../../schemas/programs/programs.rows.js';
import { ServiceError } from '../../schemas/shared/errors.js';

type Dated = { passTemplate: Pick<ProgramContent['passTemplate'], 'expirationDate'> };

interface Change {
  live: Dated | null;
  next: Dated;
  now: Date;
}

const path = 'passTemplate.expirationDate';

const momentOf = (program: Dated | null): number | undefined => {
  const text = program?.passTemplate.expirationDate;
  return text === undefined ? undefined : Date.parse(text);
};

/** A date in the past is an error where it is new: it would end every pass at once. */
export function expirationFindings({ live, next, now }: Change): z.input<typeof finding>[] {
  const [before, after] = [momentOf(live), momentOf(next)];
  const isPast = (moment: number | undefined) => moment !== undefined && moment <= now.getTime();
  const warn = (message: string) => [{ path, severity: 'warning' as const, message }];
  if (after === before) return isPast(after) ? warn('is in the past: phones show all passes as expired') : [];
  if (isPast(after))
    return [{ path, severity: 'error', message: 'is in the past: phones would show all passes as expired' }];
  if (after === undefined) return warn('is removed: passes in use no longer expire');
  return warn(`is new: passes in use expire at ${new Date(after).toISOString()}`);
}

/** Throws VALIDATION_FAILED. */
export const requireExpiration = (change: Change): void => refuseErrors(expirationFindings(change));

/** Throws VALIDATION_FAILED when one of the findings is an error. */
export function refuseErrors(findings: readonly z.input<typeof finding>[]): void {
  const errors = findings.filter(({ severity }) => severity === 'error');
  const mistakes = errors.map(({ path: at, message }) => ({ path: at, message }));
  if (mistakes.length > 0) throw new ServiceError('VALIDATION_FAILED', mistakes);
}
