// Gives lots to the members of programs that got an expiry rule, so that the points of members without further changes
// expire too. The members are read in parts of the range of their ids; the row of the program stores the next part. A
// concurrent change gives the lots itself (schemas/points/expiry.rules.ts) and wins the conflict.
import type { Deps } from '../../platform/deps.js';
import { isUnavailable } from '../../platform/mongodb/isUnavailable.js';
import { update } from '../../platform/mongodb/statements.js';
import { writeBulk } from '../../platform/mongodb/transact.js';
import type { MemberRow } from '../../schemas/members/members.rows.js';
import { lotsOf, rowOf } from '../../schemas/points/expiry.rules.js';
import type { ExpiryRow } from '../../schemas/points/points.rows.js';
import type { Program } from '../../schemas/programs/programs.schema.js';
import { withExpiry } from '../programs/expirySince.writes.js';

/** Three hexadecimal digits. */
const parts = 0x1000;
/** Across all programs, because the embedded engine uses only the range of ids. */
const membersOfQuery = 500;
/** By then every process knows the rule, and members that a process was creating without it are stored. */
const settleMs = 30_000;
const workMs = 10_000;

export interface GiveLots {
  programId?: string;
  /** By default now. */
  at?: Date;
  signal?: AbortSignal;
}

/**
 * Works for about 10 s. `over` is false while members still lack lots. A program that fails does not delay the others;
 * the next run tries it. Throws when MongoDB is unavailable.
 */
export async function giveLots(
  deps: Deps,
  { programId, at, signal }: GiveLots,
): Promise<{ given: number; over: boolean }> {
  const until = performance.now() + workMs;
  const now = at ?? deps.now();
  let given = 0;
  const rules = await readRules(deps, programId);
  const size = rules.length > 0 ? await partsOfQuery(deps) : parts;
  for (const { program, row } of rules) {
    if (row.since.getTime() + settleMs > now.getTime()) continue;
    try {
      for (let part = row.next; part < parts; part += size) {
        signal?.throwIfAborted();
        given += await giveTo(deps, program, { from: part, to: part + size });
        const isLast = part + size >= parts;
        const pauses = performance.now() > until;
        if (isLast || pauses) await remember(deps, row, part + size);
        if (pauses && !isLast) return { given, over: false };
      }
    } catch (error) {
      if (signal?.aborted || isUnavailable(error)) throw error;
      deps.log.error({ err: error, programId: program._id }, 'members of a program got no lots; the next run tries it');
    }
  }
  return { given, over: true };
}

/** Whether members of a program with a new rule still lack lots, or the rule of one was removed before all had some. */
export async function isGivingLots({ collections, now }: Deps): Promise<boolean> {
  const settled = now().getTime() - settleMs;
  // A row for each program with a rule.
  const rows = await collections.expiries.find().toArray();
  return rows.some(({ next, since }) => next < parts && since.getTime() <= settled);
}

type Rule = Pick<Program, '_id' | 'merchantId' | 'expiry' | 'timeZone' | 'expirySince'>;

/** The programs whose members still lack lots. Removes `expirySince` from programs whose rule was removed. */
async function readRules(deps: Deps, programId?: string): Promise<{ program: Rule; row: ExpiryRow }[]> {
  const { programs, expiries } = deps.collections;
  const only = programId === undefined ? {} : { _id: programId };
  // Before the programs, so that the row of a rule that is published meanwhile is not taken for one without a rule.
  const rows = await expiries.find(only).toArray();
  const ruled = programs
    .find({ ...only, expiry: { $exists: true } })
    .project<Rule>({ merchantId: 1, expiry: 1, timeZone: 1 });
  const rules = new Map<string, Rule>();
  for await (const program of ruled) rules.set(program._id, await withExpiry(deps, program));
  const open = [];
  for (const row of rows) {
    const program = rules.get(row._id);
    if (!program) await expiries.deleteOne({ _id: row._id, since: row.since });
    else if (row.next < parts && program.expirySince?.getTime() === row.since.getTime()) open.push({ program, row });
  }
  return open;
}

const remember = (deps: Deps, { _id, since }: ExpiryRow, next: number) =>
  deps.collections.expiries.updateOne({ _id, since }, { $set: { next } });

async function partsOfQuery({ collections }: Deps): Promise<number> {
  const queries = (await collections.members.estimatedDocumentCount()) / membersOfQuery;
  return Math.min(Math.max(Math.floor(parts / Math.max(queries, 1)), 1), parts);
}

const bound = (part: number): string => part.toString(16).padStart(3, '0');

type Found = Pick<MemberRow, '_id' | 'balance' | 'version' | 'expiry'>;

/** Ids are random UUIDs, so each part holds about as many members. */
async function giveTo(deps: Deps, program: Rule, { from, to }: { from: number; to: number }): Promise<number> {
  const { _id: programId, merchantId, expirySince = new Date(0) } = program;
  const range = { $gte: bound(from), ...(to < parts && { $lt: bound(to) }) };
  let given = 0;
  for (;;) {
    const found = await deps.collections.members
      .find({ _id: range, merchantId, programId })
      .project<Found>({ balance: 1, version: 1, expiry: 1 })
      .toArray();
    const without = found.filter(({ balance, expiry }) => balance > 0 && !(expiry && expiry.since >= expirySince));
    if (without.length === 0) return given;
    given += await writeBulk(
      deps,
      without.map((member) => {
        const { _id, version } = member;
        const expiry = rowOf(program, _id, lotsOf(program, member));
        return update(deps, 'members', { _id, merchantId, version }, { $set: { expiry } });
      }),
    );
  }
}
