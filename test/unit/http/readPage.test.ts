// Pages of a list whose total cannot be counted in time.
import { expect, it } from 'vitest';
import { readPage } from '../../../api/http/page.reads.js';
import type { Deps } from '../../../platform/deps.js';

const deps = { config: { LIST_MAX_ROWS: 100 } } as Pick<Deps, 'config'>;
const rows = Array.from({ length: 45 }, (_, at) => at);
const givenUp = async () => undefined;

const read = (page: number, count: () => Promise<number | undefined>) =>
  readPage(deps, { page, pageSize: 20, count, read: async (skip) => rows.slice(skip, skip + 20) });

it('a page has the total that was counted', async () => {
  expect(await read(2, async () => 45)).toEqual({ items: rows.slice(20, 40), total: 45 });
});

it.each([
  [1, 21],
  [2, 41],
  [3, 45],
])('a total of the rows known so far belongs to page %i when the count was stopped', async (page, total) => {
  expect((await read(page, givenUp)).total).toBe(total);
});

it('a page after the limit is refused when the count was stopped', async () => {
  await expect(read(6, givenUp)).rejects.toMatchObject({ code: 'VALIDATION_FAILED' });
});
