// The error of an unknown field suggests the nearest known one.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { eventTypes } from '../../../schemas/events/events.schema.js';
import { programFile } from '../../../schemas/programs/programs.schema.js';
import { distanceBetween, mistakesOf } from '../../../schemas/shared/mistakes.rules.js';
import { fieldPaths } from '../../../schemas/shared/shapeWalk.rules.js';
import { subscriptionRequest } from '../../../schemas/webhooks/webhooks.schema.js';

function unknown(value: object, schema: z.ZodType = programFile): Record<string, string> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return {};
  const mistakes = mistakesOf(schema, parsed.error);
  return Object.fromEntries(mistakes.map(({ path, message }) => [path, message]));
}
const meant = (field: string) => `is not a known field; did you mean ${field}?`;

describe('an unknown field', () => {
  it.each([
    [{ goall: 3 }, 'goall', 'goal'],
    [{ Goal: 3 }, 'Goal', 'goal'],
    [{ psuhMessages: true }, 'psuhMessages', 'pushMessages'],
    [{ fields: { primarylabel: 'X' } }, 'fields.primarylabel', 'primaryLabel'],
    [{ passTemplate: { colors: { backgroud: '#000000' } } }, 'passTemplate.colors.backgroud', 'background'],
    [{ passTemplate: { backFields: [{ kye: 'a' }] } }, 'passTemplate.backFields.0.kye', 'key'],
    [{ passTemplate: { images: { ikon: '' } } }, 'passTemplate.images.ikon', 'icon'],
  ])('%j is reported with the nearest known one', (value, path, field) => {
    expect(unknown(value)[path]).toBe(meant(field));
  });

  it('in the wrong place is reported with the right path', () => {
    expect(unknown({ background: '#000000' }).background).toBe(meant('passTemplate.colors.background'));
    expect(unknown({ colour: 'red' }).colour).toBe(meant('passTemplate.colors'));
  });

  it('that is similar to no other, or very long, is only named', () => {
    expect(unknown({ zzzzzz: 1 }).zzzzzz).toBe('is not a known field');
    const long = 'x'.repeat(100_000);
    expect(unknown({ [long]: 1 })[long]).toBe('is not a known field');
  });

  it('after the tenth is only named', () => {
    const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`goal${index}`, 1]));
    const messages = Object.values(unknown({ ...many })).filter((message) => message.startsWith('is not a known'));
    expect(messages).toHaveLength(20_000);
    expect(messages.filter((message) => message.includes('did you mean'))).toHaveLength(10);
  });

  it('inside a union of objects is reported too', () => {
    const schema = z.union([z.string(), z.strictObject({ name: z.string() })]).optional();
    expect(fieldPaths(schema)).toEqual(['name']);
  });
});

it('the distance of two words is symmetric, and 0 for equal words in any case', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 12 }), fc.string({ maxLength: 12 }), (one, other) => {
      expect(distanceBetween(one, other)).toBe(distanceBetween(other, one));
      expect(distanceBetween(one, one)).toBe(0);
    }),
  );
  expect([distanceBetween('goal', 'GOAL'), distanceBetween('kye', 'key'), distanceBetween('abc', '')]).toEqual([
    0, 1, 3,
  ]);
});

it.each(['point.changed', 'POINTS.CHANGED', '', '**'])(
  'the unknown event type %j is answered with the known ones',
  (type) => {
    const message = unknown({ url: 'https://hooks.example.com/', events: [type] }, subscriptionRequest)['events.0'];
    for (const known of [...eventTypes, '*']) expect(message).toContain(`"${known}"`);
  },
);
