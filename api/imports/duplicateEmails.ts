// Marks the rows of a dry run whose email an earlier row of the file has; a dry run creates no members with which a
// later row could collide. Each email is remembered by 52 bits of its hash, so that a million emails need little
// memory.
import type { ImportRow } from '../../schemas/collections.js';
import { sha256 } from '../../schemas/ids.js';

const hashOf = (email: string): number => Number.parseInt(sha256(email).slice(0, 13), 16);

export async function* markDuplicates(chunks: AsyncIterable<ImportRow[]>): AsyncGenerator<ImportRow[]> {
  const seen = new Set<number>();
  for await (const rows of chunks) {
    yield rows.map((row) => {
      const email = row.person?.email;
      if (!email) return row;
      const hash = hashOf(email);
      if (seen.has(hash)) return { ...row, isDuplicate: true as const };
      seen.add(hash);
      return row;
    });
  }
}
