// The clock that processes share (platform/mongodb/databaseClock.ts).
import { EventEmitter } from 'node:events';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { databaseClock } from '../../../platform/mongodb/databaseClock.js';

const at = Date.UTC(2026, 0, 5);

/** A process whose clock is `skewMs` ahead of the database's. */
function aProcess(skewMs: number) {
  const mongo = new EventEmitter();
  let databaseMs = at;
  const now = databaseClock(mongo as never, () => databaseMs + skewMs);
  return {
    /** The server reads its clock after a part of the duration. */
    heartbeat(duration: number, part: number, reply: object = { isWritablePrimary: true }) {
      const localTime = new Date(databaseMs + Math.floor(duration * part));
      databaseMs += duration;
      mongo.emit('serverHeartbeatSucceeded', { duration, reply: { localTime, ...reply } });
    },
    wrongMs: () => now().getTime() - databaseMs,
    skew: (ms: number) => {
      skewMs = ms;
    },
  };
}

const skew = fc.integer({ min: -3_600_000, max: 3_600_000 });
const beat = fc.tuple(fc.integer({ min: 0, max: 2_000 }), fc.double({ min: 0, max: 1, noNaN: true }));

it('is as far from the database as its quickest heartbeat lasted, at most', () => {
  fc.assert(
    fc.property(skew, fc.array(beat, { minLength: 1, maxLength: 20 }), (skewMs, beats) => {
      const one = aProcess(skewMs);
      for (const [duration, part] of beats) one.heartbeat(duration, part);
      expect(Math.abs(one.wrongMs())).toBeLessThanOrEqual(Math.min(...beats.map(([duration]) => duration)) + 1);
    }),
  );
});

it('follows a clock that is set anew', () => {
  fc.assert(
    fc.property(skew, skew, beat, (before, after, [duration, part]) => {
      const one = aProcess(before);
      one.heartbeat(duration, part);
      one.skew(after);
      one.heartbeat(3, part);
      expect(Math.abs(one.wrongMs())).toBeLessThanOrEqual(4);
    }),
  );
});

it('does not move with slow answers of a database whose clock it shares', () => {
  fc.assert(
    fc.property(fc.array(beat), (beats) => {
      const one = aProcess(0);
      for (const [duration, part] of beats) {
        one.heartbeat(duration, part);
        expect(one.wrongMs()).toBe(0);
      }
    }),
  );
});

it('does not follow a secondary, or a server that tells no time', () => {
  const one = aProcess(5_000);
  one.heartbeat(1, 0, { isWritablePrimary: false });
  one.heartbeat(1, 0, { isWritablePrimary: true, localTime: undefined });
  expect(one.wrongMs()).toBe(5_000);
});
