// What a member's Google object and a program's Google class contain.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type GooglePassView,
  loyaltyClassOf,
  loyaltyObjectOf,
  loyaltyObjectPatchOf,
} from '../../../schemas/wallets/google/pass.view.js';
import { badField, type Json, merge } from '../../rig/standins/googleResources.js';

const issuer = '3388000000012345678';
const view: GooglePassView = {
  programId: 'demo-stamps',
  memberId: 'm-1',
  memberCode: '7K3M9PXQ2A',
  barcode: '7K3M9PXQ2A',
  accountName: 'Ada L',
  label: 'STAMPS',
  balance: 3,
  goal: 10,
  status: 'active',
};

const mug = { id: 'mug', name: 'Mug', cost: 3, ready: true, missing: 0 };

/** With exactOptionalPropertyTypes a key set to undefined and a missing key are different types. */
const optional = fc.option(fc.string({ minLength: 1, maxLength: 20 }), { nil: undefined });
const anyFace = fc
  .record({
    accountName: optional,
    barcode: fc.constantFrom('7K3M9PXQ2A', '4001234567890'),
    tier: optional,
    goal: fc.option(fc.maxSafeNat(), { nil: undefined }),
    balance: fc.maxSafeNat(),
    rewards: fc.option(fc.constantFrom([mug], [mug, { ...mug, name: 'Cup', ready: false, missing: 4 }]), {
      nil: undefined,
    }),
    status: fc.constantFrom('active' as const, 'voided' as const, 'expired' as const),
  })
  .map(({ accountName, tier, goal, rewards, ...rest }): GooglePassView => {
    const { accountName: _name, goal: _goal, ...base } = view;
    return {
      ...base,
      ...rest,
      ...(accountName !== undefined && { accountName }),
      ...(tier !== undefined && { tier }),
      ...(goal !== undefined && { goal }),
      ...(rewards && { rewards }),
    };
  });

describe("a member's Google object", () => {
  it('shows the code as a QR and as the member id, the balance with its label, the goal next to it', () => {
    expect(loyaltyObjectOf(issuer, view)).toEqual({
      id: `${issuer}.member-m-1`,
      classId: `${issuer}.program-demo-stamps`,
      state: 'ACTIVE',
      accountId: '7K3M9PXQ2A',
      accountName: 'Ada L',
      barcode: { type: 'QR_CODE', value: '7K3M9PXQ2A', alternateText: '7K3M9PXQ2A' },
      loyaltyPoints: { label: 'STAMPS', balance: { int: 3 } },
      secondaryLoyaltyPoints: {
        label: 'Goal',
        localizedLabel: {
          defaultValue: { language: 'en', value: 'Goal' },
          translatedValues: [
            { language: 'de', value: 'Ziel' },
            { language: 'fr', value: 'Objectif' },
            { language: 'es', value: 'Meta' },
            { language: 'it', value: 'Obiettivo' },
          ],
        },
        balance: { int: 10 },
      },
    });
  });

  it.each([
    ['active', 'ACTIVE'],
    ['voided', 'INACTIVE'],
    ['expired', 'EXPIRED'],
  ] as const)('of a member who is %s is %s', (status, state) => {
    expect(loyaltyObjectOf(issuer, { ...view, status }).state).toBe(state);
    expect(loyaltyObjectPatchOf({ ...view, status }).state).toBe(state);
  });

  it('shows which rewards are ready', () => {
    const rewards = [mug, { ...mug, id: 'cup', name: 'Cup', cost: 7, ready: false, missing: 4 }];
    expect(loyaltyObjectOf(issuer, { ...view, rewards }).textModulesData).toMatchObject([
      { id: 'rewards', header: 'Rewards', body: 'Mug (3): Ready\nCup (7): 4 to go' },
    ]);
  });

  it('stores a balance above 32 bits as text', () => {
    const points = (balance: number) => loyaltyObjectOf(issuer, { ...view, balance }).loyaltyPoints?.balance;
    expect(points(2 ** 31 - 1)).toEqual({ int: 2_147_483_647 });
    expect(points(2 ** 31)).toEqual({ string: '2147483648' });
    expect(points(Number.MAX_SAFE_INTEGER)).toEqual({ string: '9007199254740991' });
  });

  it('is the same after an insert and after a patch of any other version', () => {
    fc.assert(
      fc.property(anyFace, anyFace, (before, after) => {
        const inserted: Json = { ...loyaltyObjectOf(issuer, before) };
        const patched = merge(inserted, loyaltyObjectPatchOf(after));
        expect(patched).toEqual(loyaltyObjectOf(issuer, after));
        expect(badField('object', patched)).toBeNull();
      }),
    );
  });
});

describe("a program's Google class", () => {
  it('has colours, logo and the callback, and requests review', () => {
    const made = loyaltyClassOf(issuer, {
      programId: 'demo-points',
      name: 'Coffee Club',
      issuerName: 'Coffee',
      hexBackgroundColor: '#14532d',
      logoUrl: 'https://example.com/logo.png',
      callbackUrl: 'https://example.com/wallet/google/callback',
    });
    expect(made).toMatchObject({
      id: `${issuer}.program-demo-points`,
      issuerName: 'Coffee',
      programName: 'Coffee Club',
      reviewStatus: 'UNDER_REVIEW',
      hexBackgroundColor: '#14532d',
      programLogo: { sourceUri: { uri: 'https://example.com/logo.png' } },
      callbackOptions: { url: 'https://example.com/wallet/google/callback' },
    });
    expect(badField('class', { ...made })).toBeNull();
  });
});
