// One sample of the data of each event type, for test deliveries and the OpenAPI document.
import type { EventData, EventType } from './events.schema.js';

export interface SampleOf {
  merchantId: string;
  now: Date;
}

export function sampleData<T extends EventType>(type: T, { merchantId, now }: SampleOf): EventData<T> {
  const at = now.toISOString();
  const member = {
    memberId: '3f2c9a54-6a0f-4c1e-9a3e-0d1f0a7c5b21',
    memberCode: '7H2K9M4QXT',
    programId: 'demo-points',
    merchantId,
    memberVersion: 2,
  };
  const pass = { ...member, serialNumber: 'b7d9f1f6-9b0e-4f59-8a38-2c5e2f7f1d10', platform: 'apple' as const };
  const passUpdate = {
    serialNumber: pass.serialNumber,
    lastUpdateTag: at,
    rebuilt: false,
    apple: { devicesNotified: 0, devicesAttempted: 0, mode: 'stub' as const },
    google: { objectPatched: false, mode: 'stub' as const },
  };
  const actor = { type: 'api-key' as const, id: '5d0f8c0e-6f0f-4a5e-8f5c-2a1b3c4d5e6f', name: 'Till backend' };
  const entry = (type: 'adjust' | 'redeem') => ({
    transactionId: `${type}:9c1f6a52-1f0b-4b5e-9a56-7d2f8e3b4c10`,
    transactionType: type,
    actor,
  });
  const batch = {
    batchId: '0b6c1f0e-4d6f-4f0e-8f9d-3b8a8c2d7e11',
    kind: 'members.import' as const,
    programId: member.programId,
    merchantId,
    counts: { total: 3, created: 2, deduped: 1, failed: 0 },
    passIssuance: { apple: 2, google: 2 },
    startedAt: at,
    finishedAt: at,
  };
  const samples: { [K in EventType]: EventData<K> } = {
    'member.created': {
      ...member,
      memberVersion: 1,
      email: 'ada@example.com',
      firstName: 'Ada',
      lastName: 'Lovelace',
      source: 'api',
      attribution: {},
      passIssuance: { apple: true, google: true },
    },
    'member.updated': {
      ...member,
      changed: ['status'],
      status: 'voided',
      previousStatus: 'active',
      tags: [],
      passUpdate,
    },
    'member.deleted': { memberId: member.memberId, programId: member.programId, merchantId },
    'points.changed': {
      ...member,
      ...entry('adjust'),
      ...{ field: 'points', previous: 20, current: 30, delta: 10, passUpdate },
    },
    'reward.redeemed': {
      ...member,
      ...entry('redeem'),
      ...{ field: 'points', previous: 120, current: 20, goal: 100, passUpdate },
    },
    'pass.created': { ...pass, mode: 'stub' },
    'pass.installed': pass,
    'pass.updated': pass,
    'pass.removed': pass,
    'pass.scanned': { ...member, code: member.memberCode, scannedBy: 'till 1', actor },
    'campaign.sent': {
      campaignId: batch.batchId,
      merchantId,
      programId: member.programId,
      tags: ['vip'],
      message: 'Double points today',
      counts: { matched: 10, pushed: 8, skipped: 2, failed: 0 },
      startedAt: at,
      finishedAt: at,
    },
    'webhook.disabled': {
      subscriptionId: '5d0a7f1b-0f7e-4b7e-8a39-64f3f1a2b9c0',
      url: 'https://example.com/hook',
      reason: 'gone',
      failingSince: at,
    },
    'batch.completed': batch,
    'batch.failed': { ...batch, reason: 'The program was archived.' },
  };
  return samples[type];
}
