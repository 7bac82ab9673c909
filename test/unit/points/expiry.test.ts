// The expiry rule (docs/interface.md#36-expiry): calendar days in the program's time zone, and lots that match the
// balance and the ledger after any sequence of changes.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cardState } from '../../../api/pages/card.view.js';
import { wordsOf } from '../../../api/pages/words.view.js';
import type { MemberRow } from '../../../schemas/members/members.rows.js';
import { type Changing, expiresAt, lotsAfter, lotsOf, rowOf } from '../../../schemas/points/expiry.rules.js';
import { type LotChange, removeExpired, sumOf } from '../../../schemas/points/lots.rules.js';
import type { Expiring } from '../../../schemas/programs/expiry.schema.js';
import { type Program, programFile } from '../../../schemas/programs/programs.schema.js';
import { calendarDay, midnightAfter } from '../../../schemas/shared/calendar.rules.js';
import { passDesign, passJson } from '../../../schemas/wallets/apple/pass.view.js';
import { shownBy } from '../../../schemas/wallets/apple/passStrings.rules.js';
import { loyaltyObjectOf, loyaltyObjectPatchOf } from '../../../schemas/wallets/google/pass.view.js';
import { applePassView, googlePassView } from '../../../schemas/wallets/passes.view.js';

const memberId = '0191f0c2-5a6b-4c7d-8e9f-a0b1c2d3e4f5';
const since = new Date('2026-01-10T12:00:00Z');
const ruled = (expiry: Expiring['expiry'], timeZone = 'UTC'): Expiring => ({ expiry, timeZone, expirySince: since });

describe('the moment of an expiry', () => {
  const berlin = (afterDays: number) => ruled({ afterDays }, 'Europe/Berlin');

  it.each([
    ['a day and the rest of it', 'UTC', '2026-03-01T10:00:00Z', 1, '2026-03-03T00:00:00Z'],
    ['a leap day', 'UTC', '2028-02-28T23:59:59Z', 1, '2028-03-01T00:00:00Z'],
    ['a year without one', 'UTC', '2027-02-28T12:00:00Z', 1, '2027-03-02T00:00:00Z'],
    ['a spring with an hour less', 'Europe/Berlin', '2026-03-28T22:30:00Z', 1, '2026-03-29T22:00:00Z'],
    ['an autumn with an hour more', 'Europe/Berlin', '2026-10-24T21:30:00Z', 1, '2026-10-25T23:00:00Z'],
    [
      'a day of the zone that is another one in UTC',
      'Asia/Kathmandu',
      '2026-05-01T20:00:00Z',
      1,
      '2026-05-03T18:15:00Z',
    ],
    ['a day that begins at one in the morning', 'America/Sao_Paulo', '2018-11-02T12:00:00Z', 1, '2018-11-04T03:00:00Z'],
    ['a day that a zone skipped', 'Pacific/Apia', '2011-12-28T12:00:00Z', 1, '2011-12-30T10:00:00Z'],
  ])('is right over %s', (_, zone, from, days, at) => {
    expect(expiresAt(ruled({ afterDays: days }, zone), new Date(from)).toISOString()).toBe(new Date(at).toISOString());
  });

  it('is the first moment of a day, the same for the whole day, and one day later on the next', () => {
    const moments = fc.date({ min: new Date('2000-01-01'), max: new Date('2100-01-01'), noInvalidDate: true });
    const zones = fc.constantFrom('UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Africa/Cairo');
    fc.assert(
      fc.property(moments, zones, fc.integer({ min: 1, max: 800 }), (from, zone, days) => {
        const at = midnightAfter(zone, from, days);
        expect(calendarDay(zone, at).start).toEqual(at);
        const { start, end } = calendarDay(zone, from);
        expect(midnightAfter(zone, start, days)).toEqual(at);
        expect(midnightAfter(zone, end, days)).toEqual(calendarDay(zone, at).end);
      }),
      { numRuns: 300 },
    );
  });

  it('needs exactly one kind of days', () => {
    const file = { _id: 'p', slug: 'p', name: 'P', style: 'points', fields: { primaryLabel: 'POINTS' } };
    const mistakes = (expiry: object) =>
      programFile
        .safeParse({ ...file, expiry })
        .error?.issues.map(({ path, message }) => `${path.join('.')} ${message}`);
    expect(mistakes({ afterDays: 365 })).toBeUndefined();
    expect(mistakes({})).toEqual(['expiry needs exactly one of afterDays and inactiveDays']);
    expect(mistakes({ afterDays: 1, inactiveDays: 1 })).toHaveLength(1);
    expect(mistakes({ afterDays: 0 })).toHaveLength(1);
  });

  it('of a lot with days of Berlin is a midnight of Berlin', () => {
    expect(expiresAt(berlin(365), since).toISOString()).toBe('2027-01-10T23:00:00.000Z');
  });
});

interface Row {
  delta: number;
  createdAt: Date;
  lots: LotChange[];
  reversed?: true;
}

type Step =
  | { kind: 'change'; delta: number; agoHours: number }
  | { kind: 'reverse'; row: number }
  | { kind: 'expire' }
  | { kind: 'rule'; rule: Expiring['expiry'] };

const rules = fc.constantFrom({ afterDays: 3 }, { afterDays: 10 }, { inactiveDays: 5 }, undefined);
const steps = fc.array(
  fc.tuple(
    fc.integer({ min: 0, max: 60 }),
    fc.oneof(
      fc.record({
        kind: fc.constant('change' as const),
        delta: fc.integer({ min: -30, max: 40 }),
        agoHours: fc.integer({ min: 0, max: 72 }),
      }),
      fc.record({ kind: fc.constant('reverse' as const), row: fc.nat({ max: 30 }) }),
      fc.record({ kind: fc.constant('expire' as const) }),
      fc.record({ kind: fc.constant('rule' as const), rule: rules }),
    ),
  ),
  { maxLength: 40 },
);

describe('any sequence of changes', () => {
  it('keeps lots that add up to the balance, and ledger entries that add up to the lots', () => {
    fc.assert(
      fc.property(steps, (sequence) => {
        let now = since;
        let program: Expiring = {};
        let version = 1;
        let member: Pick<MemberRow, '_id' | 'balance' | 'expiry'> = { _id: memberId, balance: 20 };
        const rows: Row[] = [];
        const write = (change: Pick<Changing, 'delta' | 'at'> & Partial<Changing>) => {
          version += 1;
          const current = member.balance + change.delta;
          const lots = lotsAfter(program, member, { ...change, current, version });
          member = { _id: memberId, balance: current, ...(lots && { expiry: rowOf(program, memberId, lots.lots) }) };
          rows.push({ delta: change.delta, createdAt: now, lots: lots?.changes ?? [] });
        };
        const perform = (step: Step) => {
          if (step.kind === 'rule') {
            const isNew = step.rule && Object.keys(step.rule)[0] !== Object.keys(program.expiry ?? {})[0];
            program = {
              expiry: step.rule,
              ...(step.rule && { expirySince: isNew ? now : (program.expirySince ?? now) }),
            };
          } else if (step.kind === 'change') {
            const at = new Date(now.getTime() - step.agoHours * 3_600_000);
            write({ delta: Math.max(step.delta, -member.balance), at });
          } else if (step.kind === 'reverse') {
            const row = rows[step.row];
            if (!row || row.reversed || member.balance < row.delta) return;
            row.reversed = true;
            write({ delta: -row.delta, at: now, reversed: row });
          } else if (program.expiry) {
            const after = removeExpired(lotsOf(program, member), now);
            const balance = sumOf(after.lots);
            rows.push({ delta: balance - member.balance, createdAt: now, lots: after.changes, reversed: true });
            member = { ...member, balance, expiry: rowOf(program, memberId, after.lots) };
          }
        };
        for (const [hours, step] of sequence) {
          now = new Date(now.getTime() + hours * 3_600_000);
          perform(step);
          if (program.expiry) expect(sumOf(lotsOf(program, member))).toBe(member.balance);
          const row = rows.at(-1);
          if (row && row.lots.length > 0) expect(row.lots.reduce((sum, { by }) => sum + by, 0)).toBe(row.delta);
        }
      }),
      { numRuns: 500 },
    );
  });

  const afterDays = (count: number) => ruled({ afterDays: count });
  const change = (delta: number, current: number, at: string): Changing => ({
    ...{ delta, current, version: 2, at: new Date(at) },
  });

  it('counts the balance from before the rule as one lot from that moment', () => {
    expect(lotsOf(afterDays(30), { balance: 70 })).toEqual([
      { id: 0, points: 70, left: 70, at: new Date('2026-02-10T00:00:00Z') },
    ]);
    const old = { since: new Date('2025-01-01'), lots: [{ id: 4, points: 70, left: 70, at: new Date('2025-06-01') }] };
    expect(lotsOf(afterDays(30), { balance: 70, expiry: old })).toMatchObject([{ id: 0, left: 70 }]);
    expect(lotsOf({}, { balance: 70, expiry: old })).toEqual([]);
  });

  it('returns points of a spending from before the rule to that lot', () => {
    const reversed = { createdAt: new Date('2026-01-01'), lots: [{ id: 9, points: 9, at: since, by: -9 }] };
    const after = lotsAfter(afterDays(30), { _id: memberId, balance: 1 }, { ...change(9, 10, '2026-03-01'), reversed });
    expect(after?.lots).toMatchObject([{ id: 0, left: 10, at: new Date('2026-02-10') }]);
  });

  it('extends the expiry of all points with each change when points expire by inactivity, and never shortens it', () => {
    const idle = ruled({ inactiveDays: 30 });
    const member = { _id: memberId, balance: 50 };
    const first = lotsAfter(idle, member, change(-10, 40, '2026-03-01T12:00:00Z'));
    expect(first?.lots).toEqual([{ id: 2, points: 40, left: 40, at: new Date('2026-04-01') }]);
    const expiry = rowOf(idle, memberId, first?.lots ?? []);
    const offline = lotsAfter(idle, { ...member, balance: 40, expiry }, change(5, 45, '2026-02-27T12:00:00Z'));
    expect(offline?.lots).toEqual([{ id: 2, points: 45, left: 45, at: new Date('2026-04-01') }]);
  });
});

describe('the next expiry', () => {
  const pairOf = (expiry: Expiring['expiry'], balance = 30) => {
    const file = { _id: 'p', slug: 'p', name: 'P', style: 'points', fields: { primaryLabel: 'POINTS' } };
    const program: Program = {
      ...programFile.parse({ ...file, expiry, timeZone: 'Europe/Berlin' }),
      ...{ merchantId: 'm', expirySince: since },
    };
    const pass = { token: 't', authenticationToken: 'a', tag: since, modifiedAt: since, messageSequence: 0 };
    const member = {
      ...{ _id: memberId, memberCode: '7K3M9PXQ2A', serialNumber: 's', field: 'points', balance, status: 'active' },
      ...{ lifetimePoints: balance, pass, version: 1 },
    } as unknown as MemberRow;
    return { member, program };
  };

  it('is on the back of the Apple pass, at Google and on the card, with the last day in the time zone', () => {
    const pair = pairOf({ afterDays: 30 });
    const lines = ['30 until 9 Feb 2026'];
    expect(cardState({ ...pair, words: wordsOf('en') }).expiring).toEqual(lines);
    const design = passDesign({ passTypeId: 'pass.x', teamId: 'T' }, pair.program, pair.program.passTemplate);
    const json = passJson(design, applePassView({ PUBLIC_URL: 'https://example.com' }, pair));
    const { storeCard } = shownBy(undefined, json);
    expect(storeCard).toMatchObject({
      backFields: expect.arrayContaining([{ key: 'expiring', label: 'Expiring', value: lines[0] }]),
    });
    const module = { id: 'expiring', header: 'Expiring', body: lines[0] };
    expect(loyaltyObjectOf('1', googlePassView(pair)).textModulesData).toMatchObject([module]);
    expect(loyaltyObjectPatchOf(googlePassView(pair)).textModulesData).toMatchObject([module]);
  });

  it('is not shown when nothing expires', () => {
    const draft = pairOf({ afterDays: 30 });
    delete draft.program.expirySince;
    for (const pair of [pairOf(undefined), pairOf({ afterDays: 30 }, 0), draft]) {
      expect(cardState({ ...pair, words: wordsOf('en') }).expiring).toEqual([]);
      expect(loyaltyObjectPatchOf(googlePassView(pair)).textModulesData).toBeNull();
    }
  });
});
