// The list of failed rows gives back every row with its line and reasons, in little memory and in small parts.
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createFailureList } from '../../../api/batches/imports/failureList.rules.js';

const failure = fc.record({ row: fc.nat(1_000_000), line: fc.nat(2 ** 28), reason: fc.string() });
const mistakes = [{ field: 'email', rule: 'email' } as const, { rule: 'cells', given: 4, limit: 3 } as const];
const said = {
  en: [
    { field: 'email', display: 'must be an email address' },
    { display: 'the row has 4 cells where the header has 3' },
  ],
  de: [
    { field: 'email', display: 'muss eine E-Mail-Adresse sein' },
    { display: 'die Zeile hat 4 Zellen, die Kopfzeile 3' },
  ],
};

it.each(['en', 'de'] as const)(
  'gives back every row, line and reason in their order, and the mistakes in %s',
  async (language) => {
    await fc.assert(
      fc.asyncProperty(fc.array(failure, { maxLength: 2_500, size: 'max' }), async (failures) => {
        const list = createFailureList(language);
        for (const one of failures) list.add({ ...one, mistakes });
        expect(list.size()).toBe(failures.length);
        let json = '';
        for await (const part of list.json()) json += part;
        expect(json).toBe(JSON.stringify(failures.map((one) => ({ ...one, mistakes: said[language] }))));
      }),
      { numRuns: 20 },
    );
  },
);

it('keeps a million rows in 16 MB, and gives their JSON in parts of less than 64 KB', async () => {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  /** The least of several moments: a thread of its own gives the memory of freed buffers back. */
  async function used(): Promise<number> {
    let least = Number.POSITIVE_INFINITY;
    for (let round = 0; round < 10; round += 1) {
      collect();
      await sleep(20);
      const { heapUsed, arrayBuffers } = process.memoryUsage();
      least = Math.min(least, heapUsed + arrayBuffers);
    }
    return least;
  }
  const before = await used();
  const list = createFailureList('en');
  for (let row = 1; row <= 1_000_000; row += 1)
    list.add({ row, line: 2 * row, reason: `the row has ${row % 1_000} cells where the header has 6`, mistakes });
  expect((await used()) - before).toBeLessThan(16 * 1_048_576);
  let longest = 0;
  for await (const part of list.json()) longest = Math.max(longest, part.length);
  expect(longest).toBeLessThan(65_536);
  expect(list.size()).toBe(1_000_000);
});
