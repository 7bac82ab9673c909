// SECURITY.md names for each risk of the OWASP API top ten (2023) at least one test, and each of these tests exists.
import { existsSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const page = readFileSync('SECURITY.md', 'utf8');
const rows = [...page.matchAll(/^\| (API\d+) [^|]+\|([^|]+)\|([^|]+)\|$/gm)];

it('every risk has its row, in order', () => {
  expect(rows.map(([, risk]) => risk)).toEqual(Array.from({ length: 10 }, (_, index) => `API${index + 1}`));
});

it.each(rows.map(([, risk, measure, tests]) => [risk, measure, tests]))(
  '%s names tests that exist',
  (_risk, measure, tests) => {
    const named = [...(tests ?? '').matchAll(/`(test\/[\w/]+\.test\.ts)`/g)].map(([, file = '']) => file);
    expect(measure?.trim()).not.toBe('');
    expect(named.length).toBeGreaterThan(0);
    expect(named.filter((file) => !existsSync(file))).toEqual([]);
  },
);

it('fits on one page', () => {
  expect(page.split('\n').length).toBeLessThan(90);
});
