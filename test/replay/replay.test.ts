// Recorded histories of every workflow type replay with the current code, so running executions continue after a
// deployment. A deliberately changed history does not replay, which proves that the test detects differences
// (docs/changing-workflows.md).
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type History, historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { DeterminismViolationError } from '@temporalio/workflow';
import { describe, expect, inject, it } from 'vitest';
import { replayed } from '../rig/checks/replayed.js';
import { installRuntime } from '../rig/start/temporalRuntime.js';
import { scenarios } from './scenarios.js';

installRuntime();

const folder = fileURLToPath(new URL('histories/', import.meta.url));
const recorded = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.json'))
  .map((file) => file.replaceAll('\\', '/'))
  .sort();

const textOf = (file: string): string => readFileSync(`${folder}/${file}`, 'utf8');

/** The replay error of each history, in the same order; null where it replays. */
async function replay(histories: { workflowId: string; history: History }[]): Promise<(Error | null)[]> {
  const options = { workflowBundle: { codePath: inject('workflowBundle') } };
  const errors = new Map<string, Error | null>();
  for await (const { workflowId, error } of replayed(options, histories)) errors.set(workflowId, error ?? null);
  return histories.map(({ workflowId }) => errors.get(workflowId) ?? null);
}

const read = (file: string, text = textOf(file)) => ({
  workflowId: file,
  history: historyFromJSON(JSON.parse(text)),
});

describe('the recorded histories', () => {
  it('replay with the current workflow code', async () => {
    const errors = await replay(recorded.map((file) => read(file)));
    const broken = recorded.flatMap((file, index) => (errors[index] ? [`${file}: ${errors[index]?.message}`] : []));
    expect(broken).toEqual([]);
  });

  it('exist for every scenario of every workflow type', () => {
    const wanted = Object.entries(scenarios).flatMap(([name, cases]) =>
      Object.keys(cases).map((scenario) => `${name}/${scenario}.json`),
    );
    expect(recorded).toEqual(expect.arrayContaining(wanted));
  });

  it.each(recorded)('%s contains no machine name', (file) => {
    const text = textOf(file);
    expect(text).not.toMatch(/"(identity|stackTrace)": "[^"]/);
    expect(text).not.toMatch(/node_modules|file:\/\/|\/(home|root|tmp|work|Users)\//);
  });
});

it('a replay leaves nothing in this process that looks at its promises', async () => {
  let asked = 0;
  class Watched extends Promise<void> {}
  const get = () => {
    asked += 1;
    return Promise;
  };
  Object.defineProperty(Watched.prototype, 'constructor', { get });
  await replay([read('publishChange/quiet.json')]);
  void new Watched((resolve) => resolve());
  expect(asked).toBe(0);
});

describe('a history that was changed', () => {
  it.each([
    ['another activity', 'publishChange/quiet.json', '"publishEvents"', '"postWebhook"'],
    ['another workflow', 'publishChange/quiet.json', '"name": "publishChange"', '"name": "repushPasses"'],
    ['another local activity', 'issuePasses/issued.json', 'issueGooglePasses', 'pushPasses'],
    ['another step after a wait', 'deliverWebhook/delivered.json', '"postWebhook"', '"recountMerchants"'],
  ])('to %s does not replay', async (_what, file, was, is) => {
    const text = textOf(file);
    const changed = was.startsWith('"') ? text.replaceAll(was, is) : replaceEncoded(text, was, is);
    expect(changed).not.toBe(text);
    const [error] = await replay([read(file, changed)]);
    expect(error).toBeInstanceOf(DeterminismViolationError);
  });
});

/** Replaces text inside payloads, which are base64 of JSON. */
function replaceEncoded(text: string, was: string, is: string): string {
  return text.replace(/"data": "([A-Za-z0-9+/=]+)"/g, (whole, data: string) => {
    const decoded = Buffer.from(data, 'base64').toString('utf8');
    return decoded.includes(was) ? `"data": "${Buffer.from(decoded.replaceAll(was, is)).toString('base64')}"` : whole;
  });
}
