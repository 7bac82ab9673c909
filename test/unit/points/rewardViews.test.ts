// The texts about rewards on the Apple pass and the web card (docs/interface.md#32-balances-and-rewards).
import { describe, expect, it } from 'vitest';
import { qrSvg } from '../../../api/pages/barcode.view.js';
import { cardBody, cardState } from '../../../api/pages/card.view.js';
import { wordsOf } from '../../../api/pages/words.view.js';
import type { MemberRow } from '../../../schemas/members/members.rows.js';
import { programFile } from '../../../schemas/programs/programs.schema.js';
import { passDesign, passJson } from '../../../schemas/wallets/apple/pass.view.js';
import { shownBy } from '../../../schemas/wallets/apple/passStrings.rules.js';
import { applePassView } from '../../../schemas/wallets/passes.view.js';

const now = new Date('2026-11-23T12:00:00Z');

function pairOf(fields: object, balance: number) {
  const file = { _id: 'p', slug: 'p', name: 'P', style: 'points', fields: { primaryLabel: 'POINTS' }, ...fields };
  const program = { ...programFile.parse(file), merchantId: 'm' };
  const pass = { token: 't', authenticationToken: 'a', tag: now, modifiedAt: now, messageSequence: 0 };
  const member = {
    ...{ _id: 'm-1', memberCode: '7K3M9PXQ2A', serialNumber: 's', field: 'points', balance, lifetimePoints: balance },
    ...{ status: 'active', pass, version: 1 },
  } as unknown as MemberRow;
  return { member, program, words: wordsOf('en') };
}

function fieldsOf(fields: object, balance: number): Record<string, string> {
  const pair = pairOf(fields, balance);
  const design = passDesign({ passTypeId: 'pass.x', teamId: 'T' }, pair.program, pair.program.passTemplate);
  const json = passJson(design, applePassView({ PUBLIC_URL: 'https://example.com' }, pair));
  const { storeCard } = shownBy(undefined, json);
  const shown = Object.values(storeCard as Record<string, { key: string; label: string; value: string }[]>).flat();
  return Object.fromEntries(shown.map(({ key, label, value }) => [key, `${label}: ${value}`]));
}

const rewards = [
  { id: 'mug', name: 'Mug', cost: 30 },
  { id: 'cup', name: 'Cup', cost: 50 },
  { id: 'old', name: 'Old', cost: 1, active: false },
];

describe('a pass', () => {
  it('names the rewards that are ready, and all of them on its back', () => {
    expect(fieldsOf({ rewards, goal: 100 }, 60)).toMatchObject({
      reward: 'REWARDS: Mug, Cup',
      rewards: 'Rewards: Mug (30): Ready\nCup (50): Ready\nReward (100): 40 to go',
    });
    expect(fieldsOf({ rewards }, 30).reward).toBe('REWARD: Mug');
    expect(fieldsOf({ rewards, goal: 100 }, 10).reward).toBe('TO NEXT REWARD: 20');
  });

  it('names on its front the reward that is next, and the one that is ready', () => {
    const stamps = { style: 'stamps', goal: 8, rewardName: 'Free coffee' };
    expect(fieldsOf(stamps, 3)).toMatchObject({ reward: 'TO NEXT REWARD: 5', nextReward: 'NEXT REWARD: Free coffee' });
    const full = fieldsOf(stamps, 8);
    expect([full.reward, full.nextReward]).toEqual(['REWARD: Free coffee', undefined]);
    expect(fieldsOf({ rewards, goal: 100 }, 10).nextReward).toBe('NEXT REWARD: Mug');
    expect(fieldsOf({ rewards, goal: 100 }, 30).nextReward).toBeUndefined();
  });

  it('is unchanged when the goal is the only reward', () => {
    const only = fieldsOf({ goal: 100 }, 100);
    expect([only.reward, only.nextReward, only.rewards]).toEqual(['REWARD: Ready', undefined, undefined]);
    expect(fieldsOf({ rewards: [{ ...rewards[0], active: false }] }, 100).reward).toBeUndefined();
  });
});

describe('a card', () => {
  const page = (fields: object, balance: number) =>
    cardBody({
      ...pairOf(fields, balance),
      ...{
        appleUrl: undefined,
        googleUrl: undefined,
        logoUrl: undefined,
        stripUrl: undefined,
        isNew: false,
        googleFirst: false,
        barcode: { code: '7K3M9PXQ2A', format: 'QR', svg: qrSvg('7K3M9PXQ2A') },
      },
      cardUrl: 'https://example.com/passes/t',
    }).text;

  it('lists the rewards with what is missing, and marks those that are ready', () => {
    expect(cardState(pairOf({ rewards, goal: 100 }, 40)).rewards).toEqual([
      { name: 'Mug', cost: 30, ready: true, state: 'Ready' },
      { name: 'Cup', cost: 50, ready: false, state: '10 to go' },
      { name: 'Reward', cost: 100, ready: false, state: '60 to go' },
    ]);
    expect(page({ rewards }, 40)).toMatch(/<li class="ready"><span>Mug/);
    expect(page({ rewards: [{ id: 'x', name: '<b>', cost: 1 }] }, 40)).toContain('&lt;b&gt;');
  });

  it('offers nothing on a card that is blocked', () => {
    const { member, ...shown } = pairOf({ rewards, goal: 100 }, 120);
    const state = cardState({ ...shown, member: { ...member, status: 'voided' } });
    expect([state.reward, state.full]).toEqual(['–', null]);
    expect(state.rewards.map(({ ready, state: said }) => [ready, said])).toEqual(Array(3).fill([false, '–']));
  });

  it('has no list when the goal is the only reward', () => {
    expect(page({ goal: 100 }, 40)).not.toContain('id="rewards"');
  });
});
