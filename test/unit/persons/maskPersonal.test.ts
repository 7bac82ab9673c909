// A masked payload shows the first character of a personal field and no more of it.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { maskPersonal, withoutCardLinks } from '../../../schemas/shared/masking.rules.js';

const personal = fc.constantFrom('email', 'firstName', 'lastName', 'phone');
const json = fc.jsonValue({ maxDepth: 4 });

describe('masking', () => {
  it('hides every personal field at any depth, and nothing else', () => {
    expect(
      maskPersonal({
        event: 'member.created',
        data: {
          email: 'ada@example.com',
          firstName: 'Ada',
          lastName: '',
          phone: '+48600',
          name: 'till',
          tags: ['email'],
        },
        list: [{ email: 'bob@example.com' }],
      }),
    ).toEqual({
      event: 'member.created',
      data: { email: 'a***', firstName: 'A***', lastName: '***', phone: '+***', name: 'till', tags: ['email'] },
      list: [{ email: 'b***' }],
    });
  });

  it('shows no second character of a personal value anywhere', () => {
    fc.assert(
      fc.property(personal, fc.string({ minLength: 12, maxLength: 30 }), json, (field, value, beside) => {
        const masked = JSON.stringify(
          maskPersonal({ beside: 'x', list: [{ deep: { [field]: `x${value}`, beside } }] }),
        );
        expect(masked).toContain(JSON.stringify({ [field]: 'x***' }).slice(1, -1));
      }),
    );
  });

  it('keeps a whole first character, also an emoji', () => {
    expect(maskPersonal({ firstName: '😀da' })).toEqual({ firstName: '😀***' });
  });

  it('does not change data without personal fields', () => {
    fc.assert(
      fc.property(json, (value) => {
        fc.pre(!/"(email|firstName|lastName|phone)"/.test(JSON.stringify(value)));
        expect(maskPersonal(value)).toEqual(value);
      }),
    );
  });

  it('does not modify its input', () => {
    const payload = { data: { email: 'ada@example.com' } };
    maskPersonal(payload);
    expect(payload).toEqual({ data: { email: 'ada@example.com' } });
  });
});

it('links to cards are left out at any depth, and nothing else', () => {
  const member = { id: '1', apple: { passUrl: 'https://x/passes/y', mode: 'real' }, google: { saveUrl: 'https://x' } };
  expect(JSON.parse(JSON.stringify(withoutCardLinks({ member, list: [member] })))).toEqual({
    member: { id: '1', apple: { passUrl: '', mode: 'real' }, google: {} },
    list: [{ id: '1', apple: { passUrl: '', mode: 'real' }, google: {} }],
  });
});
