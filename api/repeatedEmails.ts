// For a dry run, which creates nothing that a later row could meet: rows whose email an earlier row of the file has are marked.
// A million emails are remembered by 53 bits of their hash each.
import type { ImportRow } from '../schemas/collections.js';
import { sha256 } from '../schemas/ids.js';

const hashOf = (email: string): number => Number.parseInt(sha256(email).slice(0, 13), 16);

export async function* markRepeated(chunks: AsyncIterable<ImportRow[]>): AsyncGenerator<ImportRow[]> {
  const seen = new Set<number>();
  for await (const rows of chunks) {
    yield rows.map((row) => {
      const email = row.person?.email;
      if (!email) return row;
      const hash = hashOf(email);
      if (seen.has(hash)) return { ...row, repeats: true as const };
      seen.add(hash);
      return row;
    });
  }
}
