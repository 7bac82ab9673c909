// Measures how old an event is when a good receiver gets it, with and without a second receiver that never answers, at
// a rate far below the service's limit. Each phase starts after all work of the previous one is done.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Bench, settled } from './bench.js';
import { inTurn } from './load.js';
import { addMembers, aMerchant, type BenchMerchant } from './merchant.js';
import { startReceiver, subscribe } from './receiver.js';
import { type Row, type Spread, slowdownRow, spreadOf } from './row.js';

const perSecond = 5;
const timeoutMs = 2_000;

export interface HungSize {
  rounds: number;
  phaseMs: number;
}

export async function benchHung(bench: Bench, { rounds, phaseMs }: HungSize): Promise<Row[]> {
  const receiver = await startReceiver(bench);
  const merchant = await aMerchant(bench);
  await subscribe(merchant, receiver.url);
  const hungId = await subscribe(merchant, receiver.hangUrl, timeoutMs);
  const members = await addMembers(bench, { program: merchant.program, count: 100 });

  const phase = async (hung: boolean): Promise<Spread> => {
    await enable(merchant, hungId, hung);
    await receiver.since();
    const count = Math.round((perSecond * phaseMs) / 1_000);
    const began = performance.now();
    const awards: Promise<string>[] = [];
    for (let index = 0; index < count; index += 1) {
      await sleep(Math.max(began + (index / perSecond) * 1_000 - performance.now(), 0));
      awards.push(merchant.award(inTurn(members, index)._id));
    }
    await Promise.all(awards);
    await enable(merchant, hungId, false);
    await settled(bench);
    const { count: received, ages } = await receiver.since();
    if (received < count) throw new Error(`Of ${count} webhooks ${received} came.`);
    await sleep(timeoutMs);
    return spreadOf(ages);
  };

  await phase(false);
  const without: Spread[] = [];
  const withIt: Spread[] = [];
  for (let index = 0; index < rounds; index += 1) {
    without.push(await phase(false));
    withIt.push(await phase(true));
  }
  await merchant.close();
  await receiver.stop();
  const scenario = 'age at a good receiver beside a hung one, p99; without the hung one';
  return [slowdownRow({ withIt, without }, { of: 'p99', most: 1.1, scenario })];
}

async function enable(merchant: BenchMerchant, id: string, enabled: boolean): Promise<void> {
  await merchant.call({ method: 'PATCH', path: `/merchants/me/webhooks/${id}`, body: { enabled } });
}
