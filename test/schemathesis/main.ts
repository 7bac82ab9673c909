// `npm run schemathesis [-- --minutes N] [--seed N]`: runs schemathesis (PyPI) on the document of a separate stack. It
// fails when an answer is a 5xx or does not match the document, and when an operation was never processed.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endpoints } from '../../schemas/tables/endpoints.js';
import { readOptions } from '../../stack/readOptions.js';
import type { StackFile } from '../../stack/stackFile.js';
import { couldNotRun } from '../long/parts.js';
import { fromPypi } from '../rig/start/fromPypi.js';
import { newStackDir, startStack } from '../rig/start/runningStack.js';
import { type Counts, countsOf } from './counts.js';
import { bindings, type Dictionaries, seed } from './seed.js';

const checks = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
];

interface Config {
  demo: StackFile['demo'];
  dictionaries: Dictionaries;
}

/** A JSON string is also a valid TOML string. */
const quoted = (value: unknown): string => JSON.stringify(value);

function configOf({ demo, dictionaries }: Config): string {
  return [
    // Not an API key: schemathesis would find it in the list of keys and revoke it.
    '[auth.openapi.consoleToken]',
    `bearer = ${quoted(demo.consoleToken)}`,
    ...Object.entries(dictionaries).flatMap(([name, values]) => [
      `[dictionaries.${name}]`,
      `values = ${quoted(values)}`,
    ]),
    ...bindings.flatMap(([path, parameters]) => [
      '[[operations]]',
      `include-path-regex = ${quoted(path)}`,
      '[operations.parameters]',
      ...Object.entries(parameters).map(
        ([name, from]) => `${quoted(name)} = { dictionary = ${quoted(from)}, probability = 0.9 }`,
      ),
    ]),
  ].join('\n');
}

const operations = Object.values(endpoints).map(
  ({ method, path }) => `${method.toUpperCase()} ${path.replace(/:(\w+)/g, '{$1}')}`,
);

function print(counts: Counts[]): void {
  for (const { operation, statuses } of counts) {
    const shown = [...statuses].sort(([a], [b]) => a - b).map(([status, times]) => `${status}: ${times}`);
    console.log(`${operation.padEnd(62)} ${shown.join('  ')}`);
  }
}

const usage = `Usage: npm run schemathesis -- [--minutes N] [--seed N]

  --minutes  how long it takes (5)
  --seed     of the generated requests (1)`;

const { values } = readOptions(usage, {
  options: { minutes: { type: 'string', default: '5' }, seed: { type: 'string', default: '1' } },
});
const { bin, reason } = await fromPypi('schemathesis', '4.32.5');
if (reason !== undefined) {
  console.log(`schemathesis could not be installed: ${reason}`);
  process.exit(couldNotRun);
}
const unlimited = '1000000000';

interface Ran {
  /** No answer was wrong. */
  passed: boolean;
  counts: Counts[];
}

/** Runs schemathesis with these options on a stack that has only the seed. */
async function onNewStack(given: readonly string[]): Promise<Ran> {
  const { stackDir, remove } = newStackDir();
  const folder = mkdtempSync(join(tmpdir(), 'schemathesis-'));
  const stack = await startStack(stackDir, {
    RATE_LIMIT_AUTHENTICATED: unlimited,
    RATE_LIMIT_PUBLIC: unlimited,
    WALLET_CALLS_PER_ADDRESS: unlimited,
  });
  try {
    const { baseUrl, demo } = stack.file();
    const config = join(folder, 'schemathesis.toml');
    writeFileSync(config, configOf({ demo, dictionaries: await seed(stack.file()) }));
    const report = join(folder, 'events.ndjson');
    const options = [
      ...['--config-file', config, 'run', `${baseUrl}/openapi.json`, ...given],
      ...['--checks', checks.join(','), '--seed', values.seed, '--request-timeout', '70'],
      ...['--continue-on-failure', '--report', 'ndjson', '--report-ndjson-path', report],
    ];
    // schemathesis leaves a cache in its working directory.
    const [code] = await once(spawn(join(bin, 'schemathesis'), options, { stdio: 'inherit', cwd: folder }), 'close');
    return { passed: code === 0, counts: countsOf(readFileSync(report, 'utf8'), operations) };
  } finally {
    await stack.stop();
    remove();
    rmSync(folder, { recursive: true });
  }
}

const processed = ({ counts }: Ran): string[] =>
  counts
    .filter(({ statuses }) => [...statuses.keys()].some((status) => status < 300))
    .map(({ operation }) => operation);

const missedBy = (ran: readonly Ran[]): string[] => {
  const reached = new Set(ran.flatMap(processed));
  return operations.filter((operation) => !reached.has(operation));
};

const whole = await onNewStack(['--max-time', String(Number(values.minutes) * 60)]);
// Chance may miss an operation that is processed only where many values fit. It gets a second run, of fitting requests.
const missed = missedBy([whole]);
const fitting = ['--phases', 'fuzzing', '--mode', 'positive', '--max-examples', '300'];
const names = missed.flatMap((operation) => ['--include-name', operation]);
const all = missed.length > 0 ? [whole, await onNewStack([...fitting, ...names])] : [whole];
const never = missedBy(all);
const passed = all.every((ran) => ran.passed) && never.length === 0;
// The failures that schemathesis has printed stay the last lines.
if (passed) print(all.flatMap(({ counts }) => counts.filter(({ statuses }) => statuses.size > 0)));
if (missed.length > 0) console.log(`in a second run: ${missed.join(', ')}`);
if (never.length > 0) console.log(`never processed: ${never.join(', ')}`);
process.exitCode = passed ? 0 : 1;
