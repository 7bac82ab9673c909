// Finding members. What a page costs depends on what it shows, never on how many members the merchant has: pages come from
// an index in their order, totals from counters, and words from the search index.
import type { MemberRow, MemberTokenRow } from '../schemas/collections.js';
import { prefixRange, queryWords, wordForms } from '../schemas/searchWords.js';
import type { Store } from './deps.js';
import { findByIds } from './findByIds.js';
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

export async function searchMembers(store: Store, search: MemberSearch): Promise<MemberPage> {
  const words = search.q === undefined ? [] : queryWords(search.q);
  if (search.serial !== undefined) return bySerial(store, search, words);
  if (words.length > 0) return byWords(store, search, words);
  return newest(store, search);
}

async function newest(store: Store, { merchantId, programId, page, pageSize }: MemberSearch): Promise<MemberPage> {
  const where = { merchantId, ...(programId !== undefined && { programId }) };
  const list = programId === undefined ? merchantId : `${merchantId}:${programId}`;
  const [items, counted] = await Promise.all([
    newestPage(store, store.rows.members, { where, page, pageSize }),
    store.rows.counters.findOne({ _id: list }),
  ]);
  return { items, total: counted?.members ?? 0 };
}

async function bySerial(store: Store, search: MemberSearch, words: string[]): Promise<MemberPage> {
  const { merchantId, programId, serial = '', page, pageSize } = search;
  const found = await memberByCode(store, { merchantId, code: serial });
  const inProgram = found && (programId === undefined || found.programId === programId) ? [found] : [];
  const wanted =
    words.length > 0 ? new Set((await matches(store, search, words)).map((match) => match.memberId)) : null;
  const items = inProgram.filter((member) => !wanted || wanted.has(member._id));
  return { items: items.slice((page - 1) * pageSize, page * pageSize), total: items.length };
}

type Match = Pick<MemberTokenRow, 'memberId' | 'createdAt'>;

/** Members that have, for each word, a search word that begins with it. */
async function matches(store: Store, { merchantId, programId }: MemberSearch, words: string[]): Promise<Match[]> {
  const found = await Promise.all(
    words.map(async (word) => {
      const forms = wordForms(word).map((form) => ({ merchantId, token: prefixRange(form) }));
      const rows = await Promise.all(
        forms.map((form) =>
          store.rows.memberTokens
            .find(form, { projection: { _id: 0, memberId: 1, programId: 1, createdAt: 1 } })
            .toArray(),
        ),
      );
      return new Map(rows.flat().map((row) => [row.memberId, row]));
    }),
  );
  const [first = new Map<string, MemberTokenRow>(), ...rest] = found;
  return [...first.values()].filter(
    (row) => (programId === undefined || row.programId === programId) && rest.every((rows) => rows.has(row.memberId)),
  );
}

async function byWords(store: Store, search: MemberSearch, words: string[]): Promise<MemberPage> {
  const { merchantId, page, pageSize } = search;
  const found = await matches(store, search, words);
  found.sort((a, b) => b.createdAt.getTime() - a.createdAt.getTime() || (a.memberId < b.memberId ? 1 : -1));
  const ids = found.slice((page - 1) * pageSize, page * pageSize).map((match) => match.memberId);
  const members = await findByIds(store.rows.members, { ids, merchantId });
  const byId = new Map(members.map((member) => [member._id, member]));
  return { items: ids.flatMap((id) => byId.get(id) ?? []), total: found.length };
}
