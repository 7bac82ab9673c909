// Member search. The cost of a page does not grow with the number of the merchant's members: pages are read from an
// index in list order, totals from counters, and words from the search index, a bounded number of matches each. If very
// many members have every word of a query, only a part of its matches is read, and the total is a lower bound
// (docs/interface.md#43-members).

import { type AudienceList, audienceLists, isInLists } from '../../activities/members/audiences.reads.js';
import { emailKey } from '../../activities/members/newMember.rules.js';
import type { Deps } from '../../platform/deps.js';
import { findByIds } from '../../platform/mongodb/findByIds.js';
import { readInOrder } from '../../platform/mongodb/readInOrder.js';
import { toChunks } from '../../platform/toChunks.js';
import type { QueryOf } from '../../schemas/access/endpoint.schema.js';
import { audienceFields } from '../../schemas/members/audiences.rules.js';
import type { MemberRow } from '../../schemas/members/members.rows.js';
import { hasWords, type QueryWord, readQuery, searchWords } from '../../schemas/members/searchWords.rules.js';
import { type Country, phoneDigits, samePhone } from '../../schemas/shared/phone.rules.js';
import { readCode } from '../../schemas/shared/text.js';
import type { Endpoints } from '../../schemas/tables/endpoints.js';
import { newestPage } from '../http/newestPage.reads.js';
import { readPage } from '../http/page.reads.js';
import { audiencePage } from './audiences.reads.js';
import { membersByCode } from './members.reads.js';
import { type Match, matchesOfWholeWord, matchesOfWord } from './searchIndex.reads.js';

export interface MemberFilters extends QueryOf<Endpoints['exportMembers']> {
  merchantId: string;
}

export interface MemberSearch extends MemberFilters {
  page: number;
  pageSize: number;
}

export interface MemberPage {
  items: MemberRow[];
  total: number;
}

/** How many members are read to check a word that too many members have, and how many of them at a time. */
const maxChecked = 1_000;
const checkedAtATime = 100;

export async function searchMembers(deps: Deps, search: MemberSearch): Promise<MemberPage> {
  const readings = search.q === undefined ? undefined : readQuery(search.q);
  if (readings?.length === 0) return { items: [], total: 0 };
  const lists = search.audience && (await audienceLists(deps, { ...search, audience: search.audience }));
  const exactly = await exactMatches(deps, search);
  if (exactly) return pageOfMatches(deps, exactly.filter(isInLists(lists)), { search, readings });
  if (readings) return byWords(deps, search, { readings, lists });
  return lists ? audiencePage(deps, lists, search) : newest(deps, search);
}

/** All members that the filters find, newest first, some at a time; of each at least the fields that are named. */
export async function* eachMember<K extends keyof MemberRow>(
  deps: Deps,
  filters: MemberFilters,
  fields: readonly K[],
): AsyncGenerator<Pick<MemberRow, K>[]> {
  const { merchantId, programId, audience } = filters;
  const readings = filters.q === undefined ? undefined : readQuery(filters.q);
  if (readings?.length === 0) return;
  const isMeant = isInLists(audience && (await audienceLists(deps, { ...filters, audience })));
  const exactly = await exactMatches(deps, filters);
  if (exactly) {
    const search = { ...filters, page: 1, pageSize: Number.MAX_SAFE_INTEGER };
    yield (await pageOfMatches(deps, exactly.filter(isMeant), { search, readings })).items;
  } else if (readings) {
    const found = await matchesOfReadings(deps, filters, readings);
    for (const some of toChunks(found, checkedAtATime)) {
      const ids = some.map(({ memberId }) => memberId);
      const members = new Map((await findByIds(deps, 'members', { ids, merchantId })).map((row) => [row._id, row]));
      yield ids.flatMap((id) => members.get(id) ?? []).filter(isMeant);
    }
  } else {
    const where = { merchantId, ...(programId !== undefined && { programId }) };
    const projection = { programId: 1, ...audienceFields, ...Object.fromEntries(fields.map((field) => [field, 1])) };
    const all = { where, after: undefined, by: 'createdAt', direction: -1, projection } as const;
    for await (const { rows } of readInOrder(deps.collections.members, all)) yield rows.filter(isMeant);
  }
}

async function newest(deps: Deps, { merchantId, programId, page, pageSize }: MemberSearch): Promise<MemberPage> {
  const where = { merchantId, ...(programId !== undefined && { programId }) };
  const list = programId === undefined ? merchantId : `${merchantId}:${programId}`;
  return readPage(deps, {
    page,
    pageSize,
    read: (skip) => newestPage(deps, deps.collections.members, { where, skip, pageSize }),
    count: () => countMembers(deps, list),
  });
}

async function countMembers(deps: Deps, list: string): Promise<number> {
  return (await deps.collections.counters.findOne({ _id: list }))?.members ?? 0;
}

/** The members that one of the exact parameters finds; undefined where none is given. */
async function exactMatches(deps: Deps, search: MemberFilters): Promise<MemberRow[] | undefined> {
  const { merchantId, programId, serial, externalId, email, phone } = search;
  if (serial !== undefined) return membersByCode(deps, { merchantId, programId, code: serial });
  const { externalIds } = deps.collections;
  if (externalId !== undefined)
    return byMemberIds(deps, {
      merchantId,
      rows: await externalIds.find({ merchantId, externalId: readCode(externalId) }).toArray(),
    });
  if (email !== undefined) return byMemberIds(deps, { merchantId, rows: await emailRows(deps, { merchantId, email }) });
  if (phone !== undefined) return byMemberIds(deps, { merchantId, rows: await phoneRows(deps, { merchantId, phone }) });
  return undefined;
}

async function emailRows(deps: Deps, { merchantId, email }: { merchantId: string; email: string }) {
  const { programs, emails } = deps.collections;
  const all = await programs.find({ merchantId }, { projection: { _id: 1 } }).toArray();
  return emails.find({ _id: { $in: all.map(({ _id }) => emailKey(_id, email)) } }).toArray();
}

/** The countries of the merchant's programs. */
async function homes(deps: Deps, merchantId: string): Promise<Map<string, Country | undefined>> {
  const all = await deps.collections.programs.find({ merchantId }, { projection: { country: 1 } }).toArray();
  return new Map(all.map(({ _id, country }) => [_id, country]));
}

/** The members that may have the number: their search words have its digits, in the way in which it was written. */
async function phoneRows(deps: Deps, { merchantId, phone }: { merchantId: string; phone: string }): Promise<Match[]> {
  const countries = new Set([...(await homes(deps, merchantId)).values(), undefined]);
  const words = new Set([...countries].flatMap((country) => phoneDigits(phone, country)).filter(Boolean));
  const found = await Promise.all(
    [...words].map((word) => matchesOfWholeWord(deps, { merchantId, word, most: maxChecked })),
  );
  return [...new Map(found.flat().map((row) => [row.memberId, row])).values()];
}

async function byMemberIds(
  deps: Deps,
  { merchantId, rows }: { merchantId: string; rows: readonly { memberId: string }[] },
): Promise<MemberRow[]> {
  const members: MemberRow[] = [];
  for (const some of toChunks(rows, checkedAtATime)) {
    const ids = some.map(({ memberId }) => memberId);
    members.push(...(await findByIds(deps, 'members', { ids, merchantId })));
  }
  return members;
}

async function pageOfMatches(
  deps: Deps,
  found: readonly MemberRow[],
  { search, readings }: { search: MemberSearch; readings: QueryWord[][] | undefined },
): Promise<MemberPage> {
  const { merchantId, programId, email, phone, externalId, page, pageSize } = search;
  const countries = phone === undefined ? undefined : await homes(deps, merchantId);
  const items = found
    .filter((member) => programId === undefined || member.programId === programId)
    .filter((member) => email === undefined || member.email === email)
    .filter((member) => phone === undefined || samePhone(member.phone ?? '', phone, countries?.get(member.programId)))
    .filter((member) => externalId === undefined || member.externalId === readCode(externalId))
    .filter((member) => !readings || readings.some((words) => hasWords(searchWords(member), words)))
    .sort((a, b) => b.createdAt.getTime() - a.createdAt.getTime() || (a._id < b._id ? 1 : -1));
  return { items: items.slice((page - 1) * pageSize, page * pageSize), total: items.length };
}

const newestFirst = (a: Match, b: Match): number =>
  b.createdAt.getTime() - a.createdAt.getTime() || (a.memberId < b.memberId ? 1 : -1);

/** The members that each word finds, newest first. */
async function matches(deps: Deps, { merchantId, programId }: MemberFilters, words: QueryWord[]): Promise<Match[]> {
  const members = await countMembers(deps, merchantId);
  const found = await Promise.all(words.map((word) => matchesOfWord(deps, { merchantId, members, word })));
  const complete = found.filter(({ lowest }) => lowest === 0);
  const [first, ...rest] = complete.length > 0 ? complete : found;
  const lowest = complete.length > 0 ? 0 : Math.max(...found.map((of) => of.lowest));
  const common = [...(first?.members.values() ?? [])]
    .filter((row) => row.level >= lowest && (programId === undefined || row.programId === programId))
    .filter((row) => rest.every((of) => of.members.has(row.memberId)))
    .sort(newestFirst);
  const unread = words.filter((_, index) => complete.length > 0 && found[index]?.lowest !== 0);
  if (unread.length === 0) return common;
  // The words that too many members have are looked up in the members that have the other words.
  const checked = common.slice(0, maxChecked);
  const ids = checked.map(({ memberId }) => memberId);
  const having = new Set<string>();
  for (const some of toChunks(ids, checkedAtATime)) {
    const rows = await findByIds(deps, 'members', { ids: some, merchantId });
    for (const row of rows) if (hasWords(searchWords(row), unread)) having.add(row._id);
  }
  return checked.filter(({ memberId }) => having.has(memberId));
}

interface Words {
  readings: QueryWord[][];
  lists: AudienceList[] | undefined;
}

/** The members whose words a query finds in one of its readings, newest first. */
async function matchesOfReadings(deps: Deps, search: MemberFilters, readings: QueryWord[][]): Promise<Match[]> {
  // The searches of a merchant take turns, so that many at once delay no other caller more than one does.
  const found = await deps.runExclusive(`search:${search.merchantId}`, () =>
    Promise.all(readings.map((words) => matches(deps, search, words))),
  );
  const all = [...new Map(found.flat().map((match) => [match.memberId, match])).values()];
  if (found.length > 1) all.sort(newestFirst);
  return all;
}

async function byWords(deps: Deps, search: MemberSearch, { readings, lists }: Words): Promise<MemberPage> {
  const { merchantId, page, pageSize } = search;
  const all = await matchesOfReadings(deps, search, readings);
  if (lists) {
    const members = await byMemberIds(deps, { merchantId, rows: all.slice(0, maxChecked) });
    return pageOfMatches(deps, members.filter(isInLists(lists)), { search, readings });
  }
  const ids = all.slice((page - 1) * pageSize, page * pageSize).map((match) => match.memberId);
  const members = await findByIds(deps, 'members', { ids, merchantId });
  const byId = new Map(members.map((member) => [member._id, member]));
  return { items: ids.flatMap((id) => byId.get(id) ?? []), total: all.length };
}
