// What is shown of a payload keeps the first character of a personal field and nothing more of it.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { maskPersonal } from '../../schemas/webhooks.js';

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

  it('leaves no second character of a personal value behind, wherever it stands', () => {
    fc.assert(
      fc.property(personal, fc.string({ minLength: 12, maxLength: 30 }), json, (field, value, beside) => {
        const masked = JSON.stringify(
          maskPersonal({ beside: 'x', list: [{ deep: { [field]: `x${value}`, beside } }] }),
        );
        expect(masked).toContain(JSON.stringify({ [field]: 'x***' }).slice(1, -1));
      }),
    );
  });

  it('keeps a whole first character, an emoji too', () => {
    expect(maskPersonal({ firstName: '😀da' })).toEqual({ firstName: '😀***' });
  });

  it('changes nothing that holds nothing personal', () => {
    fc.assert(
      fc.property(json, (value) => {
        fc.pre(!/"(email|firstName|lastName|phone)"/.test(JSON.stringify(value)));
        expect(maskPersonal(value)).toEqual(value);
      }),
    );
  });

  it('does not touch what it was given', () => {
    const payload = { data: { email: 'ada@example.com' } };
    maskPersonal(payload);
    expect(payload).toEqual({ data: { email: 'ada@example.com' } });
  });
});
