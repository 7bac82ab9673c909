// The event types: each has a schema that its sample meets, in an envelope that is serialised once.
import fc from 'fast-check';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { sampleData } from '../../../schemas/events/eventSamples.schema.js';
import {
  type EventData,
  type EventType,
  envelopeBytes,
  envelopeOf,
  eventData,
  eventTypes,
  shardOf,
} from '../../../schemas/events/events.schema.js';

const now = new Date('2026-11-21T04:00:00.123Z');
const occurrence = (type: EventType, data: Record<string, unknown>) => ({
  eventId: 'event-1',
  merchantId: 'merchant-1',
  type,
  occurredAt: now,
  data,
});

describe('the event types', () => {
  it('are those of the interface', () => {
    expect([...eventTypes].sort()).toEqual(
      [
        'member.created',
        'member.updated',
        'member.deleted',
        'points.changed',
        'reward.redeemed',
        'pass.created',
        'pass.installed',
        'pass.updated',
        'pass.removed',
        'pass.scanned',
        'campaign.sent',
        'webhook.disabled',
        'batch.completed',
        'batch.failed',
      ].sort(),
    );
  });

  it.each(eventTypes)('%s has a sample that meets its schema with all fields, also as a test event', (type) => {
    const sample = sampleData(type, { merchantId: 'merchant-1', now });
    for (const data of [sample, { ...sample, test: true }]) expect(eventData[type].strict().parse(data)).toEqual(data);
  });

  it.each(eventTypes)('%s comes in the envelope of the interface', (type) => {
    const data = sampleData(type, { merchantId: 'merchant-1', now });
    const envelope: unknown = JSON.parse(envelopeBytes(occurrence(type, data)).toString('utf8'));
    // Parsing leaves out what the schema does not have.
    expect(envelopeOf(type).parse(envelope)).toEqual(envelope);
    expect(envelope).toEqual({
      specversion: '1.0',
      id: 'event-1',
      type: `cards.service.${type}`,
      source: 'loyalty-pass-service',
      datacontenttype: 'application/json',
      time: now.toISOString(),
      event: type,
      eventId: 'event-1',
      occurredAt: now.toISOString(),
      tenantId: 'merchant-1',
      sourceService: 'loyalty-pass-service',
      data,
    });
  });

  it('carry the data that the interface names', () => {
    expectTypeOf<EventData<'points.changed'>['delta']>().toEqualTypeOf<number>();
    expectTypeOf<EventData<'pass.installed'>['platform']>().toEqualTypeOf<'apple' | 'google'>();
    expectTypeOf<EventData<'reward.redeemed'>['goal']>().toEqualTypeOf<number>();
    expectTypeOf<EventData<'member.created'>['passIssuance']>().toEqualTypeOf<{ apple: boolean; google: boolean }>();
  });
});

describe('the bytes of an envelope', () => {
  it('depend on the event only, and contain its data', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (data) => {
        const bytes = envelopeBytes(occurrence('member.updated', data));
        expect(bytes.equals(envelopeBytes(occurrence('member.updated', data)))).toBe(true);
        expect(JSON.parse(bytes.toString('utf8')).data).toEqual(JSON.parse(JSON.stringify(data)));
      }),
    );
  });
});

describe('the shard of a merchant', () => {
  it('is always the same, within the number of shards', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 1, max: 64 }), (merchantId, shards) => {
        const shard = shardOf(merchantId, shards);
        expect(shard).toBe(shardOf(merchantId, shards));
        expect(Number.isInteger(shard) && shard >= 0 && shard < shards).toBe(true);
      }),
    );
  });

  it('distributes merchants over all of them', () => {
    const used = new Set(Array.from({ length: 400 }, (_, merchant) => shardOf(`merchant-${merchant}`, 16)));
    expect(used.size).toBe(16);
  });
});
