// Adds the audit of a request or of an operator's command to the transaction of its change: either both are written or
// neither.
import { isDeepStrictEqual } from 'node:util';
import { changesBetween } from '../../schemas/access/auditChanges.rules.js';
import { programIdOf } from '../../schemas/shared/ids.js';
import type { Deps } from '../deps.js';
import { insert } from './statements.js';
import type { Statement } from './transaction.js';

/**
 * Notes from what to what the request changes its target. Called again after a conflict, with what is there then.
 * Returns whether it changes anything.
 */
export function noteChange({ audit = [] }: Pick<Deps, 'audit'>, before: object, after: object): boolean {
  for (const { row, isWritten } of audit) {
    const changes = changesBetween(row.action, before, after);
    if (!isWritten && changes.length > 0) row.changes = changes;
  }
  return !isDeepStrictEqual(before, after);
}

interface Audit {
  statements: Statement[];
  /** Called after the commit. */
  written: () => void;
}

export function auditOf(deps: Pick<Deps, 'audit' | 'collections'>, statements: readonly Statement[]): Audit {
  const due = (deps.audit ?? []).flatMap((pending) => {
    if (pending.isWritten) return [];
    const namespaces = pending.writes.map((name) => deps.collections[name].namespace);
    const change = statements.find(({ namespace }) => namespaces.includes(namespace));
    if (!change && namespaces.length > 0) return [];
    const targetId = pending.row.targetId ?? (change && idIn(change));
    if (targetId === undefined) throw new Error(`The audit of ${pending.row.action} needs a target.`);
    return [{ pending, statement: insert(deps, 'audit', { ...pending.row, targetId }) }];
  });
  return {
    statements: due.map(({ statement }) => statement),
    written() {
      for (const { pending } of due) pending.isWritten = true;
    },
  };
}

function idIn(statement: Statement): string | undefined {
  const row: unknown = 'document' in statement ? statement.document : 'filter' in statement && statement.filter;
  const id = typeof row === 'object' && row !== null && '_id' in row ? row._id : undefined;
  // The target of a request is named as its caller names it.
  return typeof id === 'string' ? programIdOf(id) : undefined;
}
