// The list of members as CSV (RFC 4180, UTF-8 with BOM), streamed page by page. A cell that a spreadsheet would run as a
// formula gets a leading apostrophe.
import { Readable } from 'node:stream';
import type { Deps } from '../../platform/deps.js';
import type { MemberRow } from '../../schemas/members/members.rows.js';
import { csvLine } from '../../schemas/shared/csv.rules.js';
import { programIdOf } from '../../schemas/shared/ids.js';
import { eachMember, type MemberFilters } from './searchMembers.reads.js';

const columns = {
  memberCode: (row) => row.memberCode,
  externalId: (row) => row.externalId,
  firstName: (row) => row.firstName,
  lastName: (row) => row.lastName,
  email: (row) => row.email,
  phone: (row) => row.phone,
  programId: (row) => programIdOf(row.programId),
  balance: (row) => String(row.balance),
  tier: (row) => row.tier,
  tags: (row) => row.tags.join(', '),
  status: (row) => row.status,
  lastVisitAt: (row) => row.lastVisitAt?.toISOString(),
  createdAt: (row) => row.createdAt.toISOString(),
} as const satisfies { [K in keyof MemberRow]?: (row: Pick<MemberRow, K>) => string | undefined };
const names = Object.keys(columns) as (keyof typeof columns)[];

export async function membersCsv(deps: Deps, filters: MemberFilters): Promise<Readable> {
  const pages = eachMember(deps, filters, names);
  // Read before the answer begins, so that a failure is answered as one.
  let page = await pages.next();
  async function* lines() {
    yield `\uFEFF${csvLine(names)}`;
    for (; !page.done; page = await pages.next())
      for (const row of page.value) yield csvLine(Object.values(columns).map((cell) => cell(row) ?? ''));
  }
  return Readable.from(lines());
}
