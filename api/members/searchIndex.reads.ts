// Reads of the search index. A word may begin the words of every member of a merchant, so the rows are read level by
// level (`searchLevel`), from the highest, which has the fewest members, for as long as the next level is expected to
// fit into SEARCH_MAX_ROWS. Levels bound the rows that are read on engines that read all matches of a filter before
// they limit them. The result for a word is either complete or contains only the members of high levels
// (docs/decisions/search-words-by-level.md).
import type { Condition } from 'mongodb';
import type { Deps } from '../../platform/deps.js';
import type { MemberSearchWordRow } from '../../schemas/members/members.rows.js';
import { maxSearchLevel, prefixRange, type QueryWord } from '../../schemas/members/searchWords.rules.js';

export type Match = Pick<MemberSearchWordRow, 'memberId' | 'programId' | 'level' | 'createdAt'>;

export interface WordMatches {
  /** By the id of the member. */
  members: Map<string, Match>;
  /** The lowest level that was read; 0 when the matches are complete. */
  lowest: number;
}

interface WordAt {
  merchantId: string;
  /** The approximate number of members of the merchant. */
  members: number;
  word: QueryWord;
}

const levelFactor = 4;

/** Rows that arrive at a time. Other requests get their turn between two batches. */
const batchSize = 250;

const projection = { _id: 0, memberId: 1, programId: 1, level: 1, createdAt: 1 } as const;

async function matchesOfForm(
  deps: Deps,
  { merchantId, members, word }: Omit<WordAt, 'word'> & { word: Condition<string> },
): Promise<WordMatches> {
  const most = deps.config.SEARCH_MAX_ROWS;
  const read = (level: number): Promise<Match[]> =>
    deps.collections.memberSearchWords
      .find({ merchantId, level, word }, { projection, batchSize })
      .limit(most)
      .toArray();
  // Levels are read at the same time when they are small enough even if all their members match the word.
  let lowest = 0;
  while (lowest < maxSearchLevel && members > most * levelFactor ** lowest) lowest += 1;
  const together = Array.from({ length: maxSearchLevel + 1 - lowest }, (_, index) => lowest + index);
  const rows = (await Promise.all(together.map(read))).flat();
  while (lowest > 0 && rows.length * levelFactor <= most) {
    lowest -= 1;
    rows.push(...(await read(lowest)));
  }
  return { members: new Map(rows.map((row) => [row.memberId, row])), lowest };
}

/** The members that have a search word that `word` finds, or a part of these members. */
export async function matchesOfWord(deps: Deps, at: WordAt): Promise<WordMatches> {
  const { prefixes, whole } = at.word;
  const found = [...prefixes.map(prefixRange), ...(whole.length > 0 ? [{ $in: whole }] : [])];
  const forms = await Promise.all(found.map((word) => matchesOfForm(deps, { ...at, word })));
  const lowest = Math.max(...forms.map((form) => form.lowest));
  const rows = forms.flatMap((form) => [...form.members.values()]).filter(({ level }) => level >= lowest);
  return { members: new Map(rows.map((row) => [row.memberId, row])), lowest };
}

/** At most `most` members of each level that have exactly this search word. */
export async function matchesOfWholeWord(
  deps: Deps,
  { merchantId, word, most }: { merchantId: string; word: string; most: number },
): Promise<Match[]> {
  const levels = Array.from({ length: maxSearchLevel + 1 }, (_, level) =>
    deps.collections.memberSearchWords
      .find({ merchantId, level, word }, { projection, batchSize })
      .limit(most)
      .toArray(),
  );
  return (await Promise.all(levels)).flat();
}
