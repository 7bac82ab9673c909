import fc from 'fast-check';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { type Stored, shown } from '../../../schemas/shared/answers.js';

const book = z.object({
  id: z.string(),
  title: z.string(),
  pages: z.int().nullable(),
  note: z.string().optional(),
  by: z.object({ id: z.string(), name: z.string().exactOptional() }),
  loans: z.array(z.object({ at: z.iso.datetime(), days: z.int() })),
  tags: z.array(z.string()),
  addedAt: z.iso.datetime(),
  lostAt: z.iso.datetime().nullable(),
  late: z.boolean(),
});

type Row = Stored<typeof book, 'lostAt'> & { shelf: string };

const addedAt = new Date('2026-11-20T10:00:00.000Z');
const row: Row = {
  _id: 'b1',
  shelf: 'behind the counter',
  title: 'Emma',
  pages: 474,
  by: { id: 'jane' },
  loans: [{ at: addedAt, days: 14 }],
  tags: ['novel'],
  addedAt,
  late: false,
};

describe('the answer about a row', () => {
  test('has the id, moments as text, and the nested fields', () => {
    expect(shown(book, row)).toEqual({
      id: 'b1',
      title: 'Emma',
      pages: 474,
      by: { id: 'jane' },
      loans: [{ at: '2026-11-20T10:00:00.000Z', days: 14 }],
      tags: ['novel'],
      addedAt: '2026-11-20T10:00:00.000Z',
      lostAt: null,
      late: false,
    });
  });

  test('has what was computed in place of what is stored', () => {
    expect(shown(book, row, { late: true, lostAt: addedAt })).toEqual({
      ...shown(book, row),
      late: true,
      lostAt: '2026-11-20T10:00:00.000Z',
    });
  });

  test('has no field that the schema does not declare, at any depth', () => {
    const undeclared = fc.dictionary(fc.string(), fc.jsonValue()).map((more) => ({ secret: 'x', ...more }));
    fc.assert(
      fc.property(undeclared, undeclared, (outer, inner) => {
        const full = { ...outer, ...row, by: { ...inner, ...row.by, name: 'Jane' }, note: 'good' };
        const answer = shown(book, { ...full, loans: row.loans.map((loan) => ({ ...inner, ...loan })) });
        expect(answer).toEqual({ ...shown(book, row), by: { id: 'jane', name: 'Jane' }, note: 'good' });
        expect(z.strictObject(book.shape).safeParse(answer).success).toBe(true);
      }),
    );
  });

  test('is refused by the compiler where the row lacks a field that nothing computes', () => {
    const { title, ...untitled } = row;
    // @ts-expect-error: the title is missing
    shown(book, untitled);
    expect(shown(book, untitled, { title })).toEqual(shown(book, row));
  });
});

test('a row has the types of its answer, with moments as Date', () => {
  expectTypeOf<Row['_id']>().toEqualTypeOf<string>();
  expectTypeOf<Row['pages']>().toEqualTypeOf<number | null>();
  expectTypeOf<Row['lostAt']>().toEqualTypeOf<Date | undefined>();
  expectTypeOf<Row['loans'][number]>().toExtend<{ at: Date; days: number }>();
  expectTypeOf<Row>().not.toHaveProperty('id');
});
