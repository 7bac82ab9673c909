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

  it('hides what may be a phone in every field that is shown, and a name in those of members and receipts', () => {
    const digits = fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 7, maxLength: 15 }).map((all) => all.join(''));
    const phone = fc.oneof(
      digits,
      digits.map((text) => `+${text}`),
      digits.map((text) => `${text.slice(0, 3)}-${text.slice(3)}`),
      digits.map((text) => `+${text.slice(0, 2)}.${text.slice(2)}`),
    );
    const person = fc.constantFrom('Lovelace', 'Ada.Lovelace', 'Ada-Lovelace', 'AdaLovelace', 'Ada_Lovelace');
    const ids = fc.constantFrom('id', 'memberId', 'programId', 'transactionId', 'rewardId', 'type', 'reference');
    const numbers = fc.constantFrom('amount', 'value', 'delta', 'sequence', 'after', 'since', 'occurredAt', 'version');
    fc.assert(
      fc.property(fc.oneof(ids, numbers), phone, (field, value) => {
        expect(maskRequest({ [field]: value }).shown).toEqual({ [field]: '***' });
      }),
    );
    fc.assert(
      fc.property(fc.constantFrom('memberId', 'reference', 'since', 'occurredAt'), person, (field, value) => {
        expect(maskRequest({ [field]: value }).shown).toEqual({ [field]: '***' });
      }),
    );
    expect(maskRequest({ amount: 491701234567 }).shown).toEqual({ amount: '***' });
  });

  it('shows ids, times, amounts and the numbers of receipts', () => {
    const shown = {
      ...{ id: 'b1e0c5a2-5f0e-4a8e-9a55-0d3b8d0d6f11', programId: 'demo-points', transactionId: 'points:b1e0:order-7' },
      ...{ since: '2026-11-20', occurredAt: '2026-11-20T09:30:00.000+01:00', amount: 1_250_000, currency: 'EUR' },
      ...{ type: 'points.changed', permissions: ['merchants.members:view'], events: ['*'], limit: '100' },
    };
    expect(maskRequest(shown).shown).toEqual(shown);
    for (const reference of ['1041', 'R-17', 'bon_004711'])
      expect(maskRequest({ reference }).shown).toEqual({ reference });
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

  it('leaves out what is nested too deeply for MongoDB, which would refuse the rows of other requests with it', () => {
    const nested = (levels: number): unknown => (levels === 0 ? 1 : [nested(levels - 1)]);
    expect(maskRequest(nested(10))).toEqual({ shown: nested(10), isCut: false });
    for (const levels of [90, 500]) {
      const { shown, isCut } = maskRequest({ tags: nested(levels) });
      expect(JSON.stringify(shown)?.length).toBeLessThan(2 * 50);
      expect(isCut).toBe(true);
    }
  });

  it('does not modify its input', () => {
    const body = { email: 'ada@example.com', list: [{ phone: '1' }] };
    maskRequest(body);
    expect(body).toEqual({ email: 'ada@example.com', list: [{ phone: '1' }] });
  });
});
