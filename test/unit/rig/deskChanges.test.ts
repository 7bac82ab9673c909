// The log of the live desk (test/rig/phones/changes.ts): each change of a card stands in it once.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Hop } from '../../../console/hops.js';
import { createChanges } from '../../rig/phones/changes.js';

const minute = 60_000;

function setUp() {
  let time = 1_700_000_000_000;
  const rows: { id: string; previous: number; current: number; createdAt: string }[] = [];
  let updatedAt = time;
  const hops: Omit<Hop, 'id'>[] = [];
  const give = () => {
    time += 1;
    updatedAt = time;
    const previous = rows.length;
    rows.unshift({
      id: `row-${previous}`,
      previous,
      current: previous + 1,
      createdAt: new Date(time).toISOString(),
    });
  };
  let changesPerRead: number[] = [];
  const changes = createChanges({
    now: () => time,
    append: (hop) => hops.push(hop),
    async read(_, path) {
      const answer =
        path === ''
          ? { updatedAt: new Date(updatedAt).toISOString(), program: { fields: { primaryLabel: 'STAMPS' } } }
          : { items: rows.slice(0, 10) };
      for (let left = changesPerRead.shift() ?? 0; left > 0; left -= 1) give();
      return answer;
    },
  });
  changes.added('ada');
  return {
    ...{ changes, give, hops },
    given: () => rows.length,
    pass: (ms: number) => {
      time += ms;
    },
    /** How many changes are stored after each of the next reads, and so before the one that follows it. */
    changeAfterReads: (counts: number[]) => {
      changesPerRead = counts;
    },
    details: (what: Hop['what']) => hops.filter((hop) => hop.what === what).map(({ detail }) => detail),
  };
}

const who = { memberId: 'ada', name: 'Ada' };

it('notes a change that is stored between the reads of a look, once', async () => {
  const { changes, give, changeAfterReads, details } = setUp();
  give();
  await changes.look(who);
  changeAfterReads([1, 0]);
  await changes.look(who, true);
  await changes.look(who, true);
  expect(details('changed')).toEqual(['STAMPS: 0 → 1', 'STAMPS: 1 → 2']);
  expect(details('touched')).toEqual([]);
});

it('notes every change once, whenever the pushes come', () =>
  fc.assert(
    fc.asyncProperty(fc.array(fc.array(fc.nat(2), { maxLength: 4 }), { maxLength: 12 }), async (looks) => {
      const { changes, given, changeAfterReads, details } = setUp();
      for (const counts of looks) {
        changeAfterReads(counts);
        await changes.look(who, true);
        await changes.look(who, true);
      }
      changeAfterReads([]);
      await changes.look(who, true);
      expect(details('changed')).toEqual(Array.from({ length: given() }, (_, i) => `STAMPS: ${i} → ${i + 1}`));
      expect(details('touched')).toEqual([]);
    }),
  ));

it('notes a push without a change a minute later as a touch', async () => {
  const { changes, give, hops, pass, details } = setUp();
  give();
  await changes.look(who, true);
  pass(1_000);
  await changes.look(who, true);
  expect(details('touched')).toEqual([]);
  pass(minute);
  await changes.look(who, true);
  expect(hops.map(({ what }) => what)).toEqual(['changed', 'touched']);
});

it('goes on after a read that failed', async () => {
  let fails = true;
  const { give, hops } = setUp();
  give();
  const changes = createChanges({
    append: (hop) => hops.push(hop),
    read: async (_, path) => {
      if (fails) throw new Error('no answer');
      const createdAt = new Date(Date.now() + 1_000).toISOString();
      return path === ''
        ? { updatedAt: createdAt, program: { fields: { primaryLabel: 'POINTS' } } }
        : { items: [{ id: 'row', previous: 3, current: 8, createdAt }] };
    },
  });
  changes.added('ada');
  await changes.look(who, true);
  fails = false;
  await changes.look(who, true);
  expect(hops.map(({ detail }) => detail)).toEqual(['POINTS: 3 → 8']);
});
