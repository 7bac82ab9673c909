// Refusals on the screens of the console: each code has a sentence, and each mistake at a field a kind.
import { expect, it, vi } from 'vitest';
import { z } from 'zod';
import { expirationFindings } from '../../../activities/programs/passExpiration.rules.js';
import { canvas, encodePng } from '../../../activities/wallets/apple/drawing.rules.js';
import type { Endpoint } from '../../../schemas/access/endpoint.schema.js';
import { sentencesOf } from '../../../schemas/points/refusals.rules.js';
import { externalIdProblem, memberCodeProblem } from '../../../schemas/programs/barcodes.rules.js';
import { imageWarnings } from '../../../schemas/programs/imageSlots.rules.js';
import { programFile } from '../../../schemas/programs/programs.schema.js';
import { parseCidrs } from '../../../schemas/shared/addresses.rules.js';
import { type ErrorCode, errorTable, ServiceError } from '../../../schemas/shared/errors.js';
import { mistakesOf } from '../../../schemas/shared/mistakes.rules.js';
import { definitionOf, fieldPaths, schemasAt } from '../../../schemas/shared/shapeWalk.rules.js';
import { nameText } from '../../../schemas/shared/text.js';
import { endpoints } from '../../../schemas/tables/endpoints.js';
import { checkWebhookUrl } from '../../../schemas/webhooks/url.rules.js';

// The console is compiled by itself, so its modules have no types here.
const folder = '../../../console';
vi.resetModules();
vi.stubGlobal('navigator', { languages: ['de-DE'] });
const { refusalOf, inLanguage } = await import(`${folder}/refusals.js`);
const { LoyaltyError } = await import('../../../sdk/index.js');
const { kindOf } = await import(`${folder}/mistakes.js`);
vi.unstubAllGlobals();

it('every code has a sentence, of the service or of the console', () => {
  const details = { room: 1, missing: 1, current: 1, needed: 2, limit: 'daily', currency: 'EUR' };
  const at = { language: 'de', now: new Date() } as const;
  const codes = Object.keys(errorTable) as ErrorCode[];
  const unsaid = codes.filter((code) => {
    const { display } = sentencesOf(new ServiceError(code, details), at);
    const failed = new LoyaltyError({ status: 400, code, message: 'unsaid', ...(display && { display }) });
    return refusalOf(failed) === 'unsaid';
  });
  expect(unsaid).toEqual([]);
});

const cardFile = { _id: 'card', slug: 'card', name: 'Card', style: 'points', fields: { primaryLabel: 'POINTS' } };

/** An object with the value at a path of `fieldPaths`, in lists where the schema has lists. */
function holding(schema: z.ZodType, path: string, value: unknown): object {
  const keys: string[] = [];
  for (const key of path.split('.')) {
    if (schemasAt(schema, keys).some((at) => definitionOf(at).element !== undefined)) keys.push('0');
    keys.push(key);
  }
  return keys.reduceRight<unknown>((inner, key) => (key === '0' ? [inner] : { [key]: inner }), value) as object;
}

const wrongValues = [
  ...[undefined, null, '', ' ', 'x', '?', '\u0007', 'x'.repeat(20_000), '#12', 'http://x', '+49', '2026-13-40'],
  ...[
    -1,
    0,
    1.5,
    1e15,
    true,
    {},
    { unknown: 1 },
    [],
    ['x', 'x'],
    Array.from({ length: 600 }, (_, index) => `n${index}`),
  ],
];

function messagesOf(schema: z.ZodType, around: object): string[] {
  const values = fieldPaths(schema).flatMap((path) => wrongValues.map((value) => holding(schema, path, value)));
  const messages = [...wrongValues, ...values, ...values.map((value) => ({ ...around, ...value }))].flatMap((value) => {
    const { error } = schema.safeParse(value);
    return error ? mistakesOf(schema, error).map(({ message }) => message) : [];
  });
  return [...new Set(messages)];
}

const bodies = Object.entries<Endpoint>(endpoints).flatMap(([name, { body }]) => (body ? [[name, body] as const] : []));

it.each([...bodies, ['a program', programFile] as const])(
  'every mistake at a field of %s has a kind',
  (_name, schema) => {
    const messages = messagesOf(schema, cardFile);
    expect(messages.length).toBeGreaterThan(0);
    expect(messages.filter((message) => kindOf(message) === undefined)).toEqual([]);
  },
);

const kindsOf = (findings: readonly { message: string }[]): string[] =>
  findings.map(({ message }) => kindOf(message)?.kind ?? message);

it('a program is refused with the kinds that its fields need', () => {
  const value = {
    ...{ _id: 'x', slug: 'No Slug', name: '', style: 'stamps', fields: { primaryLabel: 'a.b' }, timeZone: 'Nowhere' },
    ...{ rewards: [{ id: 'a', name: 'Tea', cost: 0 }], country: 'XX' },
    passTemplate: {
      colors: { label: 'red' },
      links: { website: 'http://x', phone: '12' },
      openingHours: { monday: '9' },
    },
  };
  const { error } = programFile.safeParse(value);
  if (!error) throw new Error('Nothing was refused.');
  const kinds = mistakesOf(programFile, error).map(({ path, message }) => [path, kindOf(message)?.kind]);
  expect(Object.fromEntries(kinds)).toEqual({
    ...{ slug: 'slug', name: 'empty', 'fields.primaryLabel': 'dots', timeZone: 'timeZone' },
    ...{ 'rewards.0.cost': 'atLeast', country: 'unknownValue', 'passTemplate.colors.label': 'color' },
    ...{ 'passTemplate.links.website': 'url', 'passTemplate.links.phone': 'phoneCountry' },
    'passTemplate.openingHours.monday': 'hours',
  });
});

it.each([
  ['shop', 'url'],
  [`https://example.com/${'x'.repeat(2_048)}`, 'tooLong'],
  ['http://example.com', 'url'],
  ['https://ada:secret@example.com', 'noPassword'],
  ['https://example.com/#top', 'noFragment'],
  ['https://example.com:8080', 'port'],
  ['https://10.0.0.1', 'receiver'],
  ['https://till', 'receiver'],
])('the address %s of a webhook is refused as %s', (url, kind) => {
  const checked = checkWebhookUrl(url, { allow: parseCidrs(''), allowHttp: false });
  expect(kindsOf(checked.ok ? [] : [{ message: checked.reason }])).toEqual([kind]);
});

it('what is found apart from the schemas has kinds, too', () => {
  const now = new Date('2026-11-26T12:00:00Z');
  const dated = (expirationDate?: string) => ({ passTemplate: { ...(expirationDate && { expirationDate }) } });
  const [past, later] = ['2026-11-25T12:00:00Z', '2027-11-25T12:00:00Z'];
  const expires = (live: string | undefined, next: string | undefined) =>
    kindsOf(expirationFindings({ live: dated(live), next: dated(next), now }));
  expect([expires(undefined, past), expires(later, undefined), expires(undefined, later)]).toEqual([
    ['endsCards'],
    ['cardsStay'],
    ['cardsEnd'],
  ]);
  const code = { barcode: 'externalId', barcodeFormat: 'EAN13' } as const;
  expect(kindsOf([{ message: externalIdProblem(code, 'x') ?? '' }])).toEqual(['barcode']);
  expect(kindsOf([{ message: memberCodeProblem({ ...code, barcode: 'memberCode' }) ?? '' }])).toEqual([
    'barcodeLetters',
  ]);
  const strip = encodePng(canvas(300, 115), { paper: '#aa0000', ink: '#ffffff' }).toString('base64');
  expect(kindsOf(imageWarnings({ strip }))).toEqual(['pictureSize']);
});

it('a mistake has its kind and the limit that was passed', () => {
  const schema = z.strictObject({
    ...{ name: nameText(3), goal: z.int().min(1).max(9), tags: z.array(z.string()).max(1), style: z.enum(['a']) },
    ...{ at: z.iso.datetime(), price: z.number().gt(0), label: z.string() },
  });
  const value = { name: 'Lilo', goal: 10, tags: ['a', 'b'], style: 'b', at: 'now', price: 0, other: 1 };
  const { error } = schema.safeParse(value);
  if (!error) throw new Error('Nothing was refused.');
  const kinds = mistakesOf(schema, error).map(({ path, message }) => [path, kindOf(message)]);
  const of = (kind: string, limit?: string) => ({ kind, limit });
  expect(Object.fromEntries(kinds)).toEqual({
    ...{ name: of('tooLong', '3'), goal: of('atMost', '9'), tags: of('tooMany', '1'), style: of('unknownValue') },
    ...{ at: of('date'), price: of('moreThan', '0'), label: of('missing'), other: of('unknownField') },
  });
});

it.each([
  ['must be at most 1000', 'darf höchstens 1.000 sein'],
  ['must be at most the goal of 8 on a stamps program', 'darf höchstens 8 sein'],
  [
    'has a contrast of 1.5 to the background; 3 is needed',
    'ist auf dem Hintergrund schwer zu lesen (Kontrast 1,5, nötig 3)',
  ],
  ['says something that no table has', 'says something that no table has'],
])('"%s" is said as "%s"', (message, sentence) => {
  expect(inLanguage({ path: 'name', message })).toEqual({ path: 'name', message: sentence });
});
