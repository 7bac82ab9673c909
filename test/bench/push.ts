// Points changes whose answer waits for the push to a device, beside an update-with-start with one local activity on the same
// Temporal. The wallets are real here, so the stack is one of its own.
import { z } from 'zod';
import { registrationId } from '../../activities/wallets/registrations.js';
import type { DeviceRow, MemberRow } from '../../schemas/collections.js';
import { newId, newToken } from '../../schemas/ids.js';
import { type Bench, type BenchOptions, settled, startBench } from './bench.js';
import { startChild } from './child.js';
import { closedLoop, sideBySide, sooner } from './load.js';
import { addMembers, aMerchant, ownOf } from './merchant.js';
import { memoryOf } from './processes.js';
import { type Row, round } from './row.js';
import { temporalYardstick } from './yardstick.js';

const memberCount = 200;

export async function benchPush(options: BenchOptions): Promise<Row[]> {
  const { child: apns, ready } = await startChild('apnsProcess.ts');
  const settings = z.record(z.string(), z.string()).parse(ready);
  // As many workflows of their own as are asked for: an answer that the relay gives waits for no push.
  const bench = await startBench({ ...options, env: { ...settings, GESTURE_WORKFLOWS_PER_SECOND: '10000' } });
  try {
    return await pushRows(bench, settings.APPLE_PASS_TYPE_ID ?? '');
  } finally {
    await bench.stop();
    await apns.stop();
  }
}

async function pushRows(bench: Bench, passTypeIdentifier: string): Promise<Row[]> {
  const merchant = await aMerchant(bench);
  const members = await addMembers(bench, { program: merchant.program, count: memberCount });
  await addDevices(bench, members, passTypeIdentifier);
  const temporal = await temporalYardstick(bench.temporalAddress);
  const award = async (caller: number, callers: number) => {
    const answer = await merchant.call({
      method: 'PATCH',
      path: `/merchants/me/members/${ownOf(members, caller, callers)._id}/points`,
      body: { delta: 1 },
      headers: { 'idempotency-key': newToken() },
    });
    const { passUpdate } = JSON.parse(answer).data;
    if (passUpdate?.apple.devicesNotified !== 1) throw new Error(`The answer did not wait for the push: ${answer}`);
  };
  const rows: Row[] = [];
  for (const callers of [1, 4]) {
    const load = { callers, ms: 4_000 };
    await closedLoop({ ...load, ms: 1_000 }, (caller) => award(caller, callers));
    await closedLoop({ ...load, ms: 1_000 }, temporal.updateWithStart);
    await settled(bench);
    const { ours, yardstick, cpu } = await sideBySide({
      pids: bench.pids,
      rounds: 3,
      ours: () => closedLoop(load, (caller) => award(caller, callers)),
      yardstick: () => closedLoop(load, temporal.updateWithStart),
      settle: () => settled(bench),
      better: sooner,
    });
    const ratio = yardstick.latency.p50 / ours.latency.p50;
    rows.push({
      scenario: `points answered after the push, ${callers === 1 ? 'one caller' : `${callers} callers`}, p50; an update-with-start with a local activity`,
      ours: ours.latency.p50,
      yardstick: yardstick.latency.p50,
      ratio: round(ratio),
      unit: 'ms',
      goal: '>= 0.67',
      reached: ratio >= 1 / 1.5,
      latency: ours.latency,
      yardstickLatency: yardstick.latency,
      cpu,
      memory: memoryOf(bench.pids),
    });
  }
  await Promise.all([temporal.close(), merchant.close()]);
  return rows;
}

/** One device for each. */
async function addDevices({ store }: Bench, members: readonly MemberRow[], passTypeIdentifier: string): Promise<void> {
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
  await store.rows.devices.insertMany(devices);
  await store.rows.members.updateMany({ _id: { $in: members.map(({ _id }) => _id) } }, { $set: { deviceCount: 1 } });
}
