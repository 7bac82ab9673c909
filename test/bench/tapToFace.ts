// From the till's answer until the phones show the new balance, at half of the rate that the machine carries. That rate
// is measured first, by callers that wait for the phones before their next change. The yardstick: update-with-start
// with one local activity on the same Temporal, at the same rate.
import { FormData } from 'undici';
import { updateByIds } from '../../platform/mongodb/updateMany.js';
import type { MemberRow } from '../../schemas/members/members.rows.js';
import type { Platform } from '../../schemas/shared/passUpdate.schema.js';
import { makeGoogleObjectId } from '../../schemas/wallets/google/googleIds.rules.js';
import { type Bench, settled } from './bench.js';
import { importsFinished } from './import.js';
import { closedLoop, inTurn, paced } from './load.js';
import { aMerchant, type BenchMerchant } from './merchant.js';
import { phonesOf, type ShownAt } from './phones.js';
import { type Row, ratiosOf, round, type Spread, spreadOf } from './row.js';
import { type TemporalYardstick, temporalYardstick } from './yardstick.js';

const callersAtFullRate = 16;
/** So many that a change is not late because another one still waits for its phones. */
const pacedCallers = 64;
const goalMs = 250;
const warmUpMs = 2_000;

export interface TapToFaceSize {
  /** So many that each has few changes, because Google notifies of three a day. */
  members: number;
  fullRateMs: number;
  rounds: number;
  oursMs: number;
  yardstickMs: number;
  /** Whether members with only an iPhone are measured too: Google's quota does not bound their rate. */
  iphonesAlone: boolean;
}

/** Milliseconds since the epoch. */
interface Tap {
  sentAt: number;
  answeredAt: number;
  shownAt: ShownAt;
}

interface Round {
  taps: Tap[];
  /** The rate that was reached. */
  rate: number;
  yardstick: number[];
}

export async function benchTapToFace(bench: Bench, size: TapToFaceSize): Promise<Row[]> {
  const temporal = await temporalYardstick(bench);
  const rows = await measure(bench, { temporal, size, wallets: ['apple', 'google'] });
  if (size.iphonesAlone) rows.push(...(await measure(bench, { temporal, size, wallets: ['apple'] })));
  await temporal.close();
  return rows;
}

interface Measure {
  temporal: TemporalYardstick;
  size: TapToFaceSize;
  /** The wallets that each member has. */
  wallets: readonly Platform[];
}

async function measure(bench: Bench, { temporal, size, wallets }: Measure): Promise<Row[]> {
  const { rounds, fullRateMs, oursMs, yardstickMs } = size;
  const merchant = await aMerchant(bench);
  const members = await membersWithPhones(bench, { merchant, wallets, count: size.members });
  const phones = phonesOf(bench.processes);
  let next = 0;
  const tap = async (): Promise<Tap> => {
    const memberId = inTurn(members, next)._id;
    next += 1;
    const sentAt = Date.now();
    const answer = await merchant.award(memberId);
    const answeredAt = Date.now();
    return { sentAt, answeredAt, shownAt: await phones.shownAt(memberId, JSON.parse(answer).data.current, wallets) };
  };

  await closedLoop({ callers: callersAtFullRate, ms: warmUpMs }, tap);
  const { rate: fullRate } = await closedLoop({ callers: callersAtFullRate, ms: fullRateMs }, tap);
  await closedLoop({ callers: 1, ms: 1_000 }, temporal.updateWithStart);
  await settled(bench);

  const load = { callers: pacedCallers, perSecond: fullRate / 2 };
  const measured: Round[] = [];
  for (let index = 0; index < rounds; index += 1) {
    const taps: Tap[] = [];
    const { rate } = await paced({ ...load, ms: oursMs }, async () => taps.push(await tap()));
    await settled(bench);
    const yardstick: number[] = [];
    await paced({ ...load, ms: yardstickMs }, async () => {
      const startedAt = performance.now();
      await temporal.updateWithStart();
      yardstick.push(performance.now() - startedAt);
    });
    measured.push({ taps, rate, yardstick });
  }
  await merchant.close();
  return wallets.map((wallet) => rowOf(measured, { wallet, isAlone: wallets.length === 1, fullRate }));
}

interface About {
  wallet: Platform;
  isAlone: boolean;
  fullRate: number;
}

function rowOf(rounds: readonly Round[], { wallet, isAlone, fullRate }: About): Row {
  const taps = rounds.flatMap((one) => one.taps);
  const latency = sinceAnswer(taps, wallet);
  const yardstick = spreadOf(rounds.flatMap((one) => one.yardstick));
  const ratios = ratiosOf(
    rounds.flatMap((one) => ratioOf(sinceAnswer(one.taps, wallet), spreadOf(one.yardstick)) ?? []),
  );
  const came = Math.min(...rounds.map(({ rate }) => rate));
  const fromRequest = spreadOf(taps.map(({ sentAt, shownAt }) => (shownAt[wallet] ?? 0) - sentAt));
  const phone = { apple: isAlone ? 'an iPhone alone' : 'an iPhone', google: 'a Google wallet' }[wallet];
  const rate = `full ${round(fullRate, 1)}/s, came ${round(came, 1)}/s`;
  return {
    scenario: `the till's answer to the face on ${phone} at half of the full rate (${rate}), p95; an update-with-start at that rate`,
    ours: latency.p95,
    yardstick: yardstick.p95,
    ratio: ratioOf(latency, yardstick),
    ...(ratios && { ratios }),
    unit: 'ms',
    goal: `<= ${goalMs}`,
    reached: latency.p95 <= goalMs && came > (fullRate / 2) * 0.9,
    latency,
    yardstickLatency: yardstick,
    note: `from the request p50 / p95 / p99 ${fromRequest.p50} / ${fromRequest.p95} / ${fromRequest.p99} ms`,
  };
}

/** A face that is there before the answer counts as there with it. */
const sinceAnswer = (taps: readonly Tap[], wallet: Platform): Spread =>
  spreadOf(taps.map(({ answeredAt, shownAt }) => Math.max((shownAt[wallet] ?? 0) - answeredAt, 0)));

/** Null when the faces are there with the answer. */
const ratioOf = (ours: Spread, yardstick: Spread): number | null =>
  ours.p95 > 0 ? round(yardstick.p95 / ours.p95) : null;

/** Imports members, so that they have passes at both wallets, and adds each card to the phones of its member. */
export async function membersWithPhones(
  bench: Bench,
  { merchant, wallets, count }: { merchant: BenchMerchant; wallets: readonly Platform[]; count: number },
): Promise<MemberRow[]> {
  const { deps, origin, env } = bench;
  const lines = Array.from({ length: count }, (_, at) => `Ada,Lovelace${at},member-${at}@tap.example`);
  const form = new FormData();
  form.set('programId', merchant.program._id);
  form.set('file', new Blob([['firstName,lastName,email', ...lines].join('\n')], { type: 'text/csv' }), 'members.csv');
  await merchant.call({ method: 'POST', path: '/merchants/me/members/import', body: form });
  await importsFinished(bench, merchant);
  const members = await deps.collections.members.find({ merchantId: merchant.id }).toArray();
  const isAtGoogle = wallets.includes('google');
  const issuerId = env.GOOGLE_WALLET_ISSUER_ID ?? '';
  await phonesOf(bench.processes).add(
    members.map(({ _id: memberId, pass }) => ({
      memberId,
      passUrl: `${origin}/passes/${pass.token}.pkpass`,
      ...(isAtGoogle && { objectId: makeGoogleObjectId(issuerId, memberId) }),
    })),
  );
  // As Google's callback about each save would do, without a push to each object.
  const ids = members.map(({ _id }) => _id);
  if (isAtGoogle) await updateByIds(deps, 'members', { ids, change: { $set: { 'pass.googleSaved': true } } });
  await settled(bench);
  return members;
}
