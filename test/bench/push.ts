// Points changes whose answer waits for the push to a device, compared with an update-with-start with one local
// activity on the same Temporal. The wallets are real, so the stack needs its own settings.

import { z } from 'zod';
import { registrationId } from '../../api/wallets/apple/registrations.writes.js';
import { updateByIds } from '../../platform/mongodb/updateMany.js';
import type { MemberRow } from '../../schemas/members/members.rows.js';
import { newId, newToken } from '../../schemas/shared/ids.js';
import type { DeviceRow } from '../../schemas/wallets/wallets.rows.js';
import { type Bench, settled } from './bench.js';
import { startChild } from './child.js';
import { closedLoop, ofMedians, ownOf, type Rounds, sideBySide, sooner } from './load.js';
import { addMembers, aMerchant } from './merchant.js';
import { memoryOf } from './processes.js';
import type { ProcessList } from './processList.js';
import { type Row, round } from './row.js';
import { temporalYardstick } from './yardstick.js';

const memberCount = 200;

/**
 * Starts the APNs stand-in and returns the settings of a stack that pushes to it. Every change gets its own workflow,
 * because no answer waits for a push by the relay.
 */
export async function pushEnv(processes: ProcessList): Promise<NodeJS.ProcessEnv> {
  const { ready } = await startChild(processes, 'apnsProcess.ts');
  return { ...z.record(z.string(), z.string()).parse(ready), CHANGE_WORKFLOWS_PER_SECOND: '10000' };
}

export interface PushSize extends Rounds {
  callers: readonly number[];
}

export async function benchPush(
  bench: Bench,
  { callers: callerCounts, rounds, oursMs, yardstickMs }: PushSize,
): Promise<Row[]> {
  const { merchant, members, award: awardTo } = await aMerchantWithDevices(bench);
  const temporal = await temporalYardstick(bench);
  const award = (caller: number, callers: number) => awardTo(ownOf(members, caller, callers)._id);
  const rows: Row[] = [];
  for (const callers of callerCounts) {
    await closedLoop({ callers, ms: 1_000 }, (caller) => award(caller, callers));
    await closedLoop({ callers, ms: 1_000 }, temporal.updateWithStart);
    await settled(bench);
    const { ours, yardstick, cpu, ratios } = await sideBySide({
      pids: bench.pids,
      rounds,
      ours: () => closedLoop({ callers, ms: oursMs }, (caller) => award(caller, callers)),
      yardstick: () => closedLoop({ callers, ms: yardstickMs }, temporal.updateWithStart),
      settle: () => settled(bench),
      better: sooner,
    });
    const ratio = ofMedians(ours, yardstick);
    rows.push({
      scenario: `points answered after the push, ${callers === 1 ? 'one caller' : `${callers} callers`}, p50; an update-with-start with a local activity`,
      ours: ours.latency.p50,
      yardstick: yardstick.latency.p50,
      ratio: round(ratio),
      ...ratios(ofMedians),
      unit: 'ms',
      goal: '>= 0.5',
      reached: ratio >= 0.5,
      latency: ours.latency,
      yardstickLatency: yardstick.latency,
      cpu,
      memory: memoryOf(bench.pids),
    });
  }
  await Promise.all([temporal.close(), merchant.close()]);
  return rows;
}

/** Each member has one device. `award` throws when its answer does not wait for the push. */
export async function aMerchantWithDevices(bench: Bench) {
  const merchant = await aMerchant(bench);
  const members = await addMembers(bench, { program: merchant.program, count: memberCount });
  await addDevices(bench, members, bench.env.APPLE_PASS_TYPE_ID ?? '');
  return {
    merchant,
    members,
    async award(memberId: string): Promise<string> {
      const answer = await merchant.award(memberId);
      const { passUpdate } = JSON.parse(answer).data;
      if (passUpdate?.apple.devicesNotified !== 1) throw new Error(`The answer did not wait for the push: ${answer}`);
      return answer;
    },
  };
}

/** Adds one device for each member. */
async function addDevices({ deps }: Bench, members: readonly MemberRow[], passTypeIdentifier: string): Promise<void> {
  const devices = members.map(({ _id: memberId, merchantId, serialNumber }): DeviceRow => {
    const pass = { deviceLibraryIdentifier: newId(), passTypeIdentifier, serialNumber };
    return {
      _id: registrationId(pass),
      merchantId,
      memberId,
      ...pass,
      pushToken: newToken(),
      registeredAt: new Date(),
    };
  });
  await deps.collections.devices.insertMany(devices);
  await updateByIds(deps, 'members', { ids: members.map(({ _id }) => _id), change: { $set: { deviceCount: 1 } } });
}
