// An import from the upload to the answer with all outcomes, compared with a bare bulk insert of the same documents.
import { setTimeout as sleep } from 'node:timers/promises';
import { FormData } from 'undici';
import { isFinished } from '../../schemas/batches/batches.schema.js';
import type { Bench } from './bench.js';
import { aMerchant, aNewMember, type BenchMerchant } from './merchant.js';
import { added, cpuMeter, memoryOf, perThousand } from './processes.js';
import { type PerProcess, type Row, ratiosOf, round } from './row.js';

const insertedTogether = 500;

export interface ImportSides {
  /** Seconds from the request to its answer. Resolves when the import's later work is done too. */
  ours: (rows: number) => Promise<number>;
  /** Seconds. */
  yardstick: (rows: number) => Promise<number>;
  close: () => Promise<void>;
}

/** Imports to this merchant, which stays open, or to a new one. */
export async function importSides(bench: Bench, known?: BenchMerchant): Promise<ImportSides> {
  const [merchant, bareMerchant] = await Promise.all([known ?? aMerchant(bench), aMerchant(bench)]);
  let next = 0;
  return {
    async ours(rows) {
      const lines = Array.from({ length: rows }, () => {
        next += 1;
        return `Ada,Lovelace${next % 997},member-${next}@import.example`;
      });
      const form = new FormData();
      form.set('programId', merchant.program._id);
      const csv = ['firstName,lastName,email', ...lines].join('\n');
      form.set('file', new Blob([csv], { type: 'text/csv' }), 'members.csv');
      const startedAt = performance.now();
      const answer = await merchant.call({ method: 'POST', path: '/merchants/me/members/import', body: form });
      const seconds = (performance.now() - startedAt) / 1_000;
      const { created } = JSON.parse(answer).data.counts;
      if (created !== rows) throw new Error(`${created} of ${rows} members were created.`);
      await importsFinished(bench, merchant);
      return seconds;
    },
    async yardstick(rows) {
      const made = Array.from({ length: rows }, () => {
        next += 1;
        return aNewMember(bench.deps, bareMerchant.program, next);
      });
      const { members, emails, memberSearchWords } = bench.deps.collections;
      const startedAt = performance.now();
      for (let at = 0; at < rows; at += insertedTogether) {
        const some = made.slice(at, at + insertedTogether);
        await Promise.all([
          members.insertMany(
            some.map(({ member }) => member),
            { ordered: false },
          ),
          emails.insertMany(
            some.flatMap(({ email }) => email ?? []),
            { ordered: false },
          ),
          memberSearchWords.insertMany(
            some.flatMap(({ searchWordRows }) => searchWordRows),
            { ordered: false },
          ),
        ]);
      }
      return (performance.now() - startedAt) / 1_000;
    },
    close: async () => void (await Promise.all([known ? undefined : merchant.close(), bareMerchant.close()])),
  };
}

/** Resolves when all imports of the merchant have ended. */
export async function importsFinished({ deps }: Bench, { id: merchantId }: BenchMerchant): Promise<void> {
  const deadline = performance.now() + 300_000;
  for (;;) {
    const batches = await deps.collections.batches.find({ merchantId }, { projection: { phase: 1 } }).toArray();
    if (batches.every(({ phase }) => isFinished(phase))) return;
    if (performance.now() > deadline) throw new Error('An import did not come to its end.');
    await sleep(100);
  }
}

export interface ImportSize {
  rows: number;
  rounds: number;
}

export async function benchImport(bench: Bench, { rows, rounds }: ImportSize): Promise<Row[]> {
  const sides = await importSides(bench);
  await sides.ours(500);
  await sides.yardstick(500);
  let cpu: PerProcess = {};
  const [mine, theirs]: [number[], number[]] = [[], []];
  for (let index = 0; index < rounds; index += 1) {
    const used = cpuMeter(bench.pids);
    mine.push(await sides.ours(rows));
    cpu = added(cpu, used());
    theirs.push(await sides.yardstick(rows));
  }
  await sides.close();
  const [ours, yardstick] = [Math.min(...mine), Math.min(...theirs)];
  const ratio = yardstick / ours;
  const ratios = ratiosOf(mine.map((seconds, index) => (theirs[index] ?? 0) / seconds));
  return [
    {
      scenario: `import of ${rows.toLocaleString('en')} rows to the answer; bare bulk insert of the same documents`,
      ours: round(ours),
      yardstick: round(yardstick),
      ratio: round(ratio),
      ...(ratios && { ratios }),
      unit: 's',
      goal: '>= 0.2',
      reached: ratio >= 0.2,
      cpu: perThousand(cpu, rows * rounds),
      memory: memoryOf(bench.pids),
    },
  ];
}
