// Refusals at the counter: each says what is missing, the room or the time, in the language of the person who reads it.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { saleOf } from '../../../activities/points/adjustOrRedeem.rules.js';
import { failure } from '../../../api/http/answer.js';
import { award, redeem } from '../../../schemas/points/balance.rules.js';
import { pointsOf, requireCooledDown, requireWithinDay } from '../../../schemas/points/earning.rules.js';
import { waitOf } from '../../../schemas/points/refusals.rules.js';
import { amount } from '../../../schemas/programs/earning.schema.js';
import { ServiceError } from '../../../schemas/shared/errors.js';
import { languages } from '../../../schemas/shared/languages/index.js';

const now = new Date('2026-05-04T10:00:00Z');
const later = (ms: number) => new Date(now.getTime() + ms);

function refused(change: () => unknown, acceptLanguage = 'en') {
  try {
    change();
  } catch (error) {
    return failure(error, { acceptLanguage, now }).body.error;
  }
  throw new Error('Nothing was refused.');
}

const standing = (balance: number) => ({ status: 'active' as const, balance, lifetimePoints: balance });

describe('a refusal at the counter', () => {
  it('says the room of a card that is not full, and calls only a full card full', () => {
    const card = { style: 'stamps' as const, goal: 9 };
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 1, max: 10 }), (balance, stamps) => {
        fc.pre(stamps > 9 - balance);
        const { code, details, message, display } = refused(() => award(card, standing(balance), stamps));
        expect([code, details, message]).toEqual(['CARD_FULL', { room: 9 - balance }, display]);
        if (balance === 9) expect(display).toBe('The card is full; redeem the reward first.');
        else expect(display).toBe(`The card has room for only ${9 - balance} more.`);
      }),
    );
  });

  it('of a reward names what is missing, as a card that is not full only where there are cards or a goal', () => {
    const points = { style: 'points' as const, goal: 500 };
    expect(refused(() => redeem(points, standing(120), { cost: 200 }), 'de')).toEqual({
      code: 'BALANCE_TOO_LOW',
      message: 'The card has 120, but 200 are needed: 80 are missing.',
      display: 'Auf der Karte sind 120, nötig sind 200: Es fehlen 80.',
      details: { current: 120, needed: 200, missing: 80 },
    });
    expect(refused(() => redeem(points, standing(120)), 'es')).toEqual({
      code: 'CARD_NOT_FULL',
      message: '380 more needed for this reward.',
      display: 'Faltan 380 para esta recompensa.',
      details: { goal: 500, current: 120, missing: 380 },
    });
    const card = { style: 'stamps' as const, goal: 9 };
    expect(refused(() => redeem(card, standing(3), { cost: 5 }))).toMatchObject({
      code: 'CARD_NOT_FULL',
      details: { goal: 5, current: 3, missing: 2 },
    });
  });

  it.each([
    ['en', 'The card has 4, but 5 are needed: 1 is missing.', '1 more needed for this reward.'],
    ['de', 'Auf der Karte sind 4, nötig sind 5: Es fehlt 1.', 'Für diese Prämie fehlt noch 1.'],
    ['fr', 'La carte a 4, mais il faut 5 : il manque 1.', 'Il manque encore 1 pour cette récompense.'],
    ['es', 'La tarjeta tiene 4, pero se necesitan 5: falta 1.', 'Falta 1 para esta recompensa.'],
    ['it', 'La carta ha 4, ma servono 5: ne manca 1.', 'Ne manca ancora 1 per questo premio.'],
  ])('in %s speaks of one that is missing as of one', (language, low, missing) => {
    const points = { style: 'points' as const, goal: 5 };
    expect(refused(() => redeem(points, standing(4), { cost: 5 }), language).display).toBe(low);
    expect(refused(() => redeem(points, standing(4)), language).display).toBe(missing);
  });

  it('of a cooldown says when again, and one of a daily limit says that it is the day', () => {
    const cooldown = () => requireCooledDown(90, later(-30_000), { occurredAt: undefined });
    expect(refused(cooldown, 'fr-CA')).toMatchObject({
      code: 'EARN_LIMIT_REACHED',
      display: 'Trop tôt après un autre achat ; on pourra cumuler de nouveau dans 60 secondes.',
      details: { limit: 'cooldown', retryAt: later(60_000).toISOString() },
    });
    const day = () =>
      requireWithinDay(3, { awarded: 4, earned: [], dayEnd: later(5 * 3_600_000), occurredAt: undefined });
    expect(refused(day).display).toBe('This would exceed the limit of the day; a new day begins in 5 hours.');
  });

  it('of a sale that was made offline says that the console can book it, in every language', () => {
    for (const language of languages)
      for (const soldAt of [later(-1_000), later(-3_600_000)]) {
        const late = () => requireCooledDown(600, later(-60_000), { occurredAt: soldAt });
        const { display, details } = refused(late, language);
        expect(display).toMatch(/[ck]onsol/i);
        expect(details).toEqual({ limit: 'cooldown', retryAt: later(540_000).toISOString() });
      }
    const online = () => requireCooledDown(600, later(-60_000), { occurredAt: now });
    expect(refused(online).display).not.toMatch(/console/);
  });

  it('of a sale that is too old, or ahead of the clock, says what happened and what to do, in every language', () => {
    const limitMs = 72 * 3_600_000;
    for (const language of languages)
      fc.assert(
        fc.property(fc.integer({ min: 1, max: 10 ** 10 }), (beyond) => {
          const sold = (at: Date) => () => saleOf({ occurredAt: at.toISOString() }, now);
          const { code, display } = refused(sold(later(-limitMs - beyond)), language);
          expect(code).toBe('VALIDATION_FAILED');
          expect(display).toContain('72');
          expect(display).toMatch(/[ck]onsol/i);
          const ahead = refused(sold(later(300_000 + beyond)), language).display;
          expect(ahead).toMatch(/clock|Uhr|horloge|reloj|orologio/);
        }),
        { numRuns: 20 },
      );
  });

  it('of an amount with a decimal point speaks of minor units', () => {
    for (const wrong of [12.5, 0.01, '12.50']) {
      const { error } = amount.safeParse(wrong);
      expect(error?.issues[0]?.message).toContain('minor units');
    }
    const details = [{ path: 'amount', message: 'is no whole number' }];
    const wrong = () => {
      throw new ServiceError('VALIDATION_FAILED', details);
    };
    expect(refused(wrong, 'it').display).toBe('L’importo deve essere un numero intero di centesimi, senza virgola.');
  });

  it('of another currency names that of the program', () => {
    const earn = { per: 100, points: 1, currency: 'CHF' };
    const sale = { amount: 700, currency: 'EUR' };
    expect(refused(() => pointsOf({ style: 'points', earn }, sale))).toMatchObject({
      display: 'This card counts purchases in CHF only.',
      details: { currency: 'CHF' },
    });
  });

  it('is said in English to a caller that asks for no known language, and not at all where no cashier is', () => {
    const missing = () => {
      throw new ServiceError('MEMBER_NOT_FOUND');
    };
    expect(refused(missing, 'ja').display).toBe('There is no such card.');
    const slug = () => {
      throw new ServiceError('SLUG_TAKEN');
    };
    expect(refused(slug)).not.toHaveProperty('display');
  });
});

describe('a wait', () => {
  it.each([
    [1, 'in 1 second'],
    [119_001, 'in 2 minutes'],
    [61 * 60_000, 'in 61 minutes'],
    [5 * 3_600_000 + 1, 'in 6 hours'],
    [49 * 3_600_000, 'in 3 days'],
  ])('of %d ms is %s', (ms, words) => {
    expect(waitOf('en', ms)).toBe(words);
  });
});
