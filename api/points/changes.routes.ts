// The endpoints that change a balance or a status, and the push, which changes neither.

import { pushRule, statusRule } from '../../activities/members/members.rules.js';
import { pointsRule, redeemRule } from '../../activities/points/balance.rules.js';
import type { Routes } from '../http/request.js';
import { presentBalance, presentMember } from '../members/member.view.js';
import { performChange } from '../members/performChange.writes.js';
import { performKeyedChange } from '../members/performKeyedChange.writes.js';

export const changeRoutes: Routes<'adjustPoints' | 'redeemReward' | 'changeStatus' | 'pushPass'> = {
  async adjustPoints(request) {
    const { deps, caller, body } = request;
    return performKeyedChange(request, {
      operation: 'points',
      eventType: 'points.changed',
      rule: () => pointsRule(body, { actor: caller.actor, now: deps.now() }),
    });
  },

  async redeemReward(request) {
    const { deps, caller, body } = request;
    return performKeyedChange(request, {
      operation: 'redeem',
      eventType: 'reward.redeemed',
      rule: () => redeemRule(body, { actor: caller.actor, now: deps.now() }),
    });
  },

  async changeStatus(request) {
    const { deps, body } = request;
    const { changed, passUpdate } = await performChange(request, {
      noun: 'status',
      decide: statusRule(body.status, body.reason),
    });
    const member = presentMember(deps, changed);
    return { data: { member, passUpdate, ...(changed.kind === 'unchanged' && { unchanged: true }) } };
  },

  async pushPass(request) {
    const { changed, passUpdate } = await performChange(request, {
      noun: 'push',
      eventType: 'pass.updated',
      decide: pushRule(),
    });
    const { _id: memberId, memberCode, field, balance: current } = changed.member;
    return { data: { member: presentBalance({ memberId, memberCode, field, current }), passUpdate } };
  },
};
