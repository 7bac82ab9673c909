// What the console makes of the columns of an import's file.
import { expect, it } from 'vitest';

// The console is compiled by itself, so its modules have no types here.
const module = '../../console/pages/importFile.js';
const { fieldsOf }: { fieldsOf: (titles: string[]) => Record<string, string> } = await import(module);

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
])('take the title %s for %j', (title, field) => {
  expect(fieldsOf([title])).toEqual({ [title]: field });
});

it('give a field to the first of two columns only, because the service refuses two', () => {
  expect(fieldsOf(['Stamps', 'Balance', 'Size', 'Colour'])).toEqual({
    Stamps: 'initialPoints',
    Balance: '',
    Size: '',
    Colour: '',
  });
});
