// The list of members as CSV (RFC 4180, UTF-8 with BOM), streamed page by page. A cell that a spreadsheet would run as a
// formula gets a leading apostrophe.
import { Readable } from 'node:stream';
import { withoutDue } from '../../activities/members/expireDue.writes.js';
import { cachedProgram } from '../../activities/programs/program.reads.js';
import type { Deps } from '../../platform/deps.js';
import type { MemberRow } from '../../schemas/members/members.rows.js';
import type { Program } from '../../schemas/programs/programs.schema.js';
import { csvLine } from '../../schemas/shared/csv.rules.js';
import { programIdOf } from '../../schemas/shared/ids.js';
import { tierNow } from '../../schemas/wallets/passes.view.js';
import { eachMember, type MemberFilters } from './searchMembers.reads.js';

/** What the columns read, and whether points are due. */
const fields = [
  '_id',
  'merchantId',
  'programId',
  'memberCode',
  'externalId',
  'firstName',
  'lastName',
  'email',
  'phone',
  'balance',
  'expiry',
  'lifetimePoints',
  'programVersion',
  'tier',
  'tags',
  'status',
  'lastVisitAt',
  'createdAt',
] as const satisfies readonly (keyof MemberRow)[];
type Row = Pick<MemberRow, (typeof fields)[number]>;

const columns = {
  memberCode: (row) => row.memberCode,
  externalId: (row) => row.externalId,
  firstName: (row) => row.firstName,
  lastName: (row) => row.lastName,
  email: (row) => row.email,
  phone: (row) => row.phone,
  programId: (row) => programIdOf(row.programId),
  balance: (row) => String(row.balance),
  tier: (member, program) => tierNow({ member, program }),
  tags: (row) => row.tags.join(', '),
  status: (row) => row.status,
  lastVisitAt: (row) => row.lastVisitAt?.toISOString(),
  createdAt: (row) => row.createdAt.toISOString(),
} as const satisfies { [K in keyof MemberRow]?: (row: Row, program: Program) => string | undefined };

const lineOf = (row: Row, program: Program): string =>
  csvLine(Object.values(columns).map((cell) => cell(row, program) ?? ''));

/** The lines of some members at a time. */
async function* pagesOf(deps: Deps, filters: MemberFilters): AsyncGenerator<string> {
  for await (const page of eachMember(deps, filters, fields)) {
    const rows = await withoutDue(deps, page);
    const lines = await Promise.all(rows.map(async (row) => lineOf(row, await cachedProgram(deps, row))));
    yield lines.join('');
  }
}

export async function membersCsv(deps: Deps, filters: MemberFilters): Promise<Readable> {
  const pages = pagesOf(deps, filters);
  // Read before the answer begins, so that a failure is answered as one.
  let page = await pages.next();
  async function* lines() {
    yield `\uFEFF${csvLine(Object.keys(columns))}`;
    for (; !page.done; page = await pages.next()) yield page.value;
  }
  return Readable.from(lines());
}
