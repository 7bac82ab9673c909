// The taps of the live desk's till: the calls that the page of a till makes, with the session of the console.
import { api, data } from '../api.js';
import type { Detail } from './memberDetail.js';

export type Tap = (member: Detail, changeMessage: string) => Promise<unknown>;

const cardOf = ({ memberCode, program }: Detail) => ({ memberCode, programId: program._id });

export const earn: Tap = (member, changeMessage) => {
  const worded = changeMessage ? { changeMessage } : {};
  if (member.program.style === 'stamps')
    return data(api.POST('/till/earn', { body: { ...cardOf(member), ...worded } }));
  // A till gives points for an amount, and the desk sells nothing.
  const params = { path: { id: member.id } };
  return data(api.PATCH('/merchants/me/members/{id}/points', { params, body: { delta: 1, ...worded } }));
};

const readyReward = ({ rewards }: Detail) => rewards.find(({ ready }) => ready);

export const isRewardReady = (member: Detail): boolean => readyReward(member) !== undefined;

export const redeem: Tap = (member) => {
  const { id = 'default' } = readyReward(member) ?? {};
  const body = { ...cardOf(member), ...(id !== 'default' && { rewardId: id }) };
  return data(api.POST('/till/redeem', { body }));
};

export const undo: Tap = (member) => data(api.POST('/till/undo', { body: cardOf(member) }));
