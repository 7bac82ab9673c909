// What the console makes of the columns and cells of an import's file.
import { describe, expect, it } from 'vitest';

// The console is compiled by itself, so its modules have no types here.
const module = '../../console/pages/importFile.js';
interface ImportFile {
  fieldsOf: (titles: string[]) => Record<string, string>;
  wrongCells: (
    failure: { row: number; reason: string },
    read: { rows: string[][]; columns: { header: string; field: string | null }[] },
  ) => string[];
}
const { fieldsOf, wrongCells }: ImportFile = await import(module);

it.each([
  ['Stamps', 'initialPoints'],
  ['Stempel', 'initialPoints'],
  ['Points', 'initialPoints'],
  ['Punktestand', 'initialPoints'],
  ['Balance', 'initialPoints'],
  ['E-mail', 'email'],
  ['First name', 'firstName'],
  ['Prénom', 'firstName'],
  ['Shoe size', ''],
])('a column with the title %s is read as the field %j', (title, field) => {
  expect(fieldsOf([title])).toEqual({ [title]: field });
});

it('only the first of two columns gets a field, because the service refuses two', () => {
  expect(fieldsOf(['Stamps', 'Balance', 'Size', 'Colour'])).toEqual({
    Stamps: 'initialPoints',
    Balance: '',
    Size: '',
    Colour: '',
  });
});

describe('the cells of a failed row', () => {
  const columns = [
    { header: 'Name', field: 'firstName' },
    { header: 'Size', field: null },
    { header: 'Mail', field: 'email' },
  ];
  const rows = [
    ['Name', 'Size', 'Mail'],
    ['Ada', '37', 'ada@example.com'],
    ['Grace', '38', 'grace at example.com'],
  ];
  const cells = (row: number, reason: string) => wrongCells({ row, reason }, { rows, columns });

  it('are those that its reasons name, counted from the first row below the headings', () => {
    expect(cells(2, 'email: must be an email address')).toEqual(['Mail: grace at example.com']);
    expect(cells(2, 'email: must be an email address; firstName: must be shorter')).toEqual([
      'Name: Grace',
      'Mail: grace at example.com',
    ]);
  });

  it('are none when the reason is about the whole row or the file was not read', () => {
    expect(cells(2, 'the row has 4 cells where the header has 3')).toEqual([]);
    expect(wrongCells({ row: 2, reason: 'email: must be an email address' }, { rows: [], columns })).toEqual([]);
  });
});
