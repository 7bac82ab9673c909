// Changes of points, the ledger, and what explains a balance. One idempotency key applies at most one change. The first
// answer is stored with the key, and a repeated request gets the same bytes (docs/interface.md#83-idempotency-keys).

import type { Answer, ChangeFacts, ChangeMember } from '../../activities/members/change.schema.js';
import { changeMember, storeAnswer } from '../../activities/members/changeMember.writes.js';
import { pointsRule, redeemRule } from '../../activities/points/adjustOrRedeem.rules.js';
import { earnRule } from '../../activities/points/earn.rules.js';
import { earnedReader } from '../../activities/points/earned.reads.js';
import { type ReversedEntry, reversalRule } from '../../activities/points/reverse.rules.js';
import { cachedProgram } from '../../activities/programs/program.reads.js';
import type { Endpoint } from '../../schemas/access/endpoint.schema.js';
import type { balanceEndpoints } from '../../schemas/points/balances.routes.js';
import type { BalanceResult, KeyedOperation } from '../../schemas/points/ledger.schema.js';
import type { LedgerRow } from '../../schemas/points/points.rows.js';
import { ServiceError } from '../../schemas/shared/errors.js';
import { isUuid, keyedChangeId } from '../../schemas/shared/ids.js';
import type { PassUpdate } from '../../schemas/shared/passUpdate.schema.js';
import type { Endpoints } from '../../schemas/tables/endpoints.js';
import { success } from '../http/answer.js';
import { fingerprintOf, keyOf } from '../http/idempotencyKey.js';
import type { Request, Routes } from '../http/request.js';
import { noteFollowed } from '../http/requestLog.js';
import { dispatch, planDispatch, pushAndWait, summaryOf, type WorkflowLabels } from '../members/dispatch.effect.js';
import { presentBalance } from '../members/member.view.js';
import { readMember } from '../members/members.reads.js';
import { listLedger } from './ledger.reads.js';
import { presentExplanation, presentTransaction } from './ledger.view.js';

export const balanceRoutes: Routes<keyof typeof balanceEndpoints> = {
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

  async earnPoints(request) {
    const { deps, caller, body } = request;
    return performKeyedChange(request, {
      operation: 'earn',
      eventType: 'points.changed',
      rule: () => earnRule(body, { actor: caller.actor, now: deps.now(), reader: earnedReader(deps) }),
      more: ({ delta, rule }) => ({ awarded: delta, rule }),
    });
  },

  reverseTransaction: (request) => {
    const { transactionId = '' } = request.params;
    return performReversal(request, { ...request.body, entry: { _id: transactionId } });
  },

  reverseByReference: (request) => {
    const { reference, ...body } = request.body;
    return performReversal(request, { ...body, entry: { reference } });
  },

  async explainBalance({ deps, caller, params }) {
    const member = await readMember(deps, { merchantId: caller.merchantId, memberId: params.id ?? '' });
    const program = await cachedProgram(deps, member);
    return { data: presentExplanation({ member, program }, deps.now()) };
  },

  async listTransactions({ deps, caller, params, query }) {
    const { items, total } = await listLedger(deps, {
      merchantId: caller.merchantId,
      memberId: params.id ?? '',
      ...query,
    });
    return { data: { items: items.map(presentTransaction), page: query.page, pageSize: query.pageSize, total } };
  },
};

function performReversal(
  request: Request<Endpoints['reverseTransaction' | 'reverseByReference']>,
  reversed: ReversedEntry,
) {
  const { deps, caller } = request;
  return performKeyedChange(request, {
    operation: 'reverse',
    eventType: 'points.changed',
    rule: (reversalId) => reversalRule(deps, { ...reversed, reversalId, actor: caller.actor, now: deps.now() }),
  });
}

function answerOf(facts: ChangeFacts, passUpdate: PassUpdate | null, more: KeyedMemberChange['more']): Answer {
  const { previous, current, entry } = facts;
  if (!entry) throw new Error('A keyed change wrote no ledger entry.');
  // The first answer, even when it is built again after the entry was reversed.
  const { reversedBy, ...written } = entry;
  const transaction = presentTransaction(written);
  const result: BalanceResult = { member: presentBalance(facts), previous, current, transaction, passUpdate };
  return { status: 200, body: success({ ...result, ...more?.(entry) }) };
}

export interface KeyedMemberChange {
  operation: KeyedOperation;
  eventType: WorkflowLabels['eventType'];
  /** Called once, with the id of the ledger entry that the change writes. */
  rule: (entryId: string) => ChangeMember['decide'];
  /** The fields of the answer other than the balances, from the ledger entry of the change. */
  more?: (entry: LedgerRow) => Record<string, unknown>;
}

/**
 * Throws IDEMPOTENCY_KEY_MALFORMED and the errors of changeMember; in these cases the request has changed nothing and
 * claimed no key. If only the storing of the answer fails, the change is applied, and a later request with the same key
 * gets the answer.
 */
export async function performKeyedChange(
  {
    deps,
    caller,
    params,
    body,
    ctx,
  }: Pick<Request<Endpoint>, 'deps' | 'caller' | 'params' | 'ctx'> & {
    body: object | undefined;
  },
  { operation, eventType, rule, more }: KeyedMemberChange,
): Promise<{ status: number; bytes: Buffer }> {
  const { merchantId } = caller;
  const { id: memberId = '', ...otherParams } = params;
  const key = keyOf(ctx);
  if (!isUuid(memberId)) throw new ServiceError('MEMBER_NOT_FOUND');
  const id = keyedChangeId(operation, memberId, key);
  ctx.state.workflowId = id;
  noteFollowed(ctx, { memberId });
  const plan = planDispatch(deps, () => id);
  const answer = (facts: ChangeFacts, passUpdate: PassUpdate | null) => answerOf(facts, passUpdate, more);
  const changed = await deps.metrics.memberChange(operation, () =>
    changeMember(deps, {
      merchantId,
      memberId,
      keyedChange: { id, fingerprint: fingerprintOf({ ...body, ...otherParams }), answer },
      decide: rule(id),
      ...plan,
    }),
  );
  if (changed.kind === 'unchanged') throw new Error('The rule of a keyed change returned no decision.');
  noteFollowed(ctx, { transactionId: id });
  if (changed.kind === 'answered') {
    ctx.set('Idempotent-Replayed', 'true');
    return { status: changed.answer.status, bytes: changed.answer.body };
  }
  const { facts } = changed;
  const labels: WorkflowLabels = { eventType, summary: summaryOf(operation, memberId, facts) };
  if (changed.kind === 'abandoned') {
    const { keyRow, programId } = changed;
    const workflow = { ...labels, workflowId: id, eventId: keyRow.eventId ?? '', merchantId, memberId, programId };
    const first = answer(facts, changed.passUpdate ?? (await pushAndWait(deps, workflow)));
    return bytesOf(await storeAnswer(deps, { merchantId, keyedChangeId: id, answer: first }));
  }
  const confirmed = await dispatch(deps, changed, labels);
  if (changed.answer) return bytesOf(changed.answer);
  return bytesOf(await storeAnswer(deps, { merchantId, keyedChangeId: id, answer: answer(facts, confirmed) }));
}

const bytesOf = ({ status, body }: Answer): { status: number; bytes: Buffer } => ({ status, bytes: body });
