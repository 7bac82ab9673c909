// What the log of requests keeps of a request: bounded, and without personal data and secrets.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { maskRequest } from '../../../schemas/shared/masking.rules.js';

const json = fc.jsonValue({ maxDepth: 6 });
const free = fc.constantFrom('externalId', 'changeMessage', 'secret', 'url', 'tags', 'q', 'name', 'code', 'telephone');

describe('masking a request', () => {
  it('shows what a change asked for, and only the first character of a person', () => {
    const body = { programId: 'demo-points', email: 'ada@example.com', phone: 491701234567, tags: ['vip'], delta: 10 };
    expect(maskRequest({ ...body, reference: 'R-17', occurredAt: '2026-11-20T00:00:00Z', quiet: true })).toEqual({
      shown: {
        ...{ programId: 'demo-points', email: 'a***', phone: '4***', tags: ['***'], delta: 10 },
        ...{ reference: 'R-17', occurredAt: '2026-11-20T00:00:00Z', quiet: true },
      },
      isCut: false,
    });
  });

  it('hides free text, secrets and large numbers of every field that is not known', () => {
    fc.assert(
      fc.property(free, fc.oneof(fc.string({ minLength: 4 }), fc.integer({ min: 1_000_000 })), (field, value) => {
        expect(maskRequest({ list: [{ [field]: value }] }).shown).toEqual({ list: [{ [field]: '***' }] });
      }),
    );
  });

  it('hides what is no id in a field of ids', () => {
    for (const id of ['ada@example.com', 'Ada Lovelace', 'x'.repeat(201), 'Ä'])
      expect(maskRequest({ id }).shown).toEqual({ id: '***' });
  });

  it('hides names of fields that are none', () => {
    expect(maskRequest({ 'ada@example.com': 1, __proto__x: 1 }).shown).toEqual({ '***': 1 });
  });

  it('is never longer than its limit, and says when something was left out', () => {
    fc.assert(
      fc.property(json, fc.integer({ min: 5, max: 300 }), (value, most) => {
        const { shown, isCut } = maskRequest(value, most);
        expect((JSON.stringify(shown) ?? '').length).toBeLessThanOrEqual(most);
        if (isCut) return;
        // Nothing but texts and numbers was replaced.
        expect(JSON.stringify(shown).length).toBeGreaterThan(0);
        if (Array.isArray(value)) expect(shown).toHaveLength(value.length);
      }),
    );
    const many = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`field${index}`, index]));
    expect(JSON.stringify(maskRequest(many).shown).length).toBeLessThanOrEqual(2_000);
    expect(maskRequest(many).isCut).toBe(true);
  });

  it('does not modify its input', () => {
    const body = { email: 'ada@example.com', list: [{ phone: '1' }] };
    maskRequest(body);
    expect(body).toEqual({ email: 'ada@example.com', list: [{ phone: '1' }] });
  });
});
