// How an operator's command finds the running stack: stack.json, or addresses in the environment.
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { connectStack } from '../../../stack/connect.js';
import { ExpectedFailure } from '../../../stack/expectedFailure.js';
import { readStackFile, type StackFile, stackFilePath, writeStackFile } from '../../../stack/stackFile.js';

let stackDir: string;

beforeEach(() => {
  stackDir = mkdtempSync(join(tmpdir(), 'loyalty-pass-connect-'));
});
afterEach(() => rmSync(stackDir, { recursive: true, force: true }));

function aStack(supervisor: number): StackFile {
  return {
    baseUrl: 'http://127.0.0.1:3000/api/v1',
    publicUrl: 'http://127.0.0.1:3000',
    metricsUrl: 'http://127.0.0.1:9464/metrics',
    temporalUi: null,
    temporalAddress: '127.0.0.1:7233',
    temporalNamespace: 'default',
    mongodbUri: 'mongodb://127.0.0.1:27017',
    redisUrl: null,
    pids: { supervisor },
    demo: { merchantId: 'm', apiKey: 'k', consoleToken: 't', programs: { points: 'p', stamps: 's', tiered: 't' } },
  };
}

test('the content of stack.json is read as it was written, and only its owner may read it', () => {
  writeStackFile(stackDir, aStack(1));
  expect(readStackFile(stackDir)).toEqual(aStack(1));
  expect(statSync(stackFilePath(stackDir)).mode & 0o777).toBe(0o600);
});

test('a command finds the running stack by its folder', () => {
  writeStackFile(stackDir, aStack(process.pid));
  expect(connectStack({ STACK_DIR: stackDir })).toMatchObject({
    mongodbUri: 'mongodb://127.0.0.1:27017',
    temporalAddress: '127.0.0.1:7233',
    baseUrl: 'http://127.0.0.1:3000/api/v1',
  });
});

test('addresses in the environment override the running stack', () => {
  writeStackFile(stackDir, aStack(process.pid));
  const env = { STACK_DIR: stackDir, MONGODB_URI: 'mongodb://elsewhere' };
  expect(connectStack(env)).toMatchObject({ mongodbUri: 'mongodb://elsewhere', temporalAddress: '127.0.0.1:7233' });
});

test('both addresses in the environment need no stack', () => {
  const env = { STACK_DIR: stackDir, MONGODB_URI: 'mongodb://elsewhere', TEMPORAL_ADDRESS: 'elsewhere:7233' };
  expect(connectStack(env)).toEqual({ mongodbUri: 'mongodb://elsewhere', temporalAddress: 'elsewhere:7233' });
});

test('without a stack and without addresses the command explains what to do', () => {
  expect(() => connectStack({ STACK_DIR: stackDir })).toThrow(ExpectedFailure);
  expect(() => connectStack({ STACK_DIR: stackDir })).toThrow(/npm start.*MONGODB_URI and TEMPORAL_ADDRESS/);
});

test('a stack.json whose supervisor was killed is ignored', () => {
  writeStackFile(stackDir, aStack(4_194_305));
  expect(() => connectStack({ STACK_DIR: stackDir })).toThrow(/was killed/);
});
