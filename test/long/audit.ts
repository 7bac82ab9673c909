// Asks npm's source of advisories about every package that the image contains. Fails from severity high on.
import { spawnSync } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { couldNotRun } from './parts.js';

const report = z.object({
  vulnerabilities: z.record(
    z.string(),
    z.object({ severity: z.string(), range: z.string(), fixAvailable: z.unknown() }),
  ),
  metadata: z.object({ dependencies: z.object({ prod: z.number() }) }),
});

const refused = new Set(['high', 'critical']);

/** What `npm audit --json` printed, as lines for a reader and the exit code of this part. */
export function judge(printed: string): { lines: string[]; code: number } {
  let parsed: ReturnType<typeof report.safeParse>;
  try {
    parsed = report.safeParse(JSON.parse(printed));
  } catch {
    return { lines: ['npm audit printed no report.'], code: couldNotRun };
  }
  if (!parsed.success) {
    const { message = 'no reason' } = z.object({ message: z.string().optional() }).catch({}).parse(JSON.parse(printed));
    return { lines: [`The source of known vulnerabilities did not answer: ${message}`], code: couldNotRun };
  }
  const { vulnerabilities, metadata } = parsed.data;
  const found = Object.entries(vulnerabilities).map(
    ([name, { severity, range, fixAvailable }]) =>
      `${severity}: ${name} ${range}${fixAvailable ? ', a fix is available' : ''}`,
  );
  const bad = Object.values(vulnerabilities).filter(({ severity }) => refused.has(severity)).length;
  const asked = `${metadata.dependencies.prod} packages, ${found.length} with known vulnerabilities, ${bad} of them high or critical`;
  return { lines: [...found, asked], code: bad > 0 ? 1 : 0 };
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { stdout } = spawnSync('npm', ['audit', '--omit=dev', '--package-lock-only', '--json'], { encoding: 'utf8' });
  const { lines, code } = judge(stdout);
  for (const line of lines) console.log(line);
  process.exit(code);
}
