// Member search. The cost of a page depends on the page and on the matches of the query, never on how many members the
// merchant has: pages come from an index in list order, totals from counters, and words from the search index.

import type { Deps } from '../../platform/deps.js';
import { findByIds } from '../../platform/mongodb/findByIds.js';
import type { MemberRow, MemberSearchWordRow } from '../../schemas/collections.js';
import { prefixRange, queryWords, wordForms } from '../../schemas/searchWords.js';
import { memberByCode } from './members.js';
import { newestPage } from './newestPage.js';

export interface MemberSearch {
  merchantId: string;
  programId?: string | undefined;
  q?: string | undefined;
  serial?: string | undefined;
  page: number;
  pageSize: number;
}

export interface MemberPage {
  items: MemberRow[];
  total: number;
}

export async function searchMembers(deps: Deps, search: MemberSearch): Promise<MemberPage> {
  const words = search.q === undefined ? [] : queryWords(search.q);
  if (search.serial !== undefined) return bySerial(deps, search, words);
  if (words.length > 0) return byWords(deps, search, words);
  return newest(deps, search);
}

async function newest(deps: Deps, { merchantId, programId, page, pageSize }: MemberSearch): Promise<MemberPage> {
  const where = { merchantId, ...(programId !== undefined && { programId }) };
  const list = programId === undefined ? merchantId : `${merchantId}:${programId}`;
  const [items, counted] = await Promise.all([
    newestPage(deps, deps.collections.members, { where, page, pageSize }),
    deps.collections.counters.findOne({ _id: list }),
  ]);
  return { items, total: counted?.members ?? 0 };
}

async function bySerial(deps: Deps, search: MemberSearch, words: string[]): Promise<MemberPage> {
  const { merchantId, programId, serial = '', page, pageSize } = search;
  const found = await memberByCode(deps, { merchantId, code: serial });
  const inProgram = found && (programId === undefined || found.programId === programId) ? [found] : [];
  const wanted = words.length > 0 ? new Set((await matches(deps, search, words)).map((match) => match.memberId)) : null;
  const items = inProgram.filter((member) => !wanted || wanted.has(member._id));
  return { items: items.slice((page - 1) * pageSize, page * pageSize), total: items.length };
}

type Match = Pick<MemberSearchWordRow, 'memberId' | 'createdAt'>;

/** The members that have, for each word of the query, a search word that begins with it. */
async function matches(deps: Deps, { merchantId, programId }: MemberSearch, words: string[]): Promise<Match[]> {
  const found = await Promise.all(
    words.map(async (word) => {
      const forms = wordForms(word).map((form) => ({ merchantId, word: prefixRange(form) }));
      const rows = await Promise.all(
        forms.map((form) =>
          deps.collections.memberSearchWords
            .find(form, { projection: { _id: 0, memberId: 1, programId: 1, createdAt: 1 } })
            .toArray(),
        ),
      );
      return new Map(rows.flat().map((row) => [row.memberId, row]));
    }),
  );
  const [first = new Map<string, MemberSearchWordRow>(), ...rest] = found;
  return [...first.values()].filter(
    (row) => (programId === undefined || row.programId === programId) && rest.every((rows) => rows.has(row.memberId)),
  );
}

async function byWords(deps: Deps, search: MemberSearch, words: string[]): Promise<MemberPage> {
  const { merchantId, page, pageSize } = search;
  const found = await matches(deps, search, words);
  found.sort((a, b) => b.createdAt.getTime() - a.createdAt.getTime() || (a.memberId < b.memberId ? 1 : -1));
  const ids = found.slice((page - 1) * pageSize, page * pageSize).map((match) => match.memberId);
  const members = await findByIds(deps.collections.members, { ids, merchantId });
  const byId = new Map(members.map((member) => [member._id, member]));
  return { items: ids.flatMap((id) => byId.get(id) ?? []), total: found.length };
}
