// `npm run crash -- --seed N --minutes M`: a long crash run. Prints a table at its end. The exit code is 0 only when
// nothing was lost or doubled and no other rule was broken.
import { randomInt } from 'node:crypto';
import { readOptions } from '../../stack/readOptions.js';
import { runCrashes, tableOf } from './rig/crashRun.js';

const usage = `Usage: npm run crash -- [--seed N] [--minutes N] [--every MS] [--operations N] [--rate N]

  --seed        makes the run repeatable
  --minutes     how long it takes (10)
  --every       milliseconds between two crashes (3000)
  --operations  ends after so many operations
  --rate        operations per second (25)`;

const { values } = readOptions(usage, {
  options: {
    seed: { type: 'string' },
    minutes: { type: 'string', default: '10' },
    every: { type: 'string', default: '3000' },
    operations: { type: 'string' },
    rate: { type: 'string', default: '25' },
  },
});
const seed = Number(values.seed ?? randomInt(1_000_000));

console.log(`Seed ${seed}, ${values.minutes} minutes. Two APIs, two workers, a MongoDB and a Temporal of their own.`);
const verdict = await runCrashes({
  seed,
  minutes: Number(values.minutes),
  everyMs: Number(values.every),
  perSecond: Number(values.rate),
  // Each delivery that a unreliable receiver refused during the load is a workflow; finishing these takes about as long
  // as the load.
  drainWithinMs: 120_000 + Number(values.minutes) * 60_000,
  ...(values.operations !== undefined && { operations: Number(values.operations) }),
  say: (line) => console.log(`  ${line}`),
});
console.log(`\nSeed ${seed}:\n${tableOf(verdict)}`);
for (const { kind, rule, detail } of verdict.findings.slice(0, 50)) console.log(`  ${kind}: ${rule}: ${detail}`);
const failed = verdict.findings.length > 0 || verdict.drainMs === null;
if (failed) console.log(`\nRun it again with --seed ${seed}.`);
process.exit(failed ? 1 : 0);
