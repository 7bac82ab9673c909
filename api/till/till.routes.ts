// The calls of a till: of a reader's device, or of a person who is signed in (docs/interface.md#411-till).
import type { ChangeMember } from '../../activities/members/change.schema.js';
import type { Decision } from '../../activities/members/decision.schema.js';
import { scanRule } from '../../activities/members/members.rules.js';
import { redeemRule } from '../../activities/points/adjustOrRedeem.rules.js';
import { earnRule } from '../../activities/points/earn.rules.js';
import { earnedReader } from '../../activities/points/earned.reads.js';
import { cachedProgram } from '../../activities/programs/program.reads.js';
import { pairReader } from '../../activities/till/readers.writes.js';
import { countSometimes, noteHello, tapStatements } from '../../activities/till/taps.writes.js';
import { undoRule } from '../../activities/till/undo.rules.js';
import { keyedChangeId, programIdOf } from '../../schemas/shared/ids.js';
import { networkOf } from '../../schemas/shared/ipAddress.rules.js';
import { readCode } from '../../schemas/shared/text.js';
import type { Endpoints } from '../../schemas/tables/endpoints.js';
import type { tillEndpoints } from '../../schemas/till/till.routes.js';
import type { ReaderRow } from '../../schemas/till/till.rows.js';
import { fingerprintOf } from '../http/idempotencyKey.js';
import type { Request, Routes } from '../http/request.js';
import { performChange } from '../members/performChange.writes.js';
import { type KeyedMemberChange, performKeyedChange } from '../points/balances.routes.js';
import { presentProgram } from '../programs/program.view.js';
import { lookUp, lookupByOf, memberAtTill, presentAtTill, type Repeatable } from './lookup.reads.js';

type Rule = ChangeMember['decide'];
type TapRequest = Request<Endpoints['tillEarn' | 'tillRedeem' | 'tillUndo']>;

const presentReader = ({ _id: id, name, location }: ReaderRow) => ({ id, name, location: location ?? null });

/** Undefined without a key: such a request repeats none. */
function repeatable({ ctx, body }: TapRequest, { operation }: KeyedMemberChange): Repeatable | undefined {
  const key = ctx.get('Idempotency-Key');
  if (!key) return undefined;
  return { entryId: (memberId) => keyedChangeId(operation, memberId, key), fingerprint: fingerprintOf(body) };
}

/** A change at the till. Its tap arrives with it; that of a refusal is noted by the guard. */
async function performTap(request: TapRequest, change: KeyedMemberChange) {
  const { deps, caller, body, ctx } = request;
  const { reader } = caller;
  const { memberCode, programId, sequence } = body;
  const tap = reader && sequence !== undefined ? { reader, sequence } : undefined;
  const withTap =
    (rule: Rule): Rule =>
    async (...given): Promise<Decision | null> => {
      const decision = await rule(...given);
      if (!decision?.ledger) return decision;
      const till = { pairing: reader?.pairings ?? 0, ...(tap && { sequence: tap.sequence }) };
      const statements = [...(decision.statements ?? []), ...(tap ? await tapStatements(deps, tap) : [])];
      return { ...decision, ledger: { ...decision.ledger, till }, statements };
    };
  const member = await memberAtTill(deps, caller, { memberCode, programId, tap: repeatable(request, change) });
  const params = { id: member._id };
  const answer = await performKeyedChange(
    { deps, caller, params, body, ctx },
    { ...change, rule: (entryId) => withTap(change.rule(entryId)) },
  );
  if (tap) countSometimes(deps, tap);
  return answer;
}

const locationOf = ({ caller: { reader }, body }: Request<Endpoints['tillEarn' | 'tillRedeem']>) =>
  body.location ?? reader?.location;

export const tillRoutes: Routes<keyof typeof tillEndpoints> = {
  async pairTill({ deps, body: { code }, ctx }) {
    const from = { address: networkOf(ctx.ip), requestId: String(ctx.state.requestId) };
    const { row, token } = await pairReader(deps, { code, from });
    return { data: { token, reader: presentReader(row) } };
  },

  async tillHello({ deps, caller, body }) {
    const { merchantId, reader } = caller;
    if (reader) await noteHello(deps, reader, body);
    const { programs, merchants } = deps.collections;
    const where = {
      merchantId,
      archived: { $ne: true },
      ...(reader?.programIds && { _id: { $in: reader.programIds } }),
    };
    const [merchant, live] = await Promise.all([
      merchants.findOne({ _id: merchantId }, { projection: { name: 1 } }),
      programs
        .find(where, { projection: { _id: 1 } })
        .sort({ _id: 1 })
        .toArray(),
    ]);
    const shown = await Promise.all(live.map(({ _id }) => cachedProgram(deps, { merchantId, programId: _id })));
    return {
      data: {
        reader: reader ? presentReader(reader) : null,
        merchant: { name: merchant?.name ?? '' },
        programs: shown.map(presentProgram),
        lookupBy: lookupByOf(caller),
        now: deps.now().toISOString(),
      },
    };
  },

  async tillLookup({ deps, caller, body, ctx }) {
    const { member, code } = await lookUp(deps, caller, body);
    ctx.set('X-Program-Id', programIdOf(member.programId));
    if (code !== undefined)
      await performChange(
        { deps, caller, params: { id: member._id }, ctx },
        { noun: 'scan', eventType: 'pass.scanned', decide: scanRule(readCode(code), caller.actor) },
      );
    return { data: await presentAtTill(deps, member) };
  },

  async tillEarn(request) {
    const { deps, caller, body } = request;
    const { memberCode: _c, programId: _p, sequence: _s, ...sale } = body;
    const earning = { ...sale, location: locationOf(request) };
    return performTap(request, {
      operation: 'earn',
      eventType: 'points.changed',
      rule: () => earnRule(earning, { actor: caller.actor, now: deps.now(), reader: earnedReader(deps) }),
      more: ({ delta, rule }) => ({ awarded: delta, rule }),
    });
  },

  async tillRedeem(request) {
    const { deps, caller, body } = request;
    const { memberCode: _c, programId: _p, sequence: _s, ...sale } = body;
    const redeeming = { ...sale, location: locationOf(request) };
    return performTap(request, {
      operation: 'redeem',
      eventType: 'reward.redeemed',
      rule: () => redeemRule(redeeming, { actor: caller.actor, now: deps.now() }),
    });
  },

  async tillUndo(request) {
    const { deps, caller, body } = request;
    const { undoes, occurredAt } = body;
    return performTap(request, {
      operation: 'reverse',
      eventType: 'points.changed',
      rule: (reversalId) =>
        undoRule(deps, {
          ...{ reversalId, undoes, occurredAt, actor: caller.actor, now: deps.now() },
          pairing: caller.reader?.pairings ?? 0,
        }),
    });
  },
};
