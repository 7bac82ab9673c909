// Points and redeem: the idempotent gestures. One key is one gesture; its first answer is kept and replayed byte for byte
// (interface 8, idempotency rules).

import type { Context } from 'koa';
import {
  type Answer,
  changeMember,
  type Decision,
  type GestureFacts,
  storeAnswer,
} from '../activities/changeMember.js';
import type { MemberRow } from '../schemas/collections.js';
import { ServiceError } from '../schemas/errors.js';
import { type GestureOperation, gestureId, isUuid, newToken, sha256 } from '../schemas/ids.js';
import type { BalanceResult } from '../schemas/members.js';
import type { PassUpdate } from '../schemas/passUpdate.js';
import type { Program } from '../schemas/programs.js';
import type { ApiDeps } from './apiDeps.js';
import type { Caller } from './caller.js';
import { type Effect, plan, settle, startBeside, summaryOf, tellWallets } from './carryOut.js';
import { success } from './envelope.js';
import { presentBalance } from './presenters/member.js';

const keyForm = /^[A-Za-z0-9_-]{8,128}$/;

/** The caller's key, or a fresh one; it is named in the answer either way. Throws IDEMPOTENCY_KEY_MALFORMED. */
function keyOf(ctx: Context): string {
  const given = ctx.get('Idempotency-Key');
  if (ctx.req.headers['idempotency-key'] !== undefined && !keyForm.test(given))
    throw new ServiceError('IDEMPOTENCY_KEY_MALFORMED');
  const key = given || newToken();
  ctx.set('Idempotency-Key', key);
  return key;
}

/** The same for bodies that ask for the same, whatever the order of their fields. */
function fingerprintOf(body: unknown): string {
  const fields = Object.entries(body ?? {}).filter(([, value]) => value !== undefined);
  return sha256(JSON.stringify(fields.sort(([a], [b]) => (a < b ? -1 : 1))));
}

function answerOf(facts: GestureFacts, passUpdate: PassUpdate | null): Answer {
  const { previous, current } = facts;
  const result: BalanceResult = { member: presentBalance(facts), previous, current, passUpdate };
  return { status: 200, body: success(result) };
}

export interface PerformGesture {
  operation: GestureOperation;
  eventType: Effect['eventType'];
  memberId: string;
  body: unknown;
  caller: Caller;
  ctx: Context;
  decide: (member: MemberRow, program: Program) => Decision;
}

/** Throws what changeMember throws; then nothing has changed and the key is free. */
export async function performGesture(
  deps: ApiDeps,
  gesture: PerformGesture,
): Promise<{ status: number; bytes: Buffer }> {
  const { operation, eventType, memberId, caller, ctx, decide } = gesture;
  const { merchantId } = caller;
  const key = keyOf(ctx);
  if (!isUuid(memberId)) throw new ServiceError('MEMBER_NOT_FOUND');
  const id = gestureId(operation, memberId, key);
  ctx.state.workflowId = id;
  const { own, confirmable } = plan(deps);
  const transaction = () =>
    changeMember(deps, {
      merchantId,
      memberId,
      gesture: { id, fingerprint: fingerprintOf(gesture.body), answer: answerOf },
      holderOf: (_eventId, awaited) => (own(awaited) ? id : null),
      confirmable,
      decide,
    });
  const changed = await deps.metrics.gesture(operation, () => deps.room.timed(transaction));
  if (changed.kind === 'unchanged') throw new Error('A gesture always changes its member.');
  if (changed.kind === 'replay') {
    ctx.set('Idempotent-Replayed', 'true');
    return { status: changed.answer.status, bytes: changed.answer.body };
  }
  const effectOf = (facts: GestureFacts, at: { eventId: string; programId: string; push: boolean }): Effect => ({
    workflowId: id,
    eventType,
    merchantId,
    memberId,
    summary: summaryOf(operation, facts),
    ...at,
  });

  if (changed.kind === 'abandoned') {
    const { facts, gesture: claim, programId } = changed;
    const effect = effectOf(facts, { eventId: claim.eventId, programId, push: true });
    const answer = answerOf(facts, changed.passUpdate ?? (await tellWallets(deps, effect)));
    return bytesOf(await storeAnswer(deps, { merchantId, gestureId: id, answer }));
  }
  const { facts, eventId, holder, member, passUpdate, answer } = changed;
  const effect = effectOf(facts, { eventId, programId: member.programId, push: passUpdate === undefined });
  if (answer) {
    if (holder !== null) startBeside(deps, effect);
    return bytesOf(answer);
  }
  const told = await settle(deps, { done: changed, effect });
  return bytesOf(await storeAnswer(deps, { merchantId, gestureId: id, answer: answerOf(facts, told) }));
}

const bytesOf = ({ status, body }: Answer): { status: number; bytes: Buffer } => ({ status, bytes: body });
