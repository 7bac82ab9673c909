// Earnings and reversals over the API, compared with points changes of the same members in the same minute.

import type { MemberRow } from '../../schemas/members/members.rows.js';
import { newToken } from '../../schemas/shared/ids.js';
import { type Bench, settled } from './bench.js';
import { closedLoop, type Measured, ofRates, ownOf, type Rounds, sideBySide } from './load.js';
import { addMembers, aMerchant, type BenchMerchant } from './merchant.js';
import { type Row, round } from './row.js';

const callers = 64;
const members = 2_000;

interface Change {
  method: 'PATCH' | 'POST';
  path: string;
  body?: object;
}

const changing = (merchant: BenchMerchant, change: Change): Promise<string> =>
  merchant.call({ ...change, headers: { 'idempotency-key': newToken() } });

const award = (merchant: BenchMerchant, { _id }: MemberRow): Promise<string> =>
  changing(merchant, { method: 'PATCH', path: `/merchants/me/members/${_id}/points`, body: { delta: 1 } });

const earn = (merchant: BenchMerchant, { _id }: MemberRow): Promise<string> =>
  changing(merchant, { method: 'POST', path: `/merchants/me/members/${_id}/earn`, body: { amount: 100 } });

/** For each caller, the entries of its own members that can be reversed. */
async function reversible({ deps }: Bench, all: readonly MemberRow[]): Promise<string[][]> {
  const callerOf = new Map(all.map(({ _id }, index) => [_id, index % callers]));
  const paths: string[][] = Array.from({ length: callers }, () => []);
  const entries = deps.collections.ledger.find(
    { merchantId: all[0]?.merchantId ?? '', type: 'adjust', reversedBy: { $exists: false } },
    { projection: { memberId: 1 } },
  );
  for await (const { _id, memberId } of entries)
    paths[callerOf.get(memberId) ?? 0]?.push(`/merchants/me/members/${memberId}/transactions/${_id}/reverse`);
  return paths;
}

export async function benchLedger(bench: Bench, { rounds, oursMs, yardstickMs }: Rounds): Promise<Row[]> {
  const merchant = await aMerchant(bench, { callers });
  const { program, id: merchantId } = merchant;
  await bench.deps.collections.programs.updateOne(
    { _id: program._id, merchantId },
    { $set: { earn: { per: 100, points: 1, currency: 'EUR' } } },
  );
  const all = await addMembers(bench, { program, count: members });
  const loop = (ms: number, change: (of: MemberRow) => Promise<string>): Promise<Measured> =>
    closedLoop({ callers, ms }, (caller) => change(ownOf(all, caller, callers)));
  const points = (ms: number) => loop(ms, (of) => award(merchant, of));
  let paths: string[][] = [];
  const reverse = (ms: number) =>
    closedLoop({ callers, ms }, (caller) => {
      const path = paths[caller]?.pop();
      if (path === undefined) throw new Error('There is no entry left to reverse.');
      return changing(merchant, { method: 'POST', path });
    });
  const sides: [string, (ms: number) => Promise<Measured>][] = [
    ['earnings', (ms) => loop(ms, (of) => earn(merchant, of))],
    ['reversals', reverse],
  ];
  // Twice as many entries as a round of reversals can take.
  await points(2 * oursMs);
  await settled(bench);
  const rows: Row[] = [];
  for (const [name, ours] of sides) {
    paths = await reversible(bench, all);
    const compared = await sideBySide({
      pids: bench.pids,
      rounds,
      ours: () => ours(oursMs),
      async yardstick() {
        const measured = await points(yardstickMs);
        await settled(bench);
        paths = await reversible(bench, all);
        return measured;
      },
      settle: () => settled(bench),
    });
    const rates = ofRates(compared.ours, compared.yardstick);
    rows.push({
      scenario: `${name} accepted, ${callers} callers; points changes of the same members`,
      ours: round(compared.ours.rate),
      yardstick: round(compared.yardstick.rate),
      ratio: round(rates),
      ...compared.ratios(ofRates),
      unit: 'changes/s',
      goal: '>= 0.8',
      reached: rates >= 0.8,
      latency: compared.ours.latency,
      yardstickLatency: compared.yardstick.latency,
      cpu: compared.cpu,
    });
  }
  await merchant.close();
  return rows;
}
