// The taps of the live desk's till: the calls that the page of a till makes, with the session of the console.
import { api, data } from '../api.js';
import type { Detail } from './memberDetail.js';

interface Given {
  message: string;
  header: { 'Idempotency-Key': string };
}

const cardOf = ({ memberCode, program }: Detail) => ({ memberCode, programId: program._id });

const readyReward = ({ rewards }: Detail) => rewards.find(({ ready }) => ready);

export const isRewardReady = (member: Detail): boolean => readyReward(member) !== undefined;

/** The change that a tap is. */
export const identityOf = (tap: keyof typeof taps, member: Detail) => [
  ...[tap, member.id],
  tap === 'redeem' && readyReward(member)?.id,
];

export const taps = {
  earn(member, { message, header }) {
    const worded = message ? { changeMessage: message } : {};
    if (member.program.style === 'stamps')
      return data(api.POST('/till/earn', { params: { header }, body: { ...cardOf(member), ...worded } }));
    // A till gives points for an amount, and the desk sells nothing.
    const params = { path: { id: member.id }, header };
    return data(api.PATCH('/merchants/me/members/{id}/points', { params, body: { delta: 1, ...worded } }));
  },

  redeem(member, { header }) {
    const { id = 'default' } = readyReward(member) ?? {};
    const body = { ...cardOf(member), ...(id !== 'default' && { rewardId: id }) };
    return data(api.POST('/till/redeem', { params: { header }, body }));
  },

  undo: (member, { header }) => data(api.POST('/till/undo', { params: { header }, body: cardOf(member) })),
} satisfies Record<string, (member: Detail, given: Given) => Promise<unknown>>;
